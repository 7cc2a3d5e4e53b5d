require_relative 'site'

SLOW = 'refresh_interval 10m'.freeze # longer than anybody here waits
MULTILINE = "@type multiline\n format_firstline /^begin/\n format1 /(?<message>.*)/".freeze
def slow(s, more = '', path: "#{s.logs}/*.log", **rest)
  s.tail(more, path: path, **rest).sub('refresh_interval 1s', SLOW)
end

# If a file leaves its path while in_tail takes up its rotation, both watchers of the path open the next file there, and it is read
# twice, also by a Fluentd alone.
def tells_two_watchers(s)
  <<~RUBY
    require 'fluent/plugin/in_tail'
    Fluent::Plugin::TailInput.prepend(Module.new do
      def update_watcher(watcher, _, inode)
        super
        taken = inode.nil? || @tails[watcher.path].pe.read_inode == inode
        File.write('#{s.dir}/two', "\#{File.basename(watcher.path)}\\n", mode: 'a') unless taken
      end
    end)
  RUBY
end

def two_watchers(s)
  File.exist?("#{s.dir}/two") ? File.readlines("#{s.dir}/two", chomp: true).uniq : []
end

# Fluentd follows one file, and looks for others long after.
def started(s, conf = slow(s), **options)
  s.append(s.lines(1..10))
  s.run(conf + s.out, **options)
  s.till('first lines') { s.delivered.size >= 10 }
end

# Asked in this way, in_tail delivers so many lines; then Fluentd stops, and has delivered each line once.
def once(s, count, word = nil, within: 60)
  s.till("#{count} lines", within: within, show: -> { s.delivered.size.to_s }) { (word.nil? || s.ask(word)) && s.delivered.size >= count }
  s.stop
  twice = s.delivered.map { |line| line[/line \d+/] || line }.tally.select { |_, n| n > 1 }
  expect('each line once', [s.delivered.size, twice], [count, {}])
  expect('no error in the log of Fluentd', s.said.scan(/\[(?:error|fatal)\].*/), [])
end

# The witness knows of a file that in_tail does not follow, and has looked again and again.
def passed_over(s)
  s.seen('a file that was passed over') { |a| a['unfound'].any? { |u| Time.now.to_f * 1000 - u['at'] > 1500 } }
end

# It is asked once more, and has had the time: in_tail's loop wakes up twice a second.
def asked_again(s)
  s.ask('finish')
  sleep 1
end

on_each_version 'in_tail reads a new file at once, although it looks for new files each ten minutes' do |s|
  started(s)
  s.append(s.lines(11..30), 'new.log')
  once(s, 30)
end

# in_tail looks at its files once a second, and on a busy machine later: each file stays until it is followed.
on_oldest_and_newest 'a log that is rotated each two seconds from its first moment loses no line' do |s|
  s.run(slow(s) + s.out)
  (0..4).each do |turn|
    (1..10).each { |n| s.append("line #{turn * 10 + n} of a main that writes slowly and has long lines for a head\n"); sleep 0.2 }
    ino = File.stat(s.log).ino
    s.seen('followed') { |a| a['files'].any? { |f| f['inode'] == ino } }
    File.rename(s.log, s.log("a.log.#{turn + 1}")) if turn < 4
  end
  once(s, 50)
end

def at_an_order_only(s, more = '', **options)
  started(s, slow(s, more), **options)
  s.append(s.lines(11..30), 'new.log')
  passed_over(s)
  expect('not read', s.delivered.size, 10)
  once(s, 30, 'find')
end

it('with POSIDLE_FIND=no in_tail finds a file at an order only') { |s| at_an_order_only(s, env: { 'POSIDLE_FIND' => 'no' }) }
it('with follow_inodes in_tail finds a file at an order only') { |s| at_an_order_only(s, 'follow_inodes true') }

it 'a log with a date in its path is found when its time is over' do |s|
  s.run(slow(s, path: "#{s.logs}/%S.log") + s.out, env: { 'POSIDLE_FIND' => 'no' })
  name = nil
  s.seen('a dated file') do |a| # one from the end of a second may be missed, and one from before the start is in_tail's
    next true if a['unfound'].any?
    now = Time.now.strftime('%S.log')
    s.append(s.lines(1..20), name = now) if a['ready'] && name != now
    false
  end
  s.till('its time is over') { Time.now.strftime('%S.log') != name }
  once(s, 20, 'find')
end

it 'a copy of a log that matches its path is left to in_tail' do |s|
  started(s)
  FileUtils.cp(s.log, s.log('a-20260101.log'))
  File.truncate(s.log, 0)
  passed_over(s)
  FileUtils.rm(s.log('a-20260101.log'))
  s.append(s.lines(11..12))
  once(s, 12)
end

it 'a new file that gets the name of a followed one is not read before, where the path matches any ending' do |s|
  started(s, slow(s, path: "#{s.logs}/a.log*"))
  s.append(s.lines(11..30), 'a.log.new')
  passed_over(s)
  File.rename(s.log('a.log.new'), s.log)
  s.append(s.lines(31..32))
  once(s, 32)
end

it 'a file in a directory of the pattern is not read before the directory has its name' do |s|
  s.make('logs/tmp1')
  s.run(slow(s, path: "#{s.logs}/*/a.log") + s.out)
  s.append(s.lines(1..20), 'tmp1/a.log')
  passed_over(s)
  File.rename(s.log('tmp1'), s.log('job1'))
  s.append(s.lines(21..22), 'job1/a.log')
  once(s, 22, 'find')
end

on_oldest_and_newest 'a file that is found again under another name goes on at its position' do |s|
  started(s, slow(s, "rotate_wait 1s\n open_on_every_update true", path: "#{s.logs}/a.log*"))
  s.seen('read') { |a| a['files'].any? { |f| f['pos'] == File.size(s.log) } }
  File.rename(s.log, s.log('a.log.1'))
  s.append(s.lines(11..15), 'a.log.1')
  s.append(s.lines(16..20))
  once(s, 20, 'find')
end

on_oldest_and_newest 'a file with the inode number of a closed one, but other contents, is read from its beginning' do |s|
  started(s, slow(s, "rotate_wait 1s\n open_on_every_update true"))
  s.append(s.lines(11..20), 'b.log')
  s.till('b') { s.ask('find') && s.delivered.size == 20 }
  ino = File.stat(s.log('b.log')).ino
  File.rename(s.log('b.log'), s.log('b.old'))
  closed = s.till('closed') { s.look['closed'].find { |c| c['inode'] == ino } }
  File.write(s.log('b.old'), s.lines(21..30), mode: 'r+') # as long as before
  File.utime(tick = Time.at((closed['at'] - 4) / 1000.0), tick, s.log('b.old')) # a write gets the time of the kernel's last tick
  File.rename(s.log('b.old'), s.log('c.log'))
  once(s, 30, 'find')
end

# With the bytes of any other where it begins and ends.
def alike(numbers)
  head, foot = ['begins', 'ends'].map { |word| "#{'-' * 70} #{word}\n" }
  head + numbers.map { |n| "line #{n} #{'x' * 190}\n" }.join + foot
end

it 'a file with the inode number of a removed one, and the same bytes where that began and ended, is read from its beginning' do |s|
  started(s, slow(s, 'rotate_wait 1s'))
  s.append(alike(10_001..16_000), 'b.log') # more than the witness holds open of removed files
  s.till('b') { s.ask('find') && s.delivered.size == 6012 }
  ino = File.stat(s.log('b.log')).ino
  File.rename(s.log('b.log'), "#{s.dir}/gone")
  s.append("line 11\n", 'b.log')
  s.seen('closed') { |a| a['closed'].any? { |c| c['inode'] == ino } }
  File.delete("#{s.dir}/gone")
  s.let_go(ino)
  s.again(ino, alike(20_001..26_000) + s.lines(12..20), 'c.log')
  s.till('c', show: -> { s.delivered.size.to_s }) { s.ask('find') && s.delivered.size == 12_024 }
  expect('no doubt', s.look['starts'], [])
end

it 'so is one of which in_tail opened the removed one for each read' do |s|
  started(s, slow(s, "rotate_wait 1s\n open_on_every_update true"))
  s.append(alike(1001..1100), 'b.log')
  s.till('b') { s.ask('find') && s.delivered.size == 112 }
  ino = (keeps = File.open(s.log('b.log'))).stat.ino # the number is not free meanwhile
  File.delete(s.log('b.log'))
  s.seen('closed') { |a| a['closed'].any? { |c| c['inode'] == ino } }
  keeps.close
  s.again(ino, alike(2001..2100) + s.lines(12..20), 'c.log')
  s.till('c', show: -> { s.delivered.size.to_s }) { s.ask('find') && s.delivered.size == 223 }
end

it 'with skip_refresh_on_startup in_tail finds a file too' do |s|
  s.run(slow(s, 'skip_refresh_on_startup true') + s.out)
  s.append(s.lines(1..10))
  once(s, 10)
end

it '1,000 files at once are all found, each line once' do |s|
  started(s)
  (1..1000).each { |n| s.append("line #{n + 10} of a file of its own, whose head is not like that of another: #{n}\n", "#{n}.log") }
  once(s, 1010, 'find', within: 60)
end

it 'a renamed file that matches the path, and was only touched since in_tail closed it, is not read again without a pos_file' do |s|
  started(s, slow(s, 'rotate_wait 1s').sub(/^ *pos_file.*/, ''))
  File.rename(s.log, s.log('a.1.log'))
  s.append("line 11\n")
  s.seen('closed') { |a| a['closed'].any? }
  FileUtils.touch(s.log('a.1.log'))
  asked_again(s)
  once(s, 11)
end

on_each_version 'an unfinished last line is delivered once, however in_tail is set' do |s|
  ways = ['', 'open_on_every_update true', "path_key path\n enable_watch_timer false", 'follow_inodes true']
  tails = ways.each_with_index.map do |more, n|
    s.append(s.lines((n * 10)..(n * 10 + 8)) + "line #{n * 10 + 9}", "#{n}.log")
    s.tail(more, path: s.log("#{n}.log")).sub("#{s.dir}/pos", "#{s.dir}/pos#{n}")
  end
  s.run(tails.join + s.out)
  s.till('the last lines') { s.ask('finish') && s.delivered.size == 40 }
  asked_again(s)
  once(s, 40)
  expect('the positions are behind them', s.last['closed'].map { |f| f['size'] - f['pos'] }, [0] * 4)
end

on_oldest_and_newest 'a last line that ends in half a character stays unfinished, and is delivered once when the rest of it is there' do |s|
  *most, last = (s.lines(1..20) + 'line 21 ü').encode('UTF-16LE').bytes
  append = ->(bytes) { File.binwrite(s.log, bytes.pack('C*'), mode: 'ab') }
  append.call(most)
  s.run(s.tail("encoding UTF-8\n from_encoding UTF-16LE") + s.out)
  s.till('whole lines') { s.delivered.size == 20 }
  2.times { asked_again(s) }
  expect('unfinished', s.look['files'].map { |f| [f['size'] - f['pos'], f['unfinished']] }, [[17, 17]])
  append.call([last])
  once(s, 21, 'finish')
  expect('the last line', s.delivered.last, 'line 21 ü')
end

on_oldest_and_newest 'an unfinished last line that is longer than max_line_size is dropped by in_tail, which says so, and nothing is left' do |s|
  s.append(s.lines(1..20) + 'x' * 3000)
  s.run(s.tail('max_line_size 1k') + s.out)
  s.seen('finished') { |a| s.ask('finish') && a['files'].any? { |f| f['pos'] == f['size'] } && s.delivered.size == 20 }
  expect('said', s.look['messages'].map { |h| h['text'] }, ['received line length is longer than 1024'])
  asked_again(s)
  once(s, 20)
end

on_oldest_and_newest 'the last record of a multiline source is delivered once' do |s|
  s.append("begin line 1\n two\nbegin line 2\n four\n five")
  s.run(s.tail('', parse: MULTILINE) + s.out)
  s.till('the first record') { s.delivered.size >= 1 }
  s.till('the last record') { s.ask('finish') && s.delivered.join.include?('five') }
  s.ask('finish')
  s.stop
  expect('once', s.delivered.join.scan(/line \d/), ['line 1', 'line 2'])
end

on_oldest_and_newest 'a record that no buffer takes keeps the other files of its source from finishing nothing' do |s|
  s.append("begin line 1\n" + "x\n" * 1000)
  s.append("begin line 2\n two", 'b.log')
  s.run(s.tail('', parse: MULTILINE) + s.out("flush_interval 0.2s\n chunk_limit_size 1k"))
  s.seen('both read') { |a| a['files'].sum { |f| f['record'].to_i } > 2000 }
  s.till('the other one') { s.ask('finish') && s.delivered.join.include?('two') }
  s.stop
  expect('once', s.delivered.join.scan(/line \d/), ['line 2'])
end

on_oldest_and_newest 'the unfinished last line of a renamed file is delivered once' do |s|
  s.append(s.lines(1..20) + 'line 21')
  s.run(s.tail('rotate_wait 20s') + s.out)
  s.till('whole lines') { s.delivered.size == 20 }
  File.rename(s.log, s.log('a.log.1'))
  s.append(s.lines(22..23))
  s.till('the new file') { s.delivered.size == 22 }
  once(s, 23, 'finish')
end

it 'a line is never cut in two: a file is finished only where all of it is read' do |s|
  s.append(s.lines(1..2000, 20))
  s.run(s.tail('read_bytes_limit_per_second 16384') + s.out)
  once(s, 2000, 'finish', within: 90)
  expect('whole lines', s.delivered.grep_v(/\Aline \d+( x){20}\z/), [])
end

on_oldest_and_newest 'a full buffer keeps the last line, and a later order delivers it once' do |s|
  s.append(s.lines(1..100) + 'line 101')
  File.write("#{s.dir}/block", '')
  s.run(s.tail('open_on_every_update true') + s.out("flush_interval 0.2s\n total_limit_size 1k\n chunk_limit_size 1k\n overflow_action throw_exception"))
  s.seen('a refusal') { |a| a['messages'].any? }
  asked_again(s)
  FileUtils.rm("#{s.dir}/block")
  s.till('all') { s.ask('finish') && s.delivered.size >= 101 }
  asked_again(s)
  once(s, 101)
end

it 'under a hammer of new, rotated and removed logs no line comes twice, and a loss is told' do |s|
  File.write("#{s.dir}/looks.rb", s.counts + tells_two_watchers(s))
  s.run(slow(s, 'rotate_wait 1s') + s.out, args: ['-r', "#{s.dir}/looks.rb"])
  names, mutex, stop = {}, Mutex.new, Time.now + 12
  kind = ->(name) { File.basename(name)[/\A[a-z]+/] }
  write = lambda do |name, lines, pause|
    lines.times do
      n = mutex.synchronize { names[names.size] = name; names.size - 1 }
      s.append("line #{n} of #{kind.call(name)}, long enough to be told from the heads of all other logs here\n", name)
      sleep pause
    end
  end
  writers = (1..3).flat_map do |k|
    lives = lambda { |kind, lines, pause, &ends| Thread.new { (1..).each { |turn| Time.now > stop ? break : (write.call("#{kind}-#{k}-#{turn}.log", lines, pause); ends.call("#{kind}-#{k}-#{turn}.log")) } } }
    removed = ->(name) { s.looks(2); FileUtils.rm(s.log(name)) } # the first may have begun before
    rotates = lambda do |kind, gap|
      Thread.new do
        (1..).each do |turn|
          break if Time.now > stop
          write.call("#{kind}-#{k}.log", 7, 0.1)
          File.rename(s.log("#{kind}-#{k}.log"), s.log("#{kind}-#{k}.log.#{turn}"))
          sleep gap
        end
      end
    end
    [lives.call('new', 10, 0.14, &removed), lives.call('burst', 10, 0.03, &->(name) { FileUtils.rm(s.log(name)) }), rotates.call('fix', 0), rotates.call('gap', 0.03)]
  end
  Timeout.timeout(90) { (sleep 0.1; s.ask('find') rescue nil) while writers.any?(&:alive?) }
  before = nil
  s.till('all is read') { (was, before = before, s.delivered.size) && sleep(1) && was == before }
  s.stop
  found = s.delivered.map { |line| line[/line (\d+)/, 1].to_i }
  twice = found.tally.select { |_, n| n > 1 }.keys.map { |n| names[n] }
  expect('twice', (twice - two_watchers(s)).tally, {})
  expect('no error in the log of Fluentd', s.said.scan(/\[(?:error|fatal)\].*/), [])
  lost = (names.keys - found).map { |n| kind.call(names[n]) }.tally
  warn "lost: #{lost} of #{names.values.map(&kind).tally}" if ENV['HAMMER']
  told = s.last.values_at('lost', 'unfound', 'siblings').flatten.map { |file| kind.call(file['path']) }
  expect('lost and not told, but of files that live 0.3 s', lost.keys - told - ['burst'], [])
end

it 'a log that is renamed three times in a second is caught, and then all of it is read' do |s|
  File.write("#{s.dir}/two.rb", tells_two_watchers(s))
  s.run(slow(s) + s.out, args: ['-r', "#{s.dir}/two.rb"])
  (0..).each do |turn|
    break if turn >= 12 && s.delivered.size > 24 # it is caught while it is renamed
    raise 'not caught' if turn > 250
    # First it waits: in_tail that looks at one file and opens the next one reads that twice, also without a witness.
    (1..4).each { |n| sleep 0.1; s.append("line #{turn * 4 + n} of a main that writes fast and has long lines for a head\n") }
    File.rename(s.log, s.log("a.log.#{turn}"))
  end
  s.append("line 0, the last one\n")
  s.till('the last one') { s.ask('find') && s.delivered.any? { |line| line.start_with?('line 0') } }
  s.seen('all is read') { |a| a['files'].all? { |f| f['pos'] == f['size'] } && a['outputs'].all? { |o| o['n'] == 0 } }
  once(s, s.delivered.size) if two_watchers(s).empty?
end

it 'a file that in_tail leaves out keeps it from finishing no other one' do |s|
  hour = ->(ago, path) { File.utime(*[Time.now - ago * 3600] * 2, path) }
  hour.call(3, "#{s.witness}/witness.rb") # then this life begins
  s.run(slow(s, 'limit_recently_modified 1h') + s.out)
  s.append(s.lines(1..20) + 'line 21')
  s.till('whole lines') { s.delivered.size == 20 }
  s.append("left out\n", 'try')
  hour.call(2, s.log('try'))
  File.rename(s.log('try'), s.log('b.log'))
  s.seen('passed over') { |a| a['unfound'].any? }
  once(s, 21, 'finish')
end

on_oldest_and_newest 'a new file at a followed path is left to the watcher there, which has not looked yet' do |s|
  started(s, slow(s, 'enable_stat_watcher false')) # it looks once a second
  3.times do |turn|
    File.rename(s.log, s.log("a.log.#{turn}"))
    s.append(s.lines((turn * 10 + 11)..(turn * 10 + 20)))
    s.till('asked, and read') { s.ask('find') && s.delivered.size >= turn * 10 + 20 }
  end
  once(s, 40)
end

it 'a file for which the pos file had no room is followed on an order, once there is room' do |s|
  small = s.make('small')
  raise Skipped, 'no right to mount' unless system('mount', '-t', 'tmpfs', '-o', 'size=4k', 'none', small, err: File::NULL)
  begin
    tail = s.tail.sub("#{s.dir}/pos", "#{small}/pos").sub('refresh_interval 1s', SLOW)
    s.run(tail + s.out)
    File.write("#{small}/rest", 'x' * 10_000) rescue nil
    s.append(s.lines(1..20))
    s.ask('find')
    sleep 1 # in_tail has tried: its event loop wakes up within 0.5 s
    expect('not followed', s.ask('look')['files'], [])
    File.unlink("#{small}/rest")
    s.till('followed and delivered') { s.ask('find') && s.delivered.size == 20 }
  ensure
    system('umount', '-l', small)
  end
end
