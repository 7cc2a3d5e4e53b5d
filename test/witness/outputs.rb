require_relative 'site'

def output(answer)
  answer['outputs'].find { |o| o['class'] == 'Fluent::Plugin::TellerOutput' }
end

def kinds(answer)
  answer['messages'].map { |h| h.values_at('level', 'text', 'n') }.sort_by(&:inspect)
end

on_oldest_and_newest 'an output tells what it has staged, queued and taken out, by the ids of its chunks, and that it retries' do |s|
  File.write("#{s.dir}/block", '')
  s.append(s.lines(1..3))
  s.run(s.tail + s.out)
  s.till('taken out') { File.exist?("#{s.dir}/block.waits") }
  found = s.seen('one') { |a| output(a)['n'] == 1 }
  expect('no retry yet', output(found)['retry'], false)
  expect('bytes', output(found)['bytes'], 1..1000)
  first = output(found)['chunks'][0]
  s.append(s.lines(4..5))
  found = s.seen('another one') { |a| output(a)['chunks'].size == 2 }
  expect('the first is still there', output(found)['chunks'].include?(first))
  File.write("#{s.dir}/fail", '')
  File.delete("#{s.dir}/block")
  found = s.seen('a retry') { |a| output(a)['retry'] }
  expect('the chunk was taken back', output(found)['chunks'].include?(first))
  File.delete("#{s.dir}/fail")
  found = s.seen('empty') { |a| output(a)['chunks'].empty? && !output(a)['retry'] }
  expect('nothing is left', output(found).values_at('n', 'bytes'), [0, 0])
  expect('all was delivered', s.delivered, (1..5).map { |n| "line #{n}" })
end

on_oldest_and_newest 'a message inside a flush attempt counts only if Fluentd does not take the chunk back' do |s|
  File.write("#{s.dir}/fail", '')
  s.append("warn of 12 things at /some/path: \"a line\"\n")
  s.run(s.tail + s.out)
  s.seen('a retry, of which nothing counts') { |a| output(a)['retry'] && a['messages'].empty? }
  File.delete("#{s.dir}/fail")
  s.till('the end') { s.delivered.any? }
  found = s.seen('no retry') { |a| output(a)['chunks'].empty? }['messages'].find { |h| h['text'].start_with?('of #') }
  expect('what was said', found, { 'level' => 'warn', 'file' => 'fluent/plugin/out_teller.rb', 'error' => nil, 'n' => 1,
                                   'text' => 'of # things at … "…"' })
  s.stop
  expect('the last report has the same', s.last['messages'].include?(found))
end

it "an error event of Fluentd's own log does not count, and one with a tag that looks like it is" do |s|
  s.append("line\n")
  tags = %w[fluent.info fluentd.info]
  label = tags.map { |t| "<filter #{t}>\n @type record_transformer\n enable_ruby true\n <record>\n a ${raise 'no'}\n </record>\n</filter>\n" }
  s.run(s.tail.sub('tag t', 'tag fluentd.info') + label.join + s.out(match: '**'))
  found = s.seen('said') { |a| a['messages'].any? && s.said =~ /tag="fluent.info"/ }['messages']
  expect('once', found.sum { |h| h['n'] }, s.said.scan(/error event.*tag="fluentd.info"/).size)
end

it 'what is logged is told whatever log level shows, in whatever form, and none of it holds a line of the log' do |s|
  s.append("hash\nexception\nwarn geheim\n")
  s.run(s.tail("@log_level fatal") + s.out('flush_interval 0.2s', '@log_level fatal') +
        "<system>\n log_level fatal\n</system>\n")
  s.append("lost secret\n", 'b.log')
  found = s.seen('said') { |a| a['messages'].size >= 3 }
  expect('what was said', kinds(found),
         [['error', 'ArgumentError: of no "…" use', 1], ['warn', '', 1], ['warn', 'geheim', 1]])
  expect('no text of settings', JSON.generate(found['outputs']).include?('geheim'), false)
end

it 'of messages of more kinds than it counts it tells how many it forgot' do |s|
  s.append(('aa'..'zz').map { |word| "warn #{word}\n" }.join)
  s.run(s.tail + s.out)
  found = s.seen('all') { |a| s.delivered.size == 676 && output(a)['n'] == 0 }
  expect('told and forgotten', [found['messages'].size, found['more']], [500, 176])
end

on_oldest_and_newest 'records that no output takes are counted, and a line that a parser refuses is told without its text' do |s|
  s.append("no number\n")
  s.run(s.tail('', parse: "@type regexp\n expression /^(?<n>\\d+)$/") + s.out(match: 'other') +
        "<source>\n @type sample\n @id s\n tag lost.7\n size 1\n rate 1\n</source>\n")
  from = s.at_least('1.20') ? 'fluent/plugin/in_tail/line_feeder.rb' : 'fluent/plugin/in_tail.rb'
  found = s.seen('both') { |a| a['unrouted'] > 1 && a['messages'].any? { |h| h['file'] == from } }
  expect('its text', found['messages'].select { |h| h['file'] == from }.map { |h| h['text'] }, ['pattern not matched: "…"'])
  expect('how in_tail is set', found['plugins'][0]['settings']['emit_unmatched_lines'], false)
end

it 'records that fit no rule of rewrite_tag_filter are counted, also of an older one, but by record none' do |s|
  s.append("take 1\nleave\ntake 2\n")
  modes = { 'new' => '', 'old' => 'flat true', 'by_record' => 'emit_mode record' }
  rules = modes.map { |tag, mode| "<store ignore_error>\n @type rewrite_tag_filter\n pattern /take/\n new_tag t.#{tag}\n #{mode}\n</store>\n" }
  s.run(s.tail.sub('tag t', 'tag raw') + "<match raw>\n @type copy\n #{rules.join}</match>\n" + s.out)
  s.till('delivered') { s.delivered.tally == { 'take 1' => 3, 'take 2' => 3 } }
  s.append("take 3\n")
  s.till('delivered') { s.delivered.size == 9 }
  expect('one of each that emits at once', s.look.values_at('unrouted', 'error'), [2, nil])
  told = s.look['outputs'].select { |o| o['class'] == 'Fluent::Plugin::RewriteTagFilterOutput' }
  expect('how they emit', told.map { |o| o['settings']['emit_mode'] }.tally, { 'batch' => 2, 'record' => 1 })
  s.append("fail\n")
  found = s.seen('errors') { |a| a['messages'].sum { |h| h['n'] } >= 3 }
  expect('no other', found['unrouted'], 2)
end

it 'an emit inside a flush attempt is counted, any other is not' do |s|
  s.append("plain\n")
  s.run(s.tail + s.out)
  s.till('delivered') { s.delivered == ['plain'] }
  expect('none', s.look['again'], 0)
  s.append("again\n")
  s.till('delivered twice') { s.delivered == ['plain', 'again', 'once more'] }
  expect('one', s.look['again'], 1)
end

it 'filters, and outputs that have no buffer by their kind, are told with their settings, and with what they keep' do |s|
  s.append("keep 1\nkeep 2\ngo\n")
  pass = "<match t>\n @type copy\n <store>\n @type pass\n default_route @X\n </store>\n</match>\n"
  s.run("#{s.tail}<filter t>\n @type keep\n @id keeper\n</filter>\n#{pass}<label @X>\n#{s.out("flush_interval 0.2s\n flush_thread_count 3")}</label>\n")
  s.till('delivered') { s.delivered == ['go'] }
  found = s.look
  expect('kept', found['kept'], [{ 'class' => 'Fluent::Plugin::KeepFilter', 'n' => 2, 'emits' => nil }])
  expect('plugins', found['plugins'].drop(1).map { |p| p.values_at('class', 'settings') }.sort_by(&:first),
         [['Fluent::Plugin::CopyOutput', {}], ['Fluent::Plugin::KeepFilter', { 'reserve_data' => true }],
          ['Fluent::Plugin::PassOutput', { 'default_route' => '@X' }]])
  expect('outputs', output(found)['settings'], { 'require_ack_response' => false, 'writers' => 3 })
end

on_oldest_and_newest 'a line that a parser turns into an empty record is counted' do |s|
  s.append("m:1\n\nTraceback\nm:2\n")
  s.run(s.tail('', parse: '@type ltsv') + s.out)
  found = s.seen('parsed') { |a| a['unparsed'] > 0 }
  expect('without a word', found.values_at('unparsed', 'messages'), [1, []])
end

it 'a value that the filter parser drops in silence is counted beside one that becomes several records' do |s|
  filter = "<filter t>\n @type parser\n key_name message\n emit_invalid_record_to_error false\n" \
    "<parse>\n @type json\n</parse>\n</filter>\n"
  s.append(%([{"message":"1"},{"message":"2"},3,{"message":"4"}]\nno JSON\n[]\n[{"message":"5"},{"message":"6"}]\n))
  s.run(s.tail + filter + s.out)
  s.till('parsed') { s.delivered == %w[1 2 4 5 6] }
  expect('one of a list, one line and an empty list', s.look.values_at('unparsed', 'messages'), [3, []])
end

on_oldest_and_newest 'a value that the filter parser hands to <label @ERROR> is not counted as lost' do |s|
  filter = "<filter t>\n @type parser\n key_name message\n <parse>\n @type json\n </parse>\n</filter>\n"
  error = "<label @ERROR>\n#{filter.sub('t>', '**>').sub('json', 'none')}#{s.out(match: '**')}</label>\n"
  empty = s.at_least('1.15') ? "[]\n" : '' # an older one makes a record of it that no output takes
  s.append(%({"message":"1"}\nno JSON\n#{empty}neither\n))
  s.run(s.tail + filter + s.out + error)
  s.till('delivered') { s.delivered.sort == ['1', 'neither', 'no JSON'] }
  found = s.look
  expect('the empty list', found['unparsed'], empty.lines.size)
  expect('said', found['messages'].sum { |h| h['n'] }, 2)
end

it 'copies of plugins in a directory of the user are traced like the originals' do |s|
  gem = Dir["#{ENV['FLUENTD_GEMS']}/gems/fluentd-#{s.version}"][0]
  %w[in_tail filter_parser].each { |name| FileUtils.cp("#{gem}/lib/fluent/plugin/#{name}.rb", s.make('plugins')) }
  filter = "<filter t>\n @type parser\n key_name message\n emit_invalid_record_to_error false\n <parse>\n @type json\n </parse>\n</filter>\n"
  s.append(%({"message":"1"}\nno JSON\n))
  s.run(s.tail + filter + s.out, args: ['-p', "#{s.dir}/plugins"])
  found = s.seen('dropped') { |a| a['unparsed'] > 0 }
  expect('counted', found.values_at('error', 'unparsed'), [nil, 1])
end

it 'a method that another file defines anew is not traced, which is told; one that is prepended calls it' do |s|
  patch = "require 'fluent/log'; require 'fluent/plugin/buffer'\n"
  File.write("#{s.dir}/prepend.rb", patch + 'Fluent::Log.prepend(Module.new { def warn(*args, &block); super; end })')
  File.write("#{s.dir}/anew.rb", patch + 'class Fluent::Plugin::Buffer; def clear_queue!; end; end')
  s.run(s.tail + s.out, args: ['-r', "#{s.dir}/prepend.rb"])
  expect('prepended', s.ask['error'], nil)
  s.stop
  s.start(s.tail + s.out, args: ['-r', "#{s.dir}/anew.rb"])
  s.till('told') { s.ask['error'] == 'not traced: clears' rescue false }
end

it 'what it counts stays as it was: a Hash with a default, an error whose text raises' do |s|
  File.write("#{s.dir}/own.rb", <<~RUBY)
    class Nasty < StandardError
      def message; raise NotImplementedError, 'no'; end
    end
    Thread.new do
      sleep 0.05 until defined?(Fluent::Engine) && $log && Fluent::Engine.root_agent rescue retry
      $log.warn 'counts', (made = Hash.new { |h, k| h[k] = k == :error ? raise(NotImplementedError) : 1 })
      $log.warn 'it failed:', error: Nasty.new('why')
      File.write('#{s.dir}/made', made.keys.inspect)
    end
  RUBY
  s.run(s.tail + s.out, args: ['-r', "#{s.dir}/own.rb"])
  s.till('it goes on') { File.exist?("#{s.dir}/made") }
  expect('no key more', File.read("#{s.dir}/made"), '[]')
  expect('messages', s.look['messages'].map { |h| h['text'] }.sort, ['counts', 'it failed: why'])
end

it 'beside a Ractor, which hides objects, it tells what it still finds, and that this is not all' do |s|
  File.write("#{s.dir}/ractor.rb", 'Ractor.new { 1 } unless $ractor; $ractor = true')
  File.write("#{s.dir}/fail", '')
  s.append(s.lines(1..3))
  s.start(s.tail + s.out, args: ['-r', "#{s.dir}/ractor.rb"])
  s.till('held', within: 120) { (o = output(s.ask)) && o['n'] == 1 rescue false }
  expect('the error', s.ask['error'], /a Ractor/)
  expect('the file', s.ask['files'].map { |f| f['pos'] }, [21])
end

it 'more than two thousand chunks that a worker takes over are told by their ids' do |s|
  ids = (1..2010).map { |n| format('%032x', n) }
  event = "\x92\xce\x6a\x00\x00\x00\x81\xa7message\xa3one".b # MessagePack: [time, {"message" => "one"}]
  ids.each { |id| File.binwrite("#{s.make('buffer')}/buffer.q#{id}.log", event) }
  File.write("#{s.dir}/block", '')
  s.run(s.tail + s.out('flush_interval 300s', type: 'file'))
  expect('resumed', (s.look['resumed'] & ids).size, 2010)
  expect('nothing is forgotten', s.look['more'], 0)
end
