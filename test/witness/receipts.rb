require_relative 'site'

WAYS = %w[delivered secondary aside exhausted overflown unrecoverable held].freeze
def receipt(answer, name = 'Teller', list = 'outputs')
  answer[list].map { |o| o['receipt'] if o['class'].end_with?("#{name}Output") }.compact.last
end

def missing(receipt)
  receipt.values_at('took', 'left').sum - receipt.values_at(*WAYS).sum
end

# Once nothing moves: the numbers that are not 0.
def numbers(s, wanted, name = 'Teller', missing: 0)
  found = s.seen(wanted) { |a| a['moving'] == 0 && (r = receipt(a, name)) && wanted.all? { |way, n| r[way.to_s] == n } }
  other = receipt(found, name).reject { |_, n| n == 0 || n == false }
  expect('nothing else', other, wanted.map { |way, n| [way.to_s, n] }.to_h.reject { |_, n| n == 0 })
  expect('the balance', missing(receipt(found, name)), missing)
  found
end

def plain(s, more = '', buffer: 'flush_interval 0.2s', lines: 200)
  s.append(s.lines(1..lines))
  s.run(s.tail + s.out(buffer, more))
end

on_oldest_and_newest 'lines read, and records taken and delivered, are told, also in the last report' do |s|
  plain(s)
  found = numbers(s, { took: 200, delivered: 200 })
  expect('read', found.values_at('lines', 'refused', 'worker', 'workers'), [200, 0, 0, 1])
  expect('its type', found['outputs'].map { |o| o['type'] }, ['teller'])
  s.append(s.lines(201..205))
  s.stop
  expect('last report', s.last['lines'], 205)
  expect('its end', receipt(s.last, 'Teller', 'ends').slice('took', 'delivered', 'held'), { 'took' => 205, 'delivered' => 205, 'held' => 0 })
end

it 'what went to the secondary is not delivered, and is no output of its own' do |s|
  File.write("#{s.dir}/fail", '')
  secondary = "<secondary>\n @type secondary_file\n directory #{s.dir}/second\n</secondary>"
  plain(s, secondary, buffer: "flush_interval 0.2s\n retry_timeout 2s\n retry_secondary_threshold 0.1")
  found = numbers(s, { took: 200, secondary: 200 })
  expect('outputs', found['outputs'].map { |o| o['class'] }, ['Fluent::Plugin::TellerOutput'])
end

on_oldest_and_newest 'what an unrecoverable error meets is set aside, or dropped without a backup' do |s|
  File.write("#{s.dir}/unrecoverable", '')
  s.append(s.lines(1..200))
  [%w[aside false], %w[unrecoverable true]].each do |way, thrown|
    root = "<system>\n root_dir #{s.make('root')}\n</system>\n"
    s.run(root + s.tail + s.out("flush_interval 0.2s\n disable_chunk_backup #{thrown}"))
    numbers(s, { took: 200, way.to_sym => 200 })
    s.stop
    FileUtils.rm_f(["#{s.dir}/pos", *Dir["#{s.witness}/*.{sock,end}"]])
  end
end

it 'what the retry limit evacuates is set aside' do |s|
  File.write("#{s.dir}/fail", '')
  s.append(s.lines(1..200))
  root = "<system>\n root_dir #{s.make('root')}\n</system>\n"
  s.run(root + s.tail + s.out("flush_interval 0.2s\n retry_max_times 0", "@id teller", type: 'file'))
  numbers(s, { took: 200, aside: 200 })
end

on_oldest_and_newest 'what a full buffer drops is counted' do |s|
  File.write("#{s.dir}/block", '')
  buffer = "flush_interval 0.2s\n chunk_limit_records 50\n total_limit_size 4k\n overflow_action drop_oldest_chunk"
  plain(s, buffer: buffer, lines: 50)
  n = 50
  s.seen('dropped') { |a| a['lines'] == n && (receipt(a)['overflown'] > 0 || (s.append(s.lines((n + 1)..(n += 50))) && nil)) }
  File.delete("#{s.dir}/block")
  found = s.seen('empty') { |a| a['moving'] == 0 && receipt(a)['held'] == 0 }
  expect('delivered', receipt(found)['delivered'], s.delivered.size)
  expect('the balance', missing(receipt(found)), 0)
end

on_oldest_and_newest 'what a full buffer refuses is not taken, and in_tail brings it again' do |s|
  File.write("#{s.dir}/block", '')
  plain(s, buffer: "flush_interval 0.2s\n total_limit_size 2k\n chunk_limit_size 1k", lines: 100)
  s.seen('full') { |a| receipt(a)['took'] > 0 }
  s.append(s.lines(101..200))
  s.seen('refused') { |a| a['messages'].any? { |h| h['text'].start_with?('emit transaction failed') } }
  File.delete("#{s.dir}/block")
  found = numbers(s, { took: 200, delivered: 200 })
  expect('no loss', found.values_at('lines', 'refused'), [200, 0])
end

on_oldest_and_newest 'what an earlier worker left in a file buffer is told by both' do |s|
  conf = s.tail + s.out('flush_interval 300s', type: 'file')
  s.append(s.lines(1..200))
  s.run(conf)
  numbers(s, { took: 200, held: 200 })
  s.stop
  expect('held at its end', receipt(s.last, 'Teller', 'ends')['held'], 200)
  ids = s.last['ends'][0]['chunks']
  s.append(s.lines(201..210))
  s.run(conf)
  found = numbers(s, { took: 10, left: 200, held: 210 })
  expect('taken over, by their ids', found['resumed'], ids)
  s.ask('flush')
  numbers(s, { took: 10, left: 200, delivered: 210 })
end

it 'a commit from another thread is a delivery, and a record of which format makes nothing is missing' do |s|
  s.append(s.lines(1..100) + "nil\n" * 20)
  s.run(s.tail + s.out.sub('@type teller', '@type ways'))
  numbers(s, { took: 120, delivered: 100 }, 'Ways', missing: 20)
end

it 'an output of v0.12 is counted in records, though its chunks tell bytes' do |s|
  s.append(s.lines(1..100))
  s.run(s.tail + "<match t.**>\n @type old\n flush_interval 0.2s\n try_flush_interval 0.1\n</match>\n")
  numbers(s, { took: 100, delivered: 100 }, 'Old')
end

on_oldest_and_newest 'an output that a graceful reload ends tells its numbers on' do |s|
  File.write("#{s.dir}/fail", '')
  s.append(s.lines(1..20))
  host = "127.#{1 + (Process.pid >> 16)}.#{Process.pid >> 8 & 255}.#{Process.pid & 255}" # of loopback, and nobody else's
  rpc = "<system>\n rpc_endpoint #{host}:24445\n</system>\n"
  s.run(rpc + s.tail + s.out("flush_interval 0.2s\n retry_max_times 0"), supervised: true)
  numbers(s, { took: 20, exhausted: 20 })
  File.delete("#{s.dir}/fail")
  TCPSocket.open(host, 24445) { |t| t.write("GET /api/config.gracefulReload HTTP/1.0\r\n\r\n"); t.read }
  found = s.seen('reloaded') { |a| a['ready'] && a['ends'].any? && receipt(a) && receipt(a)['took'] == 0 }
  expect('the numbers', receipt(found, 'Teller', 'ends').slice('took', 'exhausted'), { 'took' => 20, 'exhausted' => 20 })
  expect('read', found['lines'], 20)
end

it "an output tells how many of its records are events of Fluentd's own log" do |s|
  s.append(s.lines(1..3))
  s.run(s.tail + s.out(match: '**'))
  found = s.seen('taken') { |a| a['moving'] == 0 && receipt(a)['took'] > 3 && receipt(a)['delivered'] == receipt(a)['took'] }
  expect('own', receipt(found)['took'] - receipt(found)['own'], 3)
end

it "events of Fluentd's own log that a full buffer refuses hide no lost line" do |s|
  File.write("#{s.dir}/fail", '')
  s.append(s.lines(1..5))
  s.run(s.tail + s.out("flush_mode interval\n flush_interval 0.2s\n retry_max_times 0\n chunk_limit_size 40", match: '**'))
  found = s.seen('dropped') { |a| a['moving'] == 0 && receipt(a)['exhausted'] >= 5 }
  expect('only its own', receipt(found)['only_own'], false)
  expect('own of those taken', receipt(found)['own'] <= receipt(found)['took'], true)
end

it "events of Fluentd's own log that a file buffer takes before it starts are left over from nobody" do |s|
  File.write("#{s.dir}/late.rb", <<~RUBY)
    require 'fluent/plugin/buf_file'
    Fluent::Plugin::FileBuffer.prepend(Module.new do
      def resume # one more, which is not in the number that was read; and none after it, until the start has ended
        return super if (before = @stage.values.sum(&:size)) == 0
        queue = Fluent::Engine.instance_variable_get(:@fluent_log_event_router).instance_variable_get(:@event_queue)
        super.tap { $log.warn('late') && (sleep 0.01 until @stage.values.sum(&:size) > before && queue.num_waiting > 0) }
      end
    end)
  RUBY
  s.start(s.tail + s.out('flush_interval 60m', match: '**', type: 'file'), args: ['-r', "#{s.dir}/late.rb"],
          env: { 'FLUENT_RUNNING_IN_PARALLEL_WITH_OLD' => '1' }) # as SIGUSR2 starts it
  s.till('taken', within: 120) { Dir["#{s.dir}/buffer/*.log"].any? }
  s.append(s.lines(1..5))
  Process.kill('WINCH', s.pid)
  found = s.seen('started') { |a| a['ready'] && a['lines'] == 5 && a['moving'] == 0 && receipt(a) }
  expect('left', receipt(found)['left'], (..-1)) # else the start missed none, and this shows nothing
  expect('the balance', missing(receipt(found)), 0)
end

it 'what a flush emits, a full buffer refuses and <label @ERROR> takes is counted' do |s|
  s.append(s.lines(1..100))
  File.write("#{s.dir}/block", '')
  first = "<match t.**>\n @type buffer\n @label @X\n <buffer tag>\n @type memory\n flush_mode interval\n flush_interval 0.2s\n </buffer>\n</match>\n"
  full = s.out("flush_interval 0.2s\n total_limit_size 1k\n chunk_limit_size 1k\n overflow_action throw_exception", match: '**')
  s.run("#{s.tail}#{first}<label @X>\n#{full}</label>\n<label @ERROR>\n<match **>\n @type null\n</match>\n</label>\n")
  n = 100
  s.seen('refused') { |a| a['lines'] == n && a['refused'] == 0 ? s.append(s.lines((n + 1)..(n += 100))) && nil : a['refused'] > 0 }
ensure
  FileUtils.rm_f("#{s.dir}/block")
end

on_oldest_and_newest 'what a full buffer refuses, and <label @ERROR> takes instead, is counted: in_tail does not bring it again' do |s|
  File.write("#{s.dir}/block", '')
  s.append(s.lines(1..100))
  error = "<label @ERROR>\n<match **>\n @type ways\n <buffer>\n flush_interval 0.2s\n </buffer>\n</match>\n</label>\n"
  s.run(s.tail + s.out("flush_interval 0.2s\n total_limit_size 2k\n chunk_limit_size 1k\n overflow_action throw_exception") + error)
  n = 100
  s.seen('refused') { |a| a['lines'] == n && a['refused'] == 0 ? s.append(s.lines((n + 1)..(n += 100))) && nil : a['refused'] > 0 }
  File.delete("#{s.dir}/block")
  found = s.seen('sent') { |a| a['moving'] == 0 && receipt(a)['held'] == 0 && a['lines'] == n }
  expect('the sum', found['refused'] + missing(receipt(found)), n - receipt(found)['delivered'])
end

on_oldest_and_newest 'what an output without a buffer refuses is read, and counted once, also behind another output' do |s|
  s.append(s.lines(1..10))
  refusing = "<match **>\n @type stall\n dir #{s.dir}/none\n</match>\n"
  s.run("#{s.tail}<match t.**>\n @type relabel\n @label @X\n</match>\n<label @X>\n#{refusing}</label>\n")
  found = s.seen('refused') { |a| a['refused'] > 0 && a['files'].any? { |f| f['pos'] == f['size'] } }
  expect('numbers', found.values_at('refused', 'lines'), [10, 10])
end

it 'records that a thread emits and no buffer has are told to be on their way' do |s|
  File.write("#{s.dir}/stall", '')
  s.append("again\n")
  s.run(s.tail + s.out(match: 't') + "<match t.again>\n @type stall\n dir #{s.dir}\n</match>\n")
  s.till('within the emit') { File.exist?("#{s.dir}/stall.waits") }
  expect('on their way', s.look['moving'], 1)
  File.delete("#{s.dir}/stall")
  found = numbers(s, { took: 1, delivered: 1 })
  expect('no buffer', receipt(found, 'Stall'), { 'took' => 1 })
end

it 'a buffered output whose records nobody counts is a trouble' do |s|
  File.write("#{s.dir}/blind.rb", <<~RUBY)
    PosidleWitness.prepend(Module.new do
      def var(o, name); super unless name == :@emit_records_metrics; end
    end)
  RUBY
  s.append(s.lines(1..3))
  s.start(s.tail + s.out, args: ['-r', "#{s.dir}/blind.rb"])
  s.till('told') { (s.ask rescue {})['error'].to_s.end_with?('does not count what it takes') }
end

it 'lines of a file whose name makes no tag, which in_tail drops without a word, are not taken' do |s|
  File.write("#{s.logs}/\xff.log", s.lines(1..3))
  s.run(s.tail.sub('tag t', 'tag t.*') + s.out)
  s.seen('refused') { |a| a['refused'] == 3 }
end

it 'the threads of num_threads count their lines' do |s|
  s.append(s.lines(1..300))
  s.run(s.tail('num_threads 2') + s.out)
  expect('read', numbers(s, { took: 300, delivered: 300 })['lines'], 300)
end
