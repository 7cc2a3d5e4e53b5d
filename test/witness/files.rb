require_relative 'site'

# One emit fills it with a single chunk: at its stop Fluentd takes a second for each.
FULL = "flush_interval 60s\n total_limit_size 4k\n chunk_limit_size 1m\n overflow_action throw_exception".freeze
BLOCKED = FULL.sub('throw_exception', 'block').freeze # in_tail's thread waits in it
SLOW_READS = "IO.prepend(Module.new { def pread(*args); sleep 0.1 if Thread.current.name == 'posidle-witness'; super; end })".freeze
def hold_up(s, name)
  s.append(s.lines(1..3000, 20), name)
  s.seen('held up') { |a| a['files'].any? { |f| f['lines'].to_i > 0 } }
end
def file(answer, name = 'a.log', list = 'files')
  answer[list].select { |f| f['path'].end_with?("/#{name}") }.last
end

# Two inputs follow the same files; they differ in one line.
def two_inputs(s, line, other)
  first = s.tail('rotate_wait 1s')
  first + first.sub("#{s.dir}/pos", "#{s.dir}/other").sub(line, other)
end

on_oldest_and_newest 'a file that was read has its size as its position, and what is unfinished or kept of a record beside it' do |s|
  s.append(s.lines(1..9))
  s.append("an unfinished line")
  s.run(s.tail + s.out)
  found = s.seen('read') { |a| file(a) && file(a)['unfinished'] == 18 }
  expect('position', file(found).values_at('pos', 'size'), [File.size(s.log) - 18, File.size(s.log)])
  expect('inode', file(found)['inode'], File.stat(s.log).ino)
  s.append("\n")
  found = s.seen('finished') { |a| file(a)['pos'] == File.size(s.log) }
  expect('facts left out when 0', file(found).keys, %w[path inode dev born reader pos size at])
  s.till('delivered') { s.delivered.size == 10 }
  expect('nothing lost or unknown', found.values_at('lost', 'closed', 'cuts', 'starts', 'unfound', 'siblings', 'denied', 'more'), [[], [], [], [], [], [], [], 0])
end

on_oldest_and_newest 'brackets in a path or an exclusion are no pattern, as for in_tail' do |s|
  s.append("read\n")
  s.append("not named\n", 'b-1.log')
  s.append("missed\n", 'c1.log')
  paths = [s.log, s.log('b-[1].log'), s.log('c1.log')]
  s.run(s.tail("exclude_path #{s.log('c[1].log')}", path: paths.join(',')) + s.out)
  found = s.seen('read') { |a| file(a, 'c1.log') && file(a, 'c1.log')['pos'] == 7 }
  expect('unfound', found['unfound'], [])
end

on_oldest_and_newest 'the pos file of an input whose path matches it is no log of which bytes are left or written anew' do |s|
  source = s.tail(path: "#{s.logs}/*").sub("pos_file #{s.dir}/pos", "pos_file #{s.log('pos')}")
  2.times do |n|
    s.append("one\n")
    s.run(source + s.out)
    found = s.seen('read') { |a| file(a) && file(a)['pos'] == 4 * (n + 1) }
    expect('files', found['files'].map { |f| f['path'] }, [s.log])
    s.stop
    told = s.last(s.sockets.last).values_at('lost', 'cuts', 'starts', 'unfound', 'siblings', 'closed').flatten
    expect('of other files', told.reject { |f| f['path'] == s.log }, [])
  end
end

it 'an inode that is used again does not hide that its former file was closed unread' do |s|
  s.append(s.lines(1..30_000, 20)) # more than the witness holds open of removed files
  ino = File.stat(s.log).ino
  s.run(s.tail('rotate_wait 1s') + s.out(FULL))
  s.seen('a refusal') { |a| file(a) && file(a)['lines'].to_i > 0 }
  File.delete(s.log)
  s.seen('closed') { |a| file(a, 'a.log', 'closed') && a['files'].empty? }
  s.let_go(ino)
  s.again(ino, "new\n", 'b.log')
  found = s.seen('followed') { |a| file(a, 'b.log') }
  expect('lost', found['lost'].map { |l| l.values_at('inode', 'why') }, [[ino, 'closed']])
end

it 'a removed file that in_tail opens for each read is not as long as the one that got its inode number' do |s|
  s.append(s.lines(1..10))
  s.run(s.tail('open_on_every_update true').sub('refresh_interval 1s', 'refresh_interval 60s') + s.out, env: { 'POSIDLE_FIND' => 'no' })
  s.till('delivered') { s.delivered.size == 10 }
  s.seen('read') { |a| file(a) && file(a)['pos'] == file(a)['size'] }
  ino = File.stat(s.log).ino
  File.delete(s.log)
  s.again(ino, s.lines(1..500), 'b.log')
  s.stop
  expect('its size', s.last['closed'].find { |c| c['path'] == s.log }['size'], nil)
end

it 'nobody knows how much was left of a removed file that in_tail opens for each read, also once its inode number is used again' do |s|
  s.append(s.lines(1..10))
  s.run(s.tail('open_on_every_update true') + s.out)
  s.seen('read') { |a| file(a) && file(a)['pos'] == file(a)['size'] }
  ino = File.stat(s.log).ino
  File.delete(s.log)
  s.again(ino, s.lines(11..500), 'b.log')
  s.till('read') { s.delivered.size == 500 }
  s.stop
  told = s.last['lost'] + s.last['closed'].select { |c| c['size'].nil? }
  expect('told', told.map { |f| f['path'] }, [s.log])
end

it 'a renamed file that in_tail opens for each read, and then reads anew from its beginning, is not lost' do |s|
  s.append(s.lines(1..10))
  s.run(s.tail('open_on_every_update true', path: "#{s.logs}/a.log*") + s.out, env: { 'POSIDLE_FIND' => 'no' })
  s.seen('read') { |a| file(a) && file(a)['pos'] == file(a)['size'] }
  File.rename(s.log, s.log('a.log.1'))
  s.till('read twice') { s.delivered.size == 20 }
  s.stop
  expect('lost', s.last['lost'], [])
end

it 'a file that nobody followed is lost once it is removed, although another one got its inode number and begins and ends alike' do |s|
  text = lambda { |n| "#{'-' * 70}\n#{n}\n#{'=' * 70}\n" }
  s.run(s.tail('follow_inodes true').sub('refresh_interval 1s', 'refresh_interval 60s') + s.out)
  s.append(text.call(1), 'b.log')
  ino = File.stat(s.log('b.log')).ino
  s.seen('unfound') { |a| file(a, 'b.log', 'unfound') }
  File.delete(s.log('b.log'))
  s.again(ino, text.call(2), 'c.log')
  found = s.seen('unfound') { |a| file(a, 'c.log', 'unfound') }
  expect('lost', found['lost'].map { |l| l.values_at('path', 'why') }, [[s.log('b.log'), 'never followed']])
end

on_oldest_and_newest 'a file counts as unread if another one takes its place while in_tail opens it' do |s|
  s.append("old\n")
  replaced = "-I#{s.witness}/ruby -renumerator -r#{__dir__}/lib/replaced.rb"
  s.run(s.tail('rotate_wait 1s', path: [s.log, s.log('late.log')].join(',')) + s.out, rubyopt: replaced)
  s.append("its\n", 'late.log')
  found = s.seen('closed') { |a| file(a, 'late.log', 'closed') }
  expect('position', file(found, 'late.log', 'closed').values_at('pos', 'size'), [0, 4])
end

it 'a file that the paths name and nobody follows is unfound, and lost once it is gone, cut short, emptied or written anew' do |s|
  s.append("old\n")
  s.run(s.tail.sub('refresh_interval 1s', 'refresh_interval 60s') + s.out)
  s.append('', 'empty.log')
  changes = { 'b.log' => nil, 'c.log' => "cut\n", 'd.log' => '', 'e.log' => "longer\n" * 9 }
  changes.each_key { |n| s.append("five lines\n" * 5, n) }
  found = s.seen('unfound') { |a| a['unfound'].size == 4 }
  expect('unfound', found['unfound'].map { |f| f.values_at('path', 'size', 'readable') }.sort, changes.keys.map { |n| [s.log(n), 55, true] })
  ino = File.stat(s.log('b.log')).ino
  changes.each { |n, text| text ? File.write(s.log(n), text) : File.delete(s.log(n)) }
  found = s.seen('lost') { |a| a['lost'].size == 4 }
  expect('lost', found['lost'].map { |l| l.values_at('path', 'why') }.sort, changes.keys.map { |n| [s.log(n), 'never followed'] })
  expect('its inode', found['lost'].map { |l| l['inode'] }.include?(ino))
  expect('unfound no more', found['unfound'].map { |f| f['path'] } - changes.keys.drop(1).map { |n| s.log(n) }, [])
end

it 'a file that is written anew, as long and as old as before, in its unfinished line or after in_tail has closed it, is told as lost' do |s|
  s.append(s.lines(101..150))
  s.append(s.lines(101..150), 'closed.log')
  s.append(s.lines(1..20) + "------- #{'y' * 200}", 'unfinished.log')
  s.run(s.tail('rotate_wait 1s') + s.out)
  s.seen('read') { |a| a['files'].map { |f| f['size'] - f['pos'] }.sort == [0, 0, 208] }
  File.rename(s.log('closed.log'), s.log('closed.log.1'))
  found = s.seen('closed') { |a| file(a, 'closed.log', 'closed') }
  expect('none yet', found['lost'], [])
  sleep 2 # the witness trusts no time that was set within a second
  times = [File.atime(s.log), File.mtime(s.log)]
  %w[a.log closed.log.1].each { |n| File.write(s.log(n), s.lines(201..250), mode: 'r+') }
  File.utime(*times, s.log)
  File.write(s.log('unfinished.log'), 'line 21', File.size(s.log('unfinished.log')) - 208)
  found = s.seen('lost') { |a| a['lost'].size == 3 }
  expect('each once', found['lost'].map { |l| l.values_at('path', 'why') }.sort,
         %w[a.log closed.log unfinished.log].map { |n| [s.log(n), 'written anew'] })
end

it 'a file that is found, read and written anew between two looks of the witness is told as lost' do |s|
  hold = s.log('../hold')
  File.write("#{s.dir}/held.rb", <<~RUBY)
    PosidleWitness.prepend(Module.new do
      def look(asked)
        super unless File.exist?('#{hold}')
      end
    end)
  RUBY
  s.run(s.tail + s.out, args: ['-r', "#{s.dir}/held.rb"])
  File.write(hold, '')
  s.append(s.lines(1..50))
  s.till('read') { s.delivered.size == 50 }
  File.write(s.log, s.lines(1001..1090), mode: 'r+') # never shorter, or in_tail may take it for a cut
  s.till('read on') { s.delivered.size > 50 }
  File.delete(hold)
  found = s.seen('lost') { |a| a['lost'].any? }
  expect('lost', found['lost'].map { |l| l.values_at('path', 'why') }, [[s.log, 'written anew']])
end

it 'a removed file stays open for a while, so that later lines are told, but no large one' do |s|
  { 'small.log' => 10, 'large.log' => 30_000 }.each { |name, n| s.append(s.lines(1..n, 20), name) }
  s.run(s.tail('rotate_wait 0') + s.out)
  s.till('read', within: 120) { s.delivered.size == 30_010 }
  small = File.open(s.log('small.log'), 'a')
  Dir["#{s.logs}/*"].each { |path| File.delete(path) }
  s.seen('let go') { |a| a['closed'].size == 2 }
  open = -> { Dir["/proc/#{s.pid}/fd/*"].map { |fd| File.readlink(fd) rescue '' }.grep(/deleted/).map { |path| path[/\w+\.log/] }.uniq }
  s.till('the large one is closed') { open.call == ['small.log'] }
  small.write("late\n")
  small.flush
  s.seen('told') { |a| (c = a['closed'].find { |f| f['path'].end_with?('small.log') }) && c['size'] == c['pos'] + 5 }
ensure
  small.close if small
end

it 'a file that in_tail lets go of in the middle of a look is not taken for another one' do |s|
  File.write("#{s.dir}/closes.rb", <<~RUBY)
    require 'fluent/plugin/in_tail'
    Fluent::Plugin::TailInput::TailWatcher.prepend(Module.new do
      def pe # as its close does
        @io_handler = nil if Thread.current.name == 'posidle-witness' && (File.read('#{s.dir}/closes') rescue nil) == @path
        super
      end
    end)
  RUBY
  { 'a.log' => 1, 'b.log' => 2 }.each { |name, n| s.append("#{name}\n" * n, name) }
  s.run(s.tail + s.out, args: ['-r', "#{s.dir}/closes.rb"])
  s.till('read') { s.delivered.size == 3 }
  socket = s.living # which asks, too
  %w[a.log b.log].each { |name| File.write("#{s.dir}/closes", s.log(name)) && s.look(socket) }
  expect('lost', s.look['lost'], [])
end

it 'unread lines that are cut off while in_tail is held up are told as lost, however long the file is then' do |s|
  s.run(s.tail + s.out(BLOCKED))
  s.append(s.lines(1..3000, 20))
  found = s.seen('held up') { |a| file(a) && file(a)['lines'].to_i > 0 }
  File.truncate(s.log, file(found)['size'] - 10_000)
  s.look
  s.append(s.lines(1..3000, 20))
  found = s.seen('lost') { |a| a['lost'].any? }
  expect('lost', found['lost'].map { |l| l.values_at('path', 'why') }, [[s.log, 'written anew']])
end

it 'a file that takes the place of a followed one while in_tail is held up is told as lost' do |s|
  File.write("#{s.dir}/looks.rb", s.counts)
  s.run(s.tail + s.out(BLOCKED), args: ['-r', "#{s.dir}/looks.rb"])
  s.append(s.lines(1..3000, 20))
  s.seen('held up') { |a| file(a) && file(a)['lines'].to_i > 0 }
  [1, 2].each do |n|
    File.delete(s.log)
    s.append("file #{n}\n")
    s.looks(2) # the first may have begun before
  end
  found = s.seen('lost') { |a| a['lost'].any? }
  expect('lost', found['lost'].map { |l| l.values_at('path', 'size', 'why') }, [[s.log, 7, 'never followed']])
end

it 'the same, and bytes that are cut off, where a busy worker keeps the witness from reading more than one file a look' do |s|
  File.write("#{s.dir}/slow.rb", <<~RUBY)
    #{SLOW_READS}
    PosidleWitness.prepend(Module.new do
      def mark(*args) # in_tail finds the files while a look goes on
        sleep 0.01 while Thread.current.name == 'posidle-witness' && Dir['#{s.logs}/*'].size > @begun.size
        super
      end
    end)
    #{s.counts}
  RUBY
  s.append("one\n")
  s.run(s.tail + s.out(BLOCKED), args: ['-r', "#{s.dir}/slow.rb"])
  others = (1..40).map { |n| "b#{n}.log" }
  ['c.log', *others].each { |name| s.append("one\n", name) }
  s.seen('found') { |a| a['files'].count { |f| f['pos'] == 4 } == 42 }
  hold_up(s, 'b1.log')
  writer = Thread.new { loop { others.each { |name| s.append("more\n", name) } && sleep(0.2) } }
  File.delete(s.log)
  s.append("two\n")
  s.append("two\n", 'c.log')
  s.looks(2) # the first may have begun before
  File.delete(s.log)
  s.append("three\n")
  File.truncate(s.log('c.log'), 5)
  writer.kill
  found = s.seen('lost', within: 120) { |a| a['lost'].size > 1 }
  expect('lost', found['lost'].map { |l| l.values_at('path', 'why') }.sort,
         [[s.log, 'never followed'], [s.log('c.log'), 'written anew']])
end

on_oldest_and_newest 'bytes that are cut off or written over are told of a renamed file, too, which in_tail has not read' do |s|
  File.write("#{s.dir}/looks.rb", s.counts)
  ['a.log', 'c.log'].each { |name| s.append('', name) }
  s.append("one\n", 'b.log')
  s.run(s.tail('rotate_wait 60s') + s.out(BLOCKED), args: ['-r', "#{s.dir}/looks.rb"])
  hold_up(s, 'b.log')
  ['a.log', 'c.log'].each { |name| s.append(s.lines(1..50), name) }
  s.looks(2) # the first may have begun before
  ['a.log', 'c.log'].each { |name| File.rename(s.log(name), s.log(name) + '.1') }
  s.looks(2)
  File.truncate(s.log + '.1', 0)
  File.write(s.log('c.log') + '.1', 'x' * 20, 30)
  found = s.seen('lost') { |a| a['lost'].size == 2 }
  expect('lost', found['lost'].map { |l| l.values_at('path', 'why') }.sort,
         [[s.log, 'written anew'], [s.log('c.log'), 'written anew']])
end

it 'of more files than a look reads, each is seen to be cut' do |s|
  File.write("#{s.dir}/looks.rb", s.counts)
  names = (1..4000).map { |n| "#{n}.log" }
  names.each { |name| s.append("one\n", name) }
  s.run(s.tail.sub('read_from_head true', 'read_from_head false') + s.out(BLOCKED), args: ['-r', "#{s.dir}/looks.rb"])
  s.seen('read') { |a| a['files'].count { |f| f['pos'] == 4 } == 4000 }
  hold_up(s, '1.log')
  names.last(100).each { |name| s.append("two\n", name) }
  s.looks(2) # the first may have begun before
  names.last(100).each { |name| File.truncate(s.log(name), 5) }
  s.seen('lost') { |a| a['lost'].count { |l| l['why'] == 'written anew' } == 100 }
end

it 'a copytruncate of a file that was read to its end is no loss, also where each read waits' do |s|
  File.write("#{s.dir}/slow.rb", <<~RUBY)
    #{SLOW_READS}
    #{s.counts}
  RUBY
  names = (1..3).map { |n| "#{n}.log" }
  s.run(s.tail + s.out, args: ['-r', "#{s.dir}/slow.rb"])
  (1..10).each do |round|
    names.each { |name| s.append("line\n" * 5, name) }
    s.till('read') { s.delivered.size == 15 * round }
    s.looks(1)
    names.each { |name| File.truncate(s.log(name), 0) }
    found = s.seen('cut') { |a| a['cuts'].size == 3 * round }
    expect('lost', found['lost'], [])
  end
end

it 'a file that grows while in_tail begins it is not lost' do |s|
  File.write("#{s.dir}/slow.rb", <<~RUBY)
    require 'fluent/plugin/in_tail'
    #{s.counts}
    Fluent::Plugin::TailInput.prepend(Module.new do
      def io_handler(*)
        File.write('#{s.log}', "more\n", mode: 'a')
        before = File.size('#{s.dir}/looks')
        sleep 0.01 until File.size('#{s.dir}/looks') > before + 1 # the first may have begun before
        super
      end
    end)
  RUBY
  s.run(s.tail.sub('refresh_interval 1s', 'refresh_interval 3s') + s.out, args: ['-r', "#{s.dir}/slow.rb"], env: { 'POSIDLE_FIND' => 'no' })
  s.append("new\n")
  found = s.seen('read') { |a| file(a) && file(a)['pos'] > 4 && file(a)['pos'] == file(a)['size'] }
  expect('lost', found['lost'], [])
end

def renamed_unread_and_cut(s, rotate_wait, script = '')
  File.write("#{s.dir}/looks.rb", script + s.counts)
  s.append('')
  s.append("one\n", 'b.log')
  s.run(s.tail("rotate_wait #{rotate_wait}") + s.out(FULL), args: ['-r', "#{s.dir}/looks.rb"])
  hold_up(s, 'b.log')
  s.append(s.lines(1..50))
  s.looks(2) # the first may have begun before
  yield if block_given?
  File.rename(s.log, s.log + '.1') # first: in_tail would notice a cut
  File.truncate(s.log + '.1', 20)
  s.append("new\n")
  s.seen('lost') { |a| a['lost'].any? }
  s.looks(4)
  expect('lost', s.look['lost'].map { |l| l.values_at('path', 'why') }, [[s.log, 'written anew']])
end

on_oldest_and_newest 'of a file that is renamed unread, and cut at once, one loss is told' do |s|
  renamed_unread_and_cut(s, '4s')
end

def told_beside_a_look(s, waits)
  script = <<~RUBY
    PosidleWitness.prepend(Module.new do
      #{waits}
      def until_told(w)
        return if Thread.current.name != 'posidle-witness' || w.path != '#{s.log}' || !File.exist?('#{s.dir}/hold')
        File.write('#{s.dir}/hold.waits', '')
        sleep 0.01 until @lost.any?
      end
    end)
  RUBY
  renamed_unread_and_cut(s, '60s', script) do
    File.write("#{s.dir}/hold", '')
    s.till('a look is there') { File.exist?("#{s.dir}/hold.waits") }
  end
end

it 'a log that is renamed unread and cut is lost once, also where in_tail tells it while a look is at the file' do |s|
  told_beside_a_look(s, 'def changed(w, *, **); until_told(w); super; end')
end

it 'a log that is renamed unread and cut is lost once, also where in_tail tells it as a look goes on to the next file' do |s|
  told_beside_a_look(s, 'def mark(w, *); super.tap { until_told(w) }; end')
end

it 'a log that grows while a look meets it for the first time is no loss' do |s|
  File.write("#{s.dir}/grows.rb", <<~RUBY)
    PosidleWitness.prepend(Module.new do
      def own_stat(w, *) # the second one, of which the look makes the mark
        super.tap do
          next if Thread.current.name != 'posidle-witness' || w.path != '#{s.log}' || @marks[h = handler(w)] || ($stats = $stats.to_i + 1) != 2
          File.write('#{s.log}', "more\n" * 10, mode: 'a')
          File.write('#{s.dir}/grown', '')
          sleep 0.01 until @marks[h]
        end
      end
      def cut_unfound(key, path, *, **) # in_tail has begun the file
        sleep 0.01 until path != '#{s.log}' || Thread.current.name == 'posidle-witness' || File.exist?('#{s.dir}/grown')
        super
      end
    end)
  RUBY
  s.append("one\n", 'b.log')
  s.run(s.tail + s.out, args: ['-r', "#{s.dir}/grows.rb"])
  s.append("one\n")
  s.till('all') { s.delivered.size == 12 }
  expect('lost', s.look['lost'], [])
end

on_oldest_and_newest 'a log that in_tail opens for each read is let go when it is gone' do |s|
  File.write("#{s.dir}/open.rb", <<~RUBY)
    PosidleWitness.prepend(Module.new do
      def look(*); super.tap { File.write('#{s.dir}/open', @open.size.to_s) }; end
    end)
  RUBY
  s.append(s.lines(1..10))
  s.run(s.tail('open_on_every_update true') + s.out, args: ['-r', "#{s.dir}/open.rb"])
  s.till('read') { s.look && File.read("#{s.dir}/open") == '1' && s.delivered.size == 10 }
  File.delete(s.log)
  s.till('let go') { s.look && File.read("#{s.dir}/open") == '0' }
end

def cut_and_followed_again(s, more = '')
  File.write("#{s.dir}/looks.rb", s.counts)
  ['a.log', 'b.log'].each { |name| s.append("one\n", name) }
  s.run(s.tail("rotate_wait 1s\n#{more}", path: "#{s.logs}/*") + s.out(BLOCKED), args: ['-r', "#{s.dir}/looks.rb"])
  s.seen('read') { |a| a['files'].size == 2 && a['files'].all? { |f| f['pos'] == 4 } }
  hold_up(s, 'b.log')
  s.append(s.lines(1..50))
  s.looks(2) # the first may have begun before
  File.rename(s.log, s.log + '.1')
  s.append("new\n")
  File.truncate(s.log + '.1', 0)
  s.till('followed again, and closed') do
    s.ask('flush')
    a = s.look
    a['closed'].any? && a['files'].any? { |f| f['path'].end_with?('.1') }
  end
  s.stop
  s.last
end

on_oldest_and_newest 'what was cut off a renamed file is told when in_tail has followed it again' do |s|
  expect('lost', cut_and_followed_again(s)['lost'].map { |l| l['why'] }, ['closed'])
end

on_oldest_and_newest 'the same, by its inode' do |s|
  last = cut_and_followed_again(s, 'follow_inodes true')
  expect('lost', last['lost'].any? || last['starts'].any? { |f| f['pos'] > f['size'] }, true)
end

it 'a pause of the looks while in_tail starts is in the gap' do |s|
  File.write("#{s.dir}/slow.rb", <<~RUBY)
    PosidleWitness.prepend(Module.new do
      def names(*)
        super
        return if @inputs.empty? || $slept
        sleep 6
        $slept = true
      end
    end)
    require 'fluent/plugin/in_tail'
    Fluent::Plugin::TailInput.prepend(Module.new { def start; sleep 0.1 until $slept; super; end })
  RUBY
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  s.start(s.tail + s.out, args: ['-r', "#{s.dir}/slow.rb"])
  found = s.ready
  expect('seconds', found['gap'], 6..Process.clock_gettime(Process::CLOCK_MONOTONIC) - began)
end

it 'many files that in_tail has not found make no look long where each read waits, and a cut of one is told' do |s|
  File.write("#{s.dir}/slow.rb", <<~RUBY)
    #{SLOW_READS}
    #{s.counts}
    IO.prepend(Module.new { def pread(*args); $reads += 1 if Thread.current.name == 'posidle-witness'; super; end })
    PosidleWitness.prepend(Module.new do
      def look(asked)
        $reads = 0
        super.tap { |done| File.write('#{s.dir}/reads', $reads.to_s + ' ', mode: 'a') if done && !asked }
      end
    end)
  RUBY
  s.run(s.tail('', path: "#{s.logs}/*.log").sub('refresh_interval 1s', 'refresh_interval 60m') + s.out,
        args: ['-r', "#{s.dir}/slow.rb"], env: { 'POSIDLE_FIND' => 'no' })
  (1..100).each { |n| s.append("one\n", "#{n}.log") }
  s.looks(3)
  File.truncate(s.log('7.log'), 2)
  found = s.seen('lost') { |a| a['lost'].any? }
  expect('lost', found['lost'].map { |l| l.values_at('path', 'why') }, [[s.log('7.log'), 'never followed']])
  expect('unfound', found['unfound'].size, 100)
  expect('most reads in a look, of 0.1 s each', File.read("#{s.dir}/reads").split.map(&:to_i).max, 1..10)
end

it 'a file that in_tail finds while the witness looks is in one list or the other' do |s|
  File.write("#{s.dir}/slow.rb", <<~RUBY)
    PosidleWitness.prepend(Module.new do
      def names(asked, *more)
        (sleep 0.01 until @begun.any?) if asked && Dir['#{s.logs}/*'].any?
        super
      end
    end)
  RUBY
  s.run(s.tail + s.out, args: ['-r', "#{s.dir}/slow.rb"])
  s.append("new\n")
  found = s.look
  expect('known', (found['files'] + found['unfound']).map { |f| f['path'] }, [s.log])
  found = s.seen('read') { |a| file(a) && file(a)['pos'] == 4 }
  expect('nothing else', found.values_at('unfound', 'lost'), [[], []])
end

it 'of more files than a list has room for, none is forgotten as the worker ends' do |s|
  (1..2100).each { |n| s.append("line\n", "#{n}.log") }
  s.run(s.tail + s.out)
  s.seen('read') { |a| a['files'].count { |f| f['pos'] == 5 } == 2100 }
  socket = s.sockets[0]
  s.stop
  word = s.last(socket)
  expect('closed', word['closed'].size, 2100)
  expect('forgotten or unfound', word.values_at('more', 'unfound'), [0, []])
end

it 'a file that one input has found and another one has not is unfound, and lost for that one once it is gone' do |s|
  s.run(two_inputs(s, 'refresh_interval 1s', 'refresh_interval 60s') + s.out)
  s.append("new\n")
  found = s.seen('one has read it') { |a| file(a) && file(a)['pos'] == 4 }
  expect('unfound', found['unfound'].map { |f| f.values_at('path', 'size') }, [[s.log, 4]])
  File.delete(s.log)
  found = s.seen('lost') { |a| a['lost'].any? }
  expect('lost', found['lost'].map { |l| l.values_at('path', 'why') }, [[s.log, 'never followed']])
end

on_oldest_and_newest 'a file that two inputs follow is closed for each of them, read by one and unread by the other' do |s|
  s.append(s.lines(1..3000, 20))
  s.run(two_inputs(s, '@type tail', "@type tail\n @label @full") + s.out + "<label @full>\n#{s.out(FULL)}</label>\n")
  s.seen('one refusal') { |a| a['files'].map { |f| [f['pos'] == f['size'], f['lines'].to_i > 0] }.sort_by(&:inspect) == [[false, true], [true, false]] }
  File.delete(s.log)
  found = s.seen('closed') { |a| a['closed'].size == 2 && a['files'].empty? }
  expect('the readers', found['closed'].map { |f| f['reader'] }.sort, ["#{s.dir}/other", "#{s.dir}/pos"])
  expect('read or not', found['closed'].map { |f| f['pos'] == f['size'] }.sort_by(&:inspect), [false, true])
  s.stop
  expect('in the last report', s.last['closed'].size, 2)
end

it 'a directory that Fluentd may not list, a link that it may not follow, and a new one to a file that is not there, are told; an old one, one whose file was followed, and a directory that it only passes through are not' do |s|
  Dir.mkdir(hidden = "#{s.dir}/hidden", 0700)
  File.write("#{hidden}/0.log", "unseen\n")
  Dir.mkdir(s.log('listed'), 0700)
  File.write(s.log('listed/a.log'), "unseen\n")
  Dir.mkdir(s.log('passed'), 0711)
  s.make('logs/passed/logs')
  s.append("seen\n", 'passed/logs/b.log')
  [hidden, s.log('listed'), s.log('passed')].each { |d| File.chown(65_534, 65_534, d) } rescue raise Skipped, 'no right to give a file away'
  File.write(followed = "#{s.dir}/followed", "seen\n")
  links = { 'closed.log' => "#{hidden}/0.log", 'elsewhere.log' => "#{s.dir}/none", 'old.log' => "#{s.dir}/gone" }
  links.merge('seen.log' => followed).each { |name, to| File.symlink(to, s.log(name)) }
  system('touch', '-h', '-d', '2000-01-01', s.log('old.log'))
  s.start(s.tail('', path: "#{s.logs}/*.log,#{s.logs}/listed/*.log,#{s.logs}/passed/logs/*.log") + s.out, wrapper: s.unprivileged)
  told = %w[closed.log elsewhere.log listed/].map { |n| s.log(n) }
  found = s.seen('read') { |a| a['ready'] && file(a, 'seen.log') && file(a, 'passed/logs/b.log') }
  expect('denied', found['denied'].sort, told)
  File.delete(followed)
  found = s.seen('gone') { |a| a['ready'] && a['denied'].any? }
  expect('denied', found['denied'].sort, told)
end

def two_volumes(s)
  %w[a b].each { |d| system('mount', '-t', 'tmpfs', 'tmpfs', s.make("logs/#{d}")) or raise Skipped, 'no right to mount' }
  yield
ensure
  %w[a b].each { |d| system('umount', '-l', s.log(d), err: File::NULL) }
end

def on_another_volume(s, by = '')
  s.append("read\n", 'a/1.log')
  s.run(s.tail(by, path: "#{s.logs}/a/*.log,#{s.logs}/b/*.log").sub('refresh_interval 1s', 'refresh_interval 60s') + s.out)
  s.seen('read') { |a| file(a, '1.log') }
  s.append("of the same number\n", 'b/2.log')
  expect('the same number', File.stat(s.log('a/1.log')).ino, File.stat(s.log('b/2.log')).ino)
  s.till('found') do
    found = s.ask('find')
    by.empty? ? s.delivered.size == 2 && found['unfound'].empty? : found['unfound'].map { |u| u['path'] } == [s.log('b/2.log')]
  end
  File.rename(s.log('b/2.log'), s.log('b/2.not'))
  s.seen('gone') { |a| a['unfound'].empty? && (by.empty? || a['lost'].map { |l| l['why'] } == ['never followed']) }
end

it('a file with the inode number of a followed one, on another volume, is followed too') { |s| two_volumes(s) { on_another_volume(s) } }
it('a file with the inode number of a followed one, on another volume, is unfound with follow_inodes') { |s| two_volumes(s) { on_another_volume(s, 'follow_inodes true') } }
it 'what is left of a closed file is told, although a file with its inode number closes on another volume' do |s|
  two_volumes(s) do
    %w[a/1.log b/2.log].each { |n| s.append("read\n", n) }
    s.run(s.tail('rotate_wait 0', path: "#{s.logs}/a/*.log,#{s.logs}/b/*.log") + s.out)
    s.seen('read') { |a| a['files'].count { |f| f['pos'] == 5 } == 2 }
    first = File.open(s.log('a/1.log'), 'a')
    expect('the same number', first.stat.ino, File.stat(s.log('b/2.log')).ino)
    File.delete(first.path)
    s.seen('closed') { |a| file(a, '1.log', 'closed') }
    first.write("late\n")
    first.flush
    s.seen('left') { |a| file(a, '1.log', 'closed')['size'] == 10 }
    File.delete(s.log('b/2.log'))
    found = s.seen('closed') { |a| file(a, '2.log', 'closed') }
    expect('left', file(found, '1.log', 'closed').values_at('pos', 'size'), [5, 10])
  ensure
    first.close if first
  end
end
it 'of files with one inode number, on two volumes, the followed ones are both in the last report, and a rotated one is a sibling' do |s|
  two_volumes(s) do
    numbers = %w[a/1.log b/1.log a/1.log.1 b/2.log].map { |n| s.append("read\n", n); File.stat(s.log(n)).ino }
    expect('the same numbers', numbers, [numbers[0]] * 2 + [numbers[2]] * 2)
    s.run(s.tail('', path: "#{s.logs}/*/1.log,#{s.logs}/*/2.log") + s.out)
    found = s.seen('read') { |a| a['files'].count { |f| f['pos'] == 5 } == 3 }
    expect('siblings', found['siblings'].map { |f| f['path'] }, [s.log('a/1.log.1')])
    s.stop
    expect('closed', s.last['closed'].map { |c| c.values_at('inode', 'pos', 'followed') }.sort, numbers.values_at(0, 1, 3).map { |n| [n, 5, true] })
    expect('unfound', s.last['unfound'], [])
  end
end
it 'a file that another volume hides, with its inode number, is left if main writes on into it' do |s|
  two_volumes(s) do
    %w[a/1.log b/1.log].each_with_index { |n, i| s.append("of #{n}\n" * (2 - i), n) }
    expect('the same number', File.stat(s.log('a/1.log')).ino, File.stat(s.log('b/1.log')).ino)
    File.symlink(s.log('a/1.log'), link = s.log('1.log'))
    s.run(s.tail('', path: link) + s.out)
    s.seen('read') { |a| file(a, '1.log')['pos'] == 22 }
    File.symlink(s.log('b/1.log'), "#{link}.new")
    File.rename("#{link}.new", link)
    s.append("late\n", 'a/1.log')
    s.seen('followed') { |a| file(a, '1.log')['pos'] == 11 }
    s.seen('left') { |a| a['closed'].map { |c| c.values_at('pos', 'size') } == [[22, 27]] }
    s.stop
    expect('unfound', s.last['unfound'], [])
    expect('delivered', s.delivered.size, 3)
  end
end

it 'more closed files than it tells are still known to be read, also under another name' do |s|
  few = File.read("#{s.witness}/witness.rb").sub('MANY = 2000', 'MANY = 3')
  File.write("#{s.witness}/witness.rb", few)
  s.run(s.tail("limit_recently_modified 3s\nrotate_wait 1s") + s.out)
  names = (1..6).map { |n| "#{n}.log" }
  names.each { |name| s.append("a line of more than sixty-four bytes, so that a new file is found at once\n", name) }
  s.till('delivered') { s.delivered.size == 6 }
  told = s.seen('let go') { |a| a['files'].empty? && a['closed'].size == 3 }['closed'].map { |c| File.basename(c['path']) }
  expect('nothing to find', s.ask('find').values_at('unfound', 'more'), [[], 0])
  names.each { |name| File.rename(s.log(name), s.log("#{name}.1")) }
  expect('nor a sibling', s.look.values_at('unfound', 'siblings', 'more'), [[], [], 0])
  late, cut = (names - told).map { |name| s.log("#{name}.1") }
  File.write(late, "late\n", mode: 'a')
  File.write(cut, "anew\n")
  expect('one is written on, and one anew', s.look['siblings'].map { |f| f['path'] }.sort, [cut, late].sort)
end

it 'a closed file tells its beginning, by which a gzip file is known, once it has lost its name' do |s|
  s.append("#{'x' * 80}\n")
  s.run(s.tail('rotate_wait 1s', path: s.log) + s.out)
  s.till('delivered') { s.delivered.size == 1 }
  File.rename(s.log, s.log('a.log.1'))
  closed = s.seen('closed') { |a| a['closed'].any? }['closed'][0]
  expect('none', closed['head'], nil)
  File.delete(s.log('a.log.1'))
  s.seen('its beginning') { |a| a['closed'].any? { |c| c['head'] } }
end

it 'the first log of a new directory that is rotated before it is found is a sibling, but not where logs are excluded' do |s|
  s.run(s.tail("exclude_path #{s.logs}/noise*/*.log,#{s.logs}/**/*.gz", path: "#{s.logs}/**/*.log") + s.out)
  %w[new/one noise1].each { |dir| s.make("logs/#{dir}") }
  %w[new/one/app.log.1 noise1/app.log.1].each { |name| s.append("unread\n", name) }
  expect('siblings', s.look['siblings'].map { |f| f['path'] }, [s.log('new/one/app.log.1')])
end

it 'a path with brackets and without a star names one directory, and no other one has siblings' do |s|
  %w[x [x]].each { |dir| s.make("logs/#{dir}") }
  s.append("one\n", '[x]/app.log')
  s.run(s.tail('', path: "#{s.logs}/[x]/app.log") + s.out)
  s.till('delivered') { s.delivered.size == 1 }
  %w[x/app.log.1 [x]/app.log.1].each { |name| s.append("unread\n", name) }
  expect('siblings', s.look['siblings'].map { |f| f['path'] }, [s.log('[x]/app.log.1')])
end

it 'where a path matches any name, a file in a directory below is a sibling only by a name that is longer than a log has' do |s|
  s.append("one\n", 'app.txt')
  s.run(s.tail('', path: "#{s.logs}/*") + s.out)
  s.till('delivered') { s.delivered.size == 1 }
  s.make('logs/results')
  %w[results/data.csv results/app.txt.1 results/new.log.1].each { |name| s.append("1,2\n", name) }
  expect('siblings', s.look['siblings'].map { |f| f['path'] }.sort, %w[app.txt.1 new.log.1].map { |name| s.log("results/#{name}") })
end

it 'files that look like rotated forms of a followed one, born in this life, read by nobody and not excluded, are siblings' do |s|
  s.make('logs/old')
  %w[a.log.1 a-2026-01-02.log.gz a.7.log old/a.log.2 a-2026.gz].each { |n| s.append("unread\n", n) }
  %w[a-audit.log a_heap1.hprof ab.log a.log.pos a.log.lock .a.log.swp a.log.not a-2026.not].each { |n| s.append("another's\n", n) }
  s.append('', 'a.log.3')
  s.append("unread\n", 'a.log.9') # its date says nothing of its birth
  File.utime(0, 0, s.log('a.log.9'))
  s.append("read\n")
  s.run(s.tail("exclude_path #{s.logs}/*.not,#{s.logs}/old/*.log", path: s.log).sub("#{s.dir}/pos", s.log('a.log.pos')) + s.out)
  found = s.seen('read') { |a| file(a) }
  expect('siblings', found['siblings'].map { |f| f['path'] }.sort,
         %w[a-2026-01-02.log.gz a-2026.gz a.7.log a.log.1 a.log.9 old/a.log.2].map { |n| s.log(n) })
  expect('facts', found['siblings'].all? { |f| f['size'] == 7 && f['inode'] == File.stat(f['path']).ino && f['cuts'] == [] })
  s.stop
  expect('in the last report', s.last['siblings'].size, 6)
end

it 'a sibling is where a followed link leads now, although its file only moved to another directory' do |s|
  was, is = s.make('was'), s.make('is')
  s.append("one\n", '../was/app.log')
  File.symlink("#{was}/app.log", s.log('app.log'))
  s.run(s.tail + s.out)
  s.seen('read') { |a| file(a, 'app.log') }
  File.rename("#{was}/app.log", "#{is}/app.log")
  File.symlink("#{is}/app.log", "#{s.dir}/link")
  File.rename("#{s.dir}/link", s.log('app.log'))
  s.append("unread\n", '../is/app.log.1')
  s.seen('a sibling') { |a| a['siblings'].map { |f| f['path'] } == ["#{is}/app.log.1"] }
end

it 'a file of an earlier life is a sibling once it is written on' do |s|
  %w[a.log.1 a.log.2].each { |n| s.append("earlier\n", n) }
  File.utime(Time.now, Time.now + 2, "#{s.witness}/witness.rb") # a second later this life begins
  s.append("read\n")
  s.run(s.tail('', path: s.log) + s.out)
  s.till('this life') { Time.now.to_f * 1000 > s.look['pod'] }
  s.append("written on\n", 'a.log.2')
  found = s.seen('read') { |a| file(a) }
  expect('siblings', found['siblings'].map { |f| f['path'] } - [s.log('a.log.1')], [s.log('a.log.2')])
end

on_oldest_and_newest 'a file that is not read from its beginning is told with the position where reading began' do |s|
  s.append(s.lines(1..5))
  s.run(s.tail.sub('read_from_head true', 'read_from_head false') + s.out)
  found = s.seen('followed') { |a| file(a) }
  expect('starts', found['starts'].map { |f| f.values_at('path', 'inode', 'pos') }, [[s.log, File.stat(s.log).ino, 35]])
  expect('a birth', found['starts'][0]['born'], Integer)
  expect('the last write', found['starts'][0]['written'], (File.mtime(s.log).to_f * 1000).to_i)
end

on_oldest_and_newest 'where the next worker begins, what was read before must still lie there' do |s|
  s.append(s.lines(1..50))
  again = lambda { s.stop; s.run(s.tail + s.out); s.seen('followed') { |a| file(a) } }
  s.run(s.tail + s.out)
  s.seen('read') { |a| file(a) && file(a)['pos'] == File.size(s.log) }
  found = again.call
  last = file(s.last, 'a.log', 'closed')
  expect('followed to the end', last['followed'])
  expect('a print', last['print'], Integer)
  expect('one birth', [last['born'], file(found)['born'], found['starts'][0]['born']].uniq.map(&:class), [Integer])
  expect('the same', found['starts'].map { |f| f.values_at('pos', 'print', 'written') }, [[*last.values_at('pos', 'print'), nil]])
  expect('nothing lost', found['lost'], [])
  s.stop
  File.write(s.log, s.lines(1001..1090))
  s.run(s.tail + s.out)
  found = s.seen('followed') { |a| file(a) }
  expect('the same position', found['starts'][0]['pos'], last['pos'])
  expect('another print', found['starts'][0]['print'] != last['print'])
  s.stop
  File.write(s.log, "new\n")
  s.run(s.tail + s.out)
  found = s.seen('followed') { |a| file(a) }
  expect('shorter than its position', found['starts'].map { |f| f.values_at('path', 'pos', 'size') }, [[s.log, 900, 4]])
end

it 'names that are not UTF-8 or not ASCII, also that of a directory, are told without an error' do |s|
  s.make("logs/\u65e5")
  File.write("#{s.logs}/caf\xE9.log".b, "one\n")
  s.append("two\n", "\u30ed.log")
  s.append("sibling\n", "\u65e5/\u30ed.log")
  s.run(s.tail + s.out)
  found = s.seen('all read') { |a| a['files'].size == 2 && a['files'].all? { |f| f['pos'] == 4 } }
  expect('the name', found['files'].any? { |f| f['path'].end_with?("caf\uFFFD.log") })
  expect('siblings', found['siblings'].map { |f| f['path'] }, ["#{s.logs}/\u65e5/\u30ed.log"])
end

it 'beside 1,000 files an answer takes a fifth of a second of CPU at most' do |s| # bench:witness tells that of 10,000
  1_000.times { |n| s.append("a line\n", "#{n}.log") }
  s.run(s.tail.sub('refresh_interval 1s', 'refresh_interval 60s') + s.out)
  s.seen('all read', within: 120) { |a| a['files'].count { |f| f['pos'] == 7 } == 1_000 }
  before = s.cpu
  found = (1..5).map { s.look }.last
  expect('seconds of CPU', (s.cpu - before) / 5, 0..0.2)
  expect('all followed', found.values_at('more', 'unfound', 'siblings'), [0, [], []])
end
