require_relative 'site'

# Somebody who asks without a pause, while the block runs.
def asked(s)
  going, answers = true, 0
  asker = Thread.new { while going; (s.ask; answers += 1) rescue sleep(0.01); end }
  yield
ensure
  going = false
  asker.join
end

def ends_by(signal, s)
  s.append(s.lines(1..100))
  s.run(s.tail + s.out, supervised: true)
  pid, socket = s.worker, s.living
  expect('exit', asked(s) { s.stop(signal) }.exitstatus, 0)
  last = s.last(socket)
  expect('the last report', last.values_at('v', 'pid', 'final', 'error'), [1, pid, true, nil])
  expect('read whole', last['closed'].map { |f| f['size'] - f['pos'] }, [0])
  expect('nothing left', last['ends'].map { |o| o['chunks'] }, [[]])
  expect('delivered', s.delivered.size, 100)
  begin
    UNIXSocket.open(socket)
    raise 'its socket answers'
  rescue Errno::ECONNREFUSED
    nil
  end
end

on_oldest_and_newest 'a stop by SIGINT while it is asked ends with a clean last report' do |s|
  ends_by('INT', s)
end

it 'whoever finds its socket finds somebody there' do |s|
  env = { 'RUBYOPT' => "-I#{s.witness}/ruby -renumerator" }
  births = 4.times.map do |n|
    Thread.new do
      dir = s.make("births#{n}")
      10.times.count do
        known = Dir["#{dir}/*.sock"]
        pid = Process.spawn(env.merge('POSIDLE_DIR' => dir), 'ruby', '-e', 'sleep', '--', '--under-supervisor')
        begin
          nil until (born = (Dir["#{dir}/*.sock"] - known).first)
          UNIXSocket.open(born).close
        rescue Errno::ECONNREFUSED
          true
        ensure
          Process.kill('KILL', pid)
          Process.wait(pid)
        end
      end
    end
  end
  expect('refused', births.sum(&:value), 0)
end

it 'a process that goes on as another program leaves one birth' do |s|
  env = { 'RUBYOPT' => "-I#{s.witness}/ruby -renumerator" }
  again = ['-e', 'exec("ruby", "-e", "puts; $stdout.flush; sleep", "--", "--under-supervisor")']
  IO.popen(env, ['ruby', *again, '--', '--under-supervisor']) do |program|
    program.gets
    Process.kill('KILL', program.pid)
    expect('births', s.sockets.map { |socket| socket[/-(\d+)\.sock/, 1].to_i }, [program.pid])
  end
end

it 'whoever finds nobody at its socket finds its last report' do |s|
  s.append(s.lines(1..100))
  s.run(s.tail + s.out)
  socket = s.living
  Process.kill('INT', s.pid)
  Timeout.timeout(60) { loop { UNIXSocket.open(socket).close } } rescue expect('gone', $!, Errno::ECONNREFUSED)
  expect('final', s.last(socket)['final'])
  s.ended
end

it 'a stop by SIGTERM while it is asked ends with a clean last report' do |s|
  ends_by('TERM', s)
end

on_oldest_and_newest 'SIGUSR2 is told as a reload before 1.18, and as a clean end and another worker since' do |s|
  s.append(s.lines(1..3))
  s.run(s.tail + s.out, supervised: true)
  socket, pid = s.living, s.worker
  Process.kill('USR2', s.pid)
  if s.at_least('1.18')
    s.till('two workers run', within: 120) { s.said.scan('worker is now running').size == 2 && s.said.include?('done all sequences') }
    # The new supervisor passes SIGWINCH on once, and a worker that starts later waits for ever (supervisor.rb).
    s.seen('another worker', within: 120) { |a| a['pid'] != pid && (a['ready'] || (Process.kill('WINCH', a['pid']) && nil)) }
    s.till('the last report', within: 120) { File.exist?(socket.sub('.sock', '.end')) && s.last(socket)['final'] }
  else
    found = s.seen('a reload', within: 120) { |a| a['ends'].any? && a['ready'] }
    expect('the former output', found['ends'].map { |o| o['chunks'] }, [[]])
  end
end

on_oldest_and_newest 'a reload leaves in the last report the plugins that ended, and none that Fluentd made only to check the configuration' do |s|
  s.append(s.lines(1..3))
  s.run(s.tail + s.out)
  Process.kill('USR2', s.pid)
  s.seen('a reload', within: 120) { |a| a['ends'].any? && a['ready'] }
  s.stop
  expect('the outputs', s.last['outputs'].map { |o| o['type'] }.uniq, ['teller']) # the former one may be collected
  expect('the inputs', s.last['plugins'].map { |p| p['class'] }, ['Fluent::Plugin::TailInput'])
end

on_oldest_and_newest 'the words flush and stop do what SIGUSR1 and SIGINT do, and every other word nothing' do |s|
  s.append(s.lines(1..50))
  s.run(s.tail + s.out('flush_interval 300s'), supervised: true)
  s.seen('staged') { |a| a['outputs'].any? { |o| o['n'] == 1 } }
  expect('another word', s.ask('destroy'), { 'v' => 1, 'error' => 'unknown word' })
  expect('flush', s.ask('flush'), { 'v' => 1, 'done' => 'flush' })
  s.till('delivered') { s.delivered.size == 50 }
  expect('stop', s.ask('stop'), { 'v' => 1, 'done' => 'stop' })
  expect('exit', s.ended.exitstatus, 0)
  expect('final', s.last['final'])
end

it 'a flush while a reload still configures its plugins does not keep them from their start' do |s|
  File.write("#{s.dir}/slow.rb", <<~RUBY)
    require 'fluent/plugin/output'
    Fluent::Plugin::Output.prepend(Module.new do
      def configure(conf)
        sleep 2 if File.exist?('#{s.dir}/slow')
        super
      end
    end)
  RUBY
  s.run(s.tail + s.out, args: ['-r', "#{s.dir}/slow.rb"])
  File.write("#{s.dir}/slow", '')
  File.write("#{s.witness}/ending", '')
  Process.kill('USR2', s.pid)
  s.seen('a reload', within: 120) { |a| a['ends'].any? && a['ready'] }
  s.append(s.lines(1..3))
  s.till('delivered') { s.delivered.size == 3 }
end

it 'an ending Pod adds a chunk to a queue only once it is empty, however often it asks' do |s|
  File.write("#{s.dir}/block", '')
  s.run(s.tail + s.out('flush_interval 300s'))
  File.write("#{s.witness}/ending", '')
  (1..6).each do |n|
    s.append("line #{n}\n")
    s.seen('read') { |a| a['lines'] == n }
    sleep 1.2 # longer than from one flush to the next
  end
  expect('sent, queued and staged', s.look['outputs'][0]['n'], 1..3)
  File.delete("#{s.dir}/block")
  s.till('delivered') { s.delivered.size == 6 }
end

it 'a supervisor that takes its time finds its worker alive, so that it stops it and starts no other one' do |s|
  s.run(s.tail + s.out, supervised: true)
  Process.kill('STOP', s.pid)
  s.ask('stop')
  sleep 2 # as long as a worker needs to end
  s.look
  Process.kill('CONT', s.pid)
  expect('exit', s.ended.exitstatus, 0)
  expect('births', s.sockets.size, 1)
end

on_oldest_and_newest 'a worker that fails before an input has started leaves a last report, and a later one leaves none' do |s|
  File.write("#{s.dir}/fails.rb", <<~RUBY)
    %w[output input].each do |kind|
      require "fluent/plugin/\#{kind}"
      fails = Class.new(Fluent::Plugin.const_get(kind.capitalize)) { def start; super; raise 'no'; end; def write(_); end }
      Fluent::Plugin.const_set("Fails\#{kind.capitalize}", fails)
      Fluent::Plugin.public_send("register_\#{kind}", 'fails', fails)
    end
  RUBY
  s.append(s.lines(1..3))
  { "<match x>\n @type fails\n</match>\n" => true, "<source>\n @type fails\n</source>\n" => false }.each do |fails, told|
    s.start(fails + s.tail + s.out, args: ['-r', "#{s.dir}/fails.rb"])
    expect('exit', s.ended.exitstatus, 1)
    expect('a last report', File.exist?(s.sockets.last.sub('.sock', '.end')), told)
  end
  expect('what it says', s.last.values_at('final', 'ready', 'error'), [true, false, nil])
end

it 'the time in which a worker stood still before its stop is a gap' do |s|
  s.run(s.tail + s.out)
  s.ask # a look since it is ready
  Process.kill('STOP', s.pid)
  sleep 3 # the gap
  Process.kill('INT', s.pid)
  s.stop('CONT')
  expect('the gap', s.last['gap'], 3..60)
end

it 'the time that two looks take counts as well: a file may be made behind one, and go before the next sees it' do |s|
  File.write("#{s.dir}/slow.rb", <<~R)
    Dir.singleton_class.prepend(Module.new { def glob(*all, **named); sleep 3 if File.exist?('#{s.dir}/slow'); super; end })
    #{s.counts}
  R
  s.start(s.tail + s.out, args: ['-r', "#{s.dir}/slow.rb"])
  s.ready
  File.write("#{s.dir}/slow", '')
  s.looks(3) # the first may have begun before
  File.delete("#{s.dir}/slow")
  expect('the gap', s.ask['gap'], 5..20)
end

it 'a stop that takes its time is no gap between two looks: in_tail lets go of all' do |s|
  File.write("#{s.dir}/block", '')
  s.append("one\n")
  s.run(s.tail + s.out)
  s.till('it holds the stop up') { File.exist?("#{s.dir}/block.waits") }
  Process.kill('INT', s.pid)
  s.till('it stops') { s.said.include?('worker is now stopping') }
  before = s.ask['gap'] # it has looked since then
  Process.kill('STOP', s.pid)
  sleep 2
  Process.kill('CONT', s.pid)
  File.delete("#{s.dir}/block")
  expect('exit', s.ended.exitstatus, 0)
  expect('the gap', s.last['gap'], before)
end

it 'while Fluentd configures it is not ready, and is neither flushed nor stopped' do |s|
  s.start("<source>\n @type slow\n go #{s.dir}/go\n</source>\n" + s.tail + s.out)
  s.till('it configures', within: 120) { File.exist?("#{s.dir}/go.waits") }
  expect('ready', s.till('an answer') { s.ask rescue nil }['ready'] || false, false)
  expect('stop', s.ask('stop').keys, %w[v error])
  File.write("#{s.dir}/go", '')
  s.ready
end

it 'a worker that waits for SIGWINCH is not ready, and can be stopped' do |s|
  s.start(s.tail + s.out, env: { 'FLUENT_RUNNING_IN_PARALLEL_WITH_OLD' => '1' }) # as SIGUSR2 starts it
  s.till('it runs', within: 120) { s.said.include?('worker is now running') }
  expect('ready', s.look['ready'], false)
  s.till('told to stop') { s.ask('stop') == { 'v' => 1, 'done' => 'stop' } }
  expect('exit', s.ended.exitstatus, 0)
  expect('final', s.last['final'], true)
end

it 'each of four workers answers for itself, and stop ends all' do |s|
  s.start("<system>\n workers 4\n</system>\n<worker 0>\n#{s.tail}</worker>\n" + s.out, supervised: true)
  s.till('four workers', within: 120) { s.sockets.size == 4 && s.sockets.all? { |k| s.ask('look', k)['ready'] rescue false } }
  s.append("one\n")
  s.till('delivered') { s.delivered == ['one'] }
  answers = s.sockets.map { |k| s.look(k) }
  expect('pids', answers.map { |a| a['pid'] }.uniq.size, 4)
  expect('which one, of how many', answers.map { |a| a.values_at('worker', 'workers') }.sort, [[0, 4], [1, 4], [2, 4], [3, 4]])
  expect('files', answers.map { |a| a['files'].size }.sort, [0, 0, 0, 1])
  s.sockets.map { |k| Thread.new { s.ask('stop', k) rescue nil } }.each(&:join) # as posidle does
  expect('exit', s.ended.exitstatus, 0)
  expect('final', s.sockets.map { |k| s.last(k)['final'] }, [true] * 4)
end

it 'children of in_exec and out_exec that are Ruby do not answer in the place of a worker' do |s|
  s.append("a line\n")
  s.run("<source>\n @type exec\n command ruby -e 'puts %({\"message\":\"from a child\"})'\n tag c.exec\n run_interval 1s\n <parse>\n @type json\n </parse>\n</source>\n" +
        "<match t>\n @type exec\n command ruby -e 'File.write(%q(#{s.dir}/ran), 1)'\n <format>\n @type json\n </format>\n <buffer>\n flush_interval 0.2s\n </buffer>\n</match>\n" +
        s.tail + s.out(match: 'c.**'))
  s.till('both children ran') { s.delivered.include?('from a child') && File.exist?("#{s.dir}/ran") }
  expect('sockets', s.sockets.size, 1)
  expect('the worker', s.worker, s.pid)
end

it 'a dry run leaves no birth' do |s|
  s.start(s.tail + s.out, supervised: true, args: ['--dry-run'])
  expect('exit', s.ended.exitstatus, 0)
  expect('sockets', s.sockets, [])
end

# A process of this Pod that is no worker.
def ruby(s, *words)
  env = { 'RUBYOPT' => "-I#{s.witness}/ruby -renumerator" }
  IO.popen(env, ['ruby', *words]) { |io| yield io }
end

def lives?(s)
  File.open("#{s.witness}/lives", File::WRONLY | File::NONBLOCK).close
  true
rescue Errno::ENXIO
  false
end

it 'a FIFO has a reader as long as a Ruby process of the container lives, with a worker or without' do |s|
  ruby(s, '-e', 'puts; $stdout.flush; sleep') { |io| io.gets; expect('lives', lives?(s)); Process.kill('KILL', io.pid) }
  expect('has ended', !lives?(s))
  expect('another user may open it', File.stat("#{s.witness}/lives").mode & 0777, 0666)
  s.run(s.tail + s.out, supervised: true)
  Process.kill('KILL', killed = s.worker)
  expect('its supervisor lives', lives?(s))
  s.seen('another worker') { |a| a['ready'] && a['pid'] != killed } # a stop before may not reach it
  s.stop('INT')
  expect('all have ended', !lives?(s))
end

it 'a link or a file in the place of the FIFO changes nothing' do |s|
  target = "#{s.dir}/target"
  File.write(target, 'kept')
  File.chmod(0600, target)
  File.symlink(target, "#{s.witness}/lives")
  s.run(s.tail + s.out)
  expect('the target', [File.read(target), File.stat(target).mode & 0777], ['kept', 0600])
  expect('it answers', s.look['ready'])
end

it 'it flushes no more once Fluentd stops, which has closed its buffers then' do |s|
  File.write("#{s.dir}/block", '')
  File.write("#{s.dir}/counts.rb", <<~RUBY)
    require 'fluent/plugin/buffer'
    Fluent::Plugin::Buffer.prepend(Module.new do
      def enqueue_all(force = false)
        File.write('#{s.dir}/flushes', '.', mode: 'a') if force
        super
      end
    end)
  RUBY
  flushes = -> { File.size?("#{s.dir}/flushes").to_i }
  s.append("one\n")
  s.run(s.tail + s.out, args: ['-r', "#{s.dir}/counts.rb"])
  s.till('it holds the stop up') { File.exist?("#{s.dir}/block.waits") }
  File.write("#{s.witness}/ending", '')
  s.till('flushes, one each second') { flushes.call > 1 }
  Process.kill('INT', s.pid)
  s.till('it stops') { s.said.include?('shutting down') }
  before = flushes.call
  sleep 2.5
  expect('flushes, of which one is Fluentd\'s own', flushes.call - before, 0..1)
  File.delete("#{s.dir}/block")
  expect('exit', s.ended.exitstatus, 0)
end

on_oldest_and_newest 'an output that hangs holds up no flush of another one' do |s|
  other = s.make('other')
  s.run(s.tail('', path: s.log) + s.tail('', path: s.log('b.log')).sub("#{s.dir}/pos", "#{s.dir}/pos2").sub('tag t', 'tag u') +
        s.out("flush_interval 300s\n chunk_limit_records 1", match: 't') + s.out('flush_interval 300s', match: 'u').sub("dir #{s.dir}", "dir #{other}"))
  File.write("#{s.dir}/block", '')
  s.append(s.lines(1..3))
  s.seen('read') { |a| a['lines'] == 3 }
  s.ask('flush')
  s.till('hangs') { File.exist?("#{s.dir}/block.waits") }
  s.append("other\n", 'b.log')
  s.seen('read') { |a| a['lines'] == 4 }
  s.ask('flush')
  s.till('the other one is sent') { File.exist?("#{other}/delivered") }
  expect('this one is not', s.delivered, [])
  File.delete("#{s.dir}/block")
  s.till('delivered') { s.delivered.size == 3 }
end

it 'a flush that is asked for while another one waits for its output comes after that' do |s|
  s.append("one\n")
  File.write("#{s.dir}/block", '')
  s.run(s.tail + s.out('flush_interval 300s'))
  s.seen('read') { |a| a['lines'] == 1 }
  s.ask('flush')
  s.till('hangs') { File.exist?("#{s.dir}/block.waits") }
  s.append("two\n")
  s.seen('read') { |a| a['lines'] == 2 }
  s.ask('flush')
  File.delete("#{s.dir}/block")
  s.till('delivered') { s.delivered.size == 2 }
end

it 'a flush ends the threads that flushed the outputs before a reload' do |s|
  s.append("one\n")
  s.run(s.tail + s.out('flush_interval 300s'))
  s.seen('read') { |a| a['lines'] == 1 }
  s.ask('flush')
  s.till('flushed') { s.delivered.size == 1 }
  threads = -> { Dir["/proc/#{s.pid}/task/*"].size }
  before = threads.call
  [1, 2].each do |ends|
    Process.kill('USR2', s.pid)
    s.seen('a reload', within: 120) { |a| a['ends'].size == ends && a['ready'] }
    s.ask('flush')
  end
  s.till('as many as before') { threads.call <= before }
end

it 'while the mark that the Pod ends is there, it flushes each second' do |s|
  s.append(s.lines(1..10))
  s.run(s.tail + s.out('flush_interval 300s', type: 'file'))
  s.seen('read') { |a| a['files'].any? { |f| f['pos'] == f['size'] } }
  expect('nothing is sent', s.delivered.size, 0)
  File.write("#{s.witness}/ending", '')
  s.till('the first lines') { s.delivered.size == 10 }
  s.append(s.lines(11..20))
  s.till('the later ones') { s.delivered.size == 20 }
end

it 'it says whether the first process of its container takes SIGTERM' do |s|
  raise Skipped, 'tini is not installed' unless system('tini --version', %i[out err] => File::NULL)
  raise Skipped, 'only root can make a PID namespace' unless Process.uid == 0
  space = %w[unshare --fork --pid --mount-proc --kill-child]
  first = { [] => true, ['sh', '-c', '"$@"; exit $?', 'sh'] => false, ['tini', '--'] => true }
  first.each do |words, takes|
    one = Site.new
    one.run(one.tail + one.out, wrapper: space + words)
    expect(words.first || 'Fluentd', one.look['sigterm'], takes)
  ensure
    one.clear
  end
end
