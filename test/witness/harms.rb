require_relative 'site'

def works(s)
  s.append("a line\n")
  s.till('delivered', within: 120) { s.delivered.include?('a line') }
  expect('ends', s.stop.exitstatus, 0)
end

KNOWN = 'print [$LOADED_FEATURES, global_variables.sort, Gem.loaded_specs.keys]'.freeze

def ruby(s, *args)
  out = IO.popen({ 'RUBYOPT' => "-I#{s.witness}/ruby -renumerator" }, ['ruby', *args], err: [:child, :out], &:read)
  expect("ruby #{args.join(' ')}: #{out}", $?.exitstatus, 0)
  out
end

it 'where a file of it is missing, empty, cut off, broken or unreadable every Ruby starts as ever' do |s|
  parts = %w[files.rb orders.rb receipts.rb witness.rb].map { |name| ["#{s.witness}/#{name}", name] }.to_h
  parts["#{s.witness}/ruby/enumerator.rb"] = 'enumerator.rb'
  worker = ['-e', '$stdout.print 1', '--', '--under-supervisor']
  parts.each do |path, name|
    whole = File.read("#{SOURCE}/#{name}")
    File.delete(path)
    expect('missing', ruby(s, *worker), '1')
    wrongs = name != 'enumerator.rb' ? ['', whole[0, whole.size / 2], "raise 'no'", "\xFF\x00".b] : ['']
    wrongs.each do |wrong|
      File.write(path, wrong)
      expect('wrong', ruby(s, *worker), '1')
    end
    File.delete(path)
    Dir.mkdir(path)
    expect('a directory', ruby(s, *worker), '1')
    Dir.rmdir(path)
    File.write(path, whole)
  end
  FileUtils.rm_rf("#{s.witness}/ruby")
  expect('without the directory', ruby(s, '-e', '$stdout.print 1'), '1')
end

it 'beside the YJIT of Ruby 3.1, which crashes under a TracePoint, it stands down' do |s|
  raise Skipped, 'this Ruby is another one' unless RUBY_VERSION.start_with?('3.1') && system('ruby --yjit -e 1')
  worker = ['-e', 'print defined?(PosidleWitness).inspect', '--', '--under-supervisor']
  expect('without it', ruby(s, *worker), '"constant"')
  expect('with it', ruby(s, '--yjit', *worker), 'nil')
end

it 'where the directory is missing a Ruby loads what it loads without the option' do |s|
  plain = IO.popen({ 'RUBYOPT' => nil }, ['ruby', '-e', KNOWN], &:read)
  FileUtils.rm_rf(s.witness)
  expect('known', ruby(s, '-e', KNOWN), plain)
end

it 'who requires enumerator gets what is built in, also without gems, with warnings and with the option given twice' do |s|
  use = 'print [1].each.next, require("enumerator")'
  expect('plain', ruby(s, '-e', use), '1false')
  expect('required', ruby(s, '-renumerator', '-e', use), '1false')
  expect('without gems', ruby(s, '--disable-gems', '-e', use), '1false')
  expect('twice', ruby(s, "-I#{s.witness}/ruby", '-renumerator', '-e', use), '1false')
  expect('with warnings', ruby(s, '-w', '-e', use), '1false')
  File.symlink(s.witness, "#{s.dir}/link")
  expect('by another name', ruby(s, "-I#{s.dir}/link/ruby", '-renumerator', '-e', use), '1false')
  FileUtils.cp_r(s.witness, "#{s.dir}/second")
  expect('of two witnesses', ruby(s, "-I#{s.dir}/second/ruby", '-renumerator', '-e', use), '1false')
end

on_oldest_and_newest 'beside the words of others in RUBYOPT it answers, and theirs hold, also where Bundler adds its own' do |s|
  File.write("#{s.make('others')}/theirs.rb", <<~RUBY) # patches what the injections of OpenTelemetry and Datadog patch
    require 'net/http'
    [Net::HTTP, Process.singleton_class, Thread, Kernel].zip(%i[request _fork initialize at_exit]) do |where, name|
      where.prepend(Module.new { define_method(name) { |*args, &block| super(*args, &block) } })
    end
    Thread.new { sleep }
    File.write('#{s.dir}/theirs', [Warning[:deprecated], $-w].inspect)
  RUBY
  theirs = "-W:no-deprecated -I#{s.dir}/others -r#{s.dir}/others/theirs.rb"
  File.write("#{s.dir}/Gemfile", "source 'https://rubygems.org'\ngem 'fluentd', '#{s.version}'\n")
  bundled = { wrapper: %w[bundle exec], command: 'fluentd', env: { 'BUNDLE_GEMFILE' => "#{s.dir}/Gemfile" } }
  has_bundler = !File.exist?("#{ENV['FLUENTD_GEMS']}/bin/ruby") # Debian's other Rubies have none
  [{}, (bundled if has_bundler)].compact.each do |options|
    s.run(s.tail + s.out, rubyopt: "-I#{s.witness}/ruby -renumerator #{theirs}", **options)
    expect('theirs', File.read("#{s.dir}/theirs"), '[false, false]')
    expect('nothing is wrong', s.look['error'], nil)
    works(s)
    %w[theirs delivered pos].each { |name| FileUtils.rm_f("#{s.dir}/#{name}") }
  end
end

it 'of two witnesses in one RUBYOPT the first one answers' do |s|
  FileUtils.cp_r(s.witness, "#{s.dir}/second")
  options = [s.witness, "#{s.dir}/second"].map { |dir| "-I#{dir}/ruby -renumerator" }
  s.start(s.tail + s.out, rubyopt: options.join(' '))
  works(s)
  expect('sockets', Dir["#{s.dir}/second/*.{sock,end}"], [])
end

it 'nothing is required before Fluentd has chosen its gems, and no gem ever' do |s|
  shown = ruby(s, '-e', 'Dir.chdir(ENV["HOME"] || "/"); print Gem.loaded_specs.keys.sort.join(" ")', '--', '--under-supervisor')
  plain = IO.popen(['ruby', '-e', 'print Gem.loaded_specs.keys.sort.join(" ")'], &:read)
  expect('gems', shown, plain)
  expect('json', ruby(s, '-e', 'print $LOADED_FEATURES.grep(/json|set\.rb/).size', '--', '--under-supervisor'), '0')
end

it "a directory that is read-only, missing, another user's or too deep for a name of a socket makes it stand down" do |s|
  deep, others = s.make("deep/#{'d' * 110}"), s.make('others')
  File.chmod(0700, others)
  File.chown(65_534, 65_534, others) rescue raise Skipped, 'no right to give a file away'
  [["#{s.dir}/none"], [deep], ['/proc'], [others, s.unprivileged]].each do |dir, wrapper|
    FileUtils.rm_f("#{s.dir}/delivered")
    s.start(s.tail + s.out, env: { 'POSIDLE_DIR' => dir }, wrapper: wrapper.to_a)
    works(s)
    expect('sockets', s.sockets + Dir["#{deep}/*.sock"] + Dir["#{others}/*"], [])
  end
  expect('errors', s.said.scan('[error]').size, 0)
end

it 'a directory that is full after the birth costs the last report only' do |s|
  dir = s.make('full')
  raise Skipped, 'no right to mount' unless system('mount', '-t', 'tmpfs', '-o', 'size=4k,mode=777', 'none', dir, err: File::NULL)
  begin
    s.start(s.tail + s.out, env: { 'POSIDLE_DIR' => dir })
    socket = s.till('a birth', within: 120) { Dir["#{dir}/*.sock"].first }
    s.till('ready', within: 120) { s.ask('look', socket)['ready'] }
    File.write("#{dir}/rest", 'x' * 10_000) rescue nil
    works(s)
    expect('a whole last report or none', Dir["#{dir}/*.end"].all? { |f| JSON.parse(File.read(f)) })
  ensure
    system('umount', '-l', dir)
  end
end

it 'clients that are silent, never read, send without end or leave hold nobody up for more than 3 seconds' do |s|
  40.times { |n| s.append(s.lines(1..20), "many#{n}.log") }
  s.run(s.tail + s.out)
  silent = UNIXSocket.new(s.living)
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  s.look
  expect('after a silent one', Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, 0..3)
  missing = UNIXSocket.new(s.living)
  missing.setsockopt(:SOCKET, :RCVBUF, 1)
  missing.write("look\n")
  endless = UNIXSocket.new(s.living)
  sender = Thread.new { loop { endless.write('x' * 10_000) } rescue nil }
  UNIXSocket.new(s.living).tap { |c| c.write("look\n") }.close
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  s.look
  expect('after all', Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, 0..3)
  sender.kill
  rss = File.read("/proc/#{s.worker}/status")[/VmRSS:\s+(\d+)/, 1].to_i
  expect('memory in kB', rss, 0..200_000)
  [silent, missing, endless].each(&:close)
  works(s)
end

it 'links from a log directory to itself and long names of digits keep nobody waiting' do |s|
  s.append("a line\n")
  s.run(s.tail + s.out)
  1500.times { |n| File.symlink('.', s.log("link#{n}")) }
  100.times { |n| File.write(s.log("#{'1' * 240}x#{n}.txt"), 'a') }
  before = s.cpu
  expect('no sibling', s.look['siblings'], [])
  expect('seconds of CPU', s.cpu - before, 0..2)
end

it 'a plugin whose path is no text in any encoding is loaded as ever' do |s|
  plugins = s.make("\xE9".b)
  File.write("#{plugins}/filter_own.rb", "require 'fluent/plugin/filter'\nclass OwnFilter < Fluent::Plugin::Filter\n" \
    "  Fluent::Plugin.register_filter('own', self)\n  def filter(_, _, record); record; end\nend\n")
  s.run(s.tail + "<filter t>\n @type own\n</filter>\n" + s.out, args: ['-p', plugins], env: { 'LC_ALL' => 'C' })
  works(s)
end

it 'when no file descriptor is left nobody is answered, and everybody again once there are some' do |s|
  File.write("#{s.dir}/go", '')
  s.append("before\n") # in_tail looks for new files no more after such a moment ("Timer detached"), with or without a witness
  rare = s.tail.sub('refresh_interval 1s', 'refresh_interval 600s') + s.out
  s.start("<source>\n @type slow\n go #{s.dir}/go\n</source>\n" + rare, wrapper: ['sh', '-c', 'ulimit -n 100; exec "$0" "$@"'])
  s.ready
  File.write("#{s.dir}/go.eat", '')
  s.till('none left') { Dir["/proc/#{s.pid}/fd/*"].size >= 100 }
  UNIXSocket.open(s.sockets[0]) { |c| c.write("look\n"); expect('an answer', IO.select([c], nil, nil, 1), nil) }
  File.delete("#{s.dir}/go.eat")
  s.seen('an answer') { |a| a['ready'] }
  works(s)
end

it 'under files that are made, rotated and deleted without end and clients that never pause no line is lost' do |s|
  s.run(s.tail('rotate_wait 1s') + s.out)
  going, answers = true, 0
  askers = (1..2).map { Thread.new { while going; (s.ask; answers += 1) rescue sleep(0.01); end } }
  total = 0
  6.times do |round|
    names = (0...80).map { |n| "f#{round}-#{n}.log" }
    names.each { |n| s.append(s.lines((total += 1)..total), n) }
    s.till('delivered', within: 120) { s.delivered.size >= total }
    names.each_slice(2) { |a, b| File.rename(s.log(a), s.log("#{a}.1")) && File.delete(s.log(b)) }
  end
  going = false
  askers.each(&:join)
  expect('lines', s.delivered.uniq.size, total)
  expect('answers', answers > 10)
  found = s.look
  expect('lost', found['lost'], [])
  expect('unread', (found['files'] + found['closed']).count { |f| f['pos'] < f['size'].to_i }, 0)
  expect('raised', s.said.scan(/can't add a new key|\[error\]/).size, 0)
end

on_oldest_and_newest 'under a bundle it starts, whichever of the two Ruby loads first' do |s|
  File.write("#{s.dir}/Gemfile", "source 'https://rubygems.org'\ngem 'fluentd', '#{s.version}'\n")
  ours = "-I#{s.witness}/ruby -renumerator"
  ["-rbundler/setup #{ours}", "#{ours} -rbundler/setup"].each do |options|
    FileUtils.rm_f("#{s.dir}/delivered")
    s.start(s.tail + s.out, env: { 'BUNDLE_GEMFILE' => "#{s.dir}/Gemfile" }, rubyopt: options)
    s.ready
    works(s)
  end
end
