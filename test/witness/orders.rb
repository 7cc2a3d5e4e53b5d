require_relative 'site'

SLOW = 'refresh_interval 60s'.freeze
MULTILINE = "@type multiline\n format_firstline /^begin/\n format1 /(?<message>.*)/".freeze
def slow(s, more = '', path: "#{s.logs}/*.log", **rest)
  s.tail(more, path: path, **rest).sub('refresh_interval 1s', SLOW)
end

# Fluentd follows one file, and looks for others after a minute.
def started(s, conf = slow(s), out = s.out)
  s.append(s.lines(1..10))
  s.run(conf + out)
  s.till('first lines') { s.delivered.size >= 10 }
end

def times(s)
  s.delivered.map { |line| line[/line \d+/] || line }.tally
end

def twice(s)
  times(s).select { |_, n| n > 1 }.size
end

def finished(s, count)
  s.till('the last line', show: -> { s.delivered.last(3).inspect }) { s.ask('finish') && s.delivered.size >= count }
  s.ask('finish')
  sleep 1 # a second order delivers nothing twice
  s.ask('finish')
  s.stop
  expect('each line once', [s.delivered.size, twice(s)], [count, 0])
  expect('nothing in the log of Fluentd', s.said.scan(/\[(?:error|fatal)\].*/), [])
end

on_each_version 'in_tail reads a new file at once, although it looks for new files once a minute' do |s|
  started(s)
  s.append(s.lines(11..30), 'new.log')
  s.till('found', within: 5) { s.delivered.size == 30 }
  s.stop
  expect('each line once', twice(s), 0)
end

on_each_version 'a log that is rotated each second from its first moment loses no line' do |s|
  s.run(slow(s) + s.out)
  (0..4).each do |turn|
    (1..10).each { |n| s.append("line #{turn * 10 + n} of a main that writes slowly and has long lines for a head\n"); sleep 0.1 }
    File.rename(s.log, s.log("a.log.#{turn + 1}")) if turn < 4
  end
  s.till('all', within: 10) { s.delivered.size >= 50 }
  s.stop
  expect('each line once', [s.delivered.size, twice(s)], [50, 0])
end

it 'POSIDLE_FIND=no leaves in_tail its own pace until somebody asks' do |s|
  s.append(s.lines(1..10))
  s.run(slow(s) + s.out, env: { 'POSIDLE_FIND' => 'no' })
  s.append(s.lines(11..30), 'new.log')
  s.seen('not found') { |a| a['unfound'].any? }
  sleep 2 # eight looks
  expect('not read', s.delivered.size <= 10)
  s.till('found', within: 5) { s.ask('find') && s.delivered.size == 30 }
end

on_oldest_and_newest 'a log with a date in its path is found when its time is over' do |s|
  s.run(slow(s, path: "#{s.logs}/%S.log") + s.out, env: { 'POSIDLE_FIND' => 'no' })
  name = nil
  s.seen('a dated file') do |a|
    s.append(s.lines(1..20), name = Time.now.strftime('%S.log')) if name.nil?
    a['unfound'].any?
  end
  s.till('its time is over') { Time.now.strftime('%S.log') != name }
  s.till('found', within: 5) { s.ask('find') && s.delivered.size == 20 }
end

on_oldest_and_newest 'a copy of a log that matches its path is left to in_tail' do |s|
  started(s)
  FileUtils.cp(s.log, s.log('a-20260101.log'))
  File.truncate(s.log, 0)
  sleep 1.5 # six looks
  FileUtils.rm(s.log('a-20260101.log'))
  s.append(s.lines(11..12))
  s.till('the rest') { s.delivered.size >= 12 }
  s.stop
  expect('each line once', twice(s), 0)
end

on_oldest_and_newest 'a new file that gets the name of a followed one is not read before, where the path matches any ending' do |s|
  started(s, slow(s, path: "#{s.logs}/a.log*"))
  s.append(s.lines(11..30), 'a.log.new')
  sleep 1.5 # six looks
  File.rename(s.log('a.log.new'), s.log)
  s.append(s.lines(31..32))
  s.till('all') { s.delivered.size >= 32 }
  s.stop
  expect('each line once', twice(s), 0)
end

on_oldest_and_newest 'a file in a directory of the pattern is not read before the directory has its name' do |s|
  s.make('logs/tmp1')
  s.run(slow(s, path: "#{s.logs}/*/a.log") + s.out)
  s.append(s.lines(1..20), 'tmp1/a.log')
  sleep 1.5 # six looks
  File.rename(s.log('tmp1'), s.log('job1'))
  s.append(s.lines(21..22), 'job1/a.log')
  s.till('all', within: 10) { s.ask('find') && s.delivered.size >= 22 }
  s.stop
  expect('each line once', twice(s), 0)
end

on_each_version 'a file that is found again under another name goes on at its position' do |s|
  started(s, slow(s, "rotate_wait 1s\n open_on_every_update true", path: "#{s.logs}/a.log*"))
  File.rename(s.log, s.log('a.log.1'))
  s.append(s.lines(11..15), 'a.log.1')
  s.append(s.lines(16..20))
  s.till('all', within: 30) { s.ask('find') && s.delivered.size >= 20 }
  s.stop
  expect('each line once', [s.delivered.size, twice(s)], [20, 0])
end

on_each_version 'a file with the inode number of a closed one, but other contents, is read from its beginning' do |s|
  started(s, slow(s, "rotate_wait 1s\n open_on_every_update true"))
  s.append(s.lines(11..20), 'b.log')
  s.till('b', within: 5) { s.ask('find') && s.delivered.size == 20 }
  ino = File.stat(s.log('b.log')).ino
  File.rename(s.log('b.log'), s.log('b.old'))
  s.till('closed') { s.look['closed'].any? { |c| c['inode'] == ino } }
  File.write(s.log('b.old'), s.lines(21..30), mode: 'r+') # as long as before
  File.rename(s.log('b.old'), s.log('c.log'))
  s.till('all', within: 5) { s.ask('find') && s.delivered.size >= 30 }
  s.stop
  expect('each line once', [s.delivered.size, twice(s)], [30, 0])
end

it '1,000 files at once are all found, each line once' do |s|
  started(s)
  (1..1000).each { |n| s.append("line #{n + 10} of a file of its own, whose head is not like that of another: #{n}\n", "#{n}.log") }
  s.till('all', within: 60, show: -> { s.delivered.size.to_s }) { s.ask('find') && s.delivered.size >= 1010 }
  s.stop
  expect('each line once', [s.delivered.size, twice(s)], [1010, 0])
end

it 'with follow_inodes in_tail finds a file at an order only' do |s|
  started(s, slow(s, 'follow_inodes true'))
  s.append(s.lines(11..30), 'new.log')
  sleep 1.5 # six looks
  expect('not read', s.delivered.size, 10)
  s.till('found', within: 5) { s.ask('find') && s.delivered.size == 30 }
  s.stop
  expect('each line once', twice(s), 0)
end

def finish_one(s, more = '')
  s.append(s.lines(1..20) + 'line 21')
  s.run(s.tail(more) + s.out)
  s.till('whole lines') { s.delivered.size == 20 }
  finished(s, 21)
  expect('the position is behind it', s.last['closed'].map { |f| f.values_at('pos', 'size') }.uniq, [[File.size(s.log)] * 2])
end

on_each_version('an unfinished last line is delivered once') { |s| finish_one(s) }
on_each_version('an unfinished last line is delivered once with open_on_every_update') { |s| finish_one(s, 'open_on_every_update true') }
on_oldest_and_newest('an unfinished last line is delivered once with path_key, without a watch timer') { |s| finish_one(s, "path_key path\n enable_watch_timer false") }
on_oldest_and_newest('an unfinished last line is delivered once with follow_inodes') { |s| finish_one(s, 'follow_inodes true') }

on_each_version 'the last record of a multiline source is delivered once' do |s|
  s.append("begin line 1\n two\nbegin line 2\n four\n five")
  s.run(s.tail('', parse: MULTILINE) + s.out)
  s.till('the first record') { s.delivered.size >= 1 }
  s.till('the last record', within: 5) { s.ask('finish') && s.delivered.join.include?('five') }
  s.ask('finish')
  s.stop
  expect('once', s.delivered.join.scan(/line \d/), ['line 1', 'line 2'])
end

on_oldest_and_newest 'the unfinished last line of a renamed file is delivered once' do |s|
  s.append(s.lines(1..20) + 'line 21')
  s.run(s.tail('rotate_wait 20s') + s.out)
  s.till('whole lines') { s.delivered.size == 20 }
  File.rename(s.log, s.log('a.log.1'))
  s.append(s.lines(22..23))
  s.till('the new file') { s.delivered.size == 22 }
  finished(s, 23)
end

on_oldest_and_newest 'a line is never cut in two: a file is finished only where all of it is read' do |s|
  s.append(s.lines(1..2000, 20))
  s.run(s.tail('read_bytes_limit_per_second 16384') + s.out)
  s.till('all', within: 90) { s.ask('finish') && s.delivered.size >= 2000 }
  s.stop
  expect('each line once and whole', [s.delivered.size, twice(s), s.delivered.grep_v(/\Aline \d+( x){20}\z/).size], [2000, 0, 0])
end

on_oldest_and_newest 'a full buffer keeps the last line, and a later order delivers it once' do |s|
  s.append(s.lines(1..100) + 'line 101')
  File.write("#{s.dir}/block", '')
  s.run(s.tail('open_on_every_update true') + s.out("flush_interval 0.2s\n total_limit_size 1k\n chunk_limit_size 1k\n overflow_action throw_exception"))
  s.seen('a refusal') { |a| a['heard'].any? } rescue nil
  3.times { s.ask('finish'); sleep 0.7 }
  FileUtils.rm("#{s.dir}/block")
  s.till('all', within: 30) { s.ask('finish') && s.delivered.size >= 101 }
  s.ask('finish')
  sleep 1 # it delivers nothing twice
  s.stop
  expect('each line once', [s.delivered.size, twice(s)], [101, 0])
end

it 'under a hammer of new, rotated and removed logs no line comes twice, and a loss is told' do |s|
  s.run(slow(s, 'rotate_wait 1s') + s.out)
  kinds, mutex, stop = {}, Mutex.new, Time.now + 12
  write = lambda do |kind, name, lines, pause|
    lines.times do
      n = mutex.synchronize { kinds[kinds.size] = kind; kinds.size - 1 }
      s.append("line #{n} of #{kind}, long enough to be told from the heads of all other logs here\n", name)
      sleep pause
    end
  end
  writers = (1..3).flat_map do |k|
    lives = lambda { |kind, lines, pause, &ends| Thread.new { (1..).each { |turn| Time.now > stop ? break : (write.call(kind, "#{kind}-#{k}-#{turn}.log", lines, pause); ends.call("#{kind}-#{k}-#{turn}.log")) } } }
    removed = ->(name) { sleep 0.3; FileUtils.rm(s.log(name)) }
    rotates = lambda do |kind, gap|
      Thread.new do
        (1..).each do |turn|
          break if Time.now > stop
          write.call(kind, "#{kind}-#{k}.log", 7, 0.1)
          File.rename(s.log("#{kind}-#{k}.log"), s.log("#{kind}-#{k}.log.#{turn}"))
          sleep gap
        end
      end
    end
    [lives.call('new', 10, 0.14, &removed), lives.call('burst', 10, 0.03, &->(name) { FileUtils.rm(s.log(name)) }), rotates.call('fix', 0), rotates.call('gap', 0.03)]
  end
  Timeout.timeout(60) { (sleep 0.1; s.ask('find') rescue nil) while writers.any?(&:alive?) }
  before = nil
  s.till('all is read', within: 30) { (was, before = before, s.delivered.size) && sleep(1) && was == before }
  s.stop
  found = s.delivered.map { |line| line[/line (\d+)/, 1].to_i }
  expect('twice', found.tally.select { |_, n| n > 1 }.keys.map { |n| kinds[n] }.tally, {})
  expect('no error in the log of Fluentd', s.said.scan(/\[(?:error|fatal)\].*/), [])
  lost = (kinds.keys - found).map { |n| kinds[n] }.tally
  warn "lost: #{lost} of #{kinds.values.tally}" if ENV['HAMMER']
  told = s.last.values_at('lost', 'unfound').flatten # on a machine that has no time a look may come late
  expect("told: #{told.size} files, lost: #{lost}", lost.except('burst').empty? || told.any?)
end

it 'a log that is renamed three times in a second is caught, and then all of it is read' do |s|
  s.run(slow(s) + s.out)
  (0...12).each do |turn|
    (1..4).each { |n| s.append("line #{turn * 4 + n} of a main that writes fast and has long lines for a head\n"); sleep 0.1 }
    File.rename(s.log, s.log("a.log.#{turn}"))
  end
  s.append("line 49, the last one\n")
  s.till('the last one', within: 10) { s.ask('find') && s.delivered.any? { |line| line.start_with?('line 49') } }
  s.stop
  expect('most lines, and each once', [s.delivered.size > 24, twice(s)], [true, 0])
end

it 'a file that in_tail leaves out keeps it from finishing no other one' do |s|
  s.append(s.lines(1..20) + 'line 21')
  s.run(slow(s, 'limit_recently_modified 2s') + s.out)
  s.till('whole lines') { s.delivered.size == 20 }
  s.append("left out\n", 'b.log')
  s.till('too old') { Time.now - File.mtime(s.log('b.log')) > 3 && s.look['unfound'].any? }
  s.till('the last line', within: 15) { s.ask('finish') && s.delivered.size == 21 }
end
