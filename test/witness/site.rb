# What the scripts beside it stand on: a real Fluentd with the witness in it, and somebody who asks.
# ruby files.rb 'title' runs the case of that title; FLUENTD is the command, GEM_HOME that of its version.
require 'fileutils'
require 'json'
require 'socket'
require 'tmpdir'
require 'timeout'

SOURCE = File.expand_path('../../src/core/witness', __dir__)
CASES = {}
def it(title, &body) # on the newest Fluentd
  CASES[title] = body
end
alias on_oldest_and_newest it # where the witness hooks methods, or reads variables, that differ; those between are like one of the two there
alias on_each_version it # where in_tail itself differs each time

class Skipped < StandardError; end

class Site
  attr_reader :dir, :logs, :witness, :pid, :version
  def initialize
    @version = ENV['FLUENTD_VERSION']
    @dir = Dir.mktmpdir('witness-')
    File.chmod(0755, @dir)
    @logs, @witness, @pids = make('logs'), make('witness/ruby') && "#{@dir}/witness", []
    @sockets = make('serverengine')
    FileUtils.cp(Dir["#{SOURCE}/*.rb"] - ["#{SOURCE}/enumerator.rb"], @witness)
    FileUtils.cp("#{SOURCE}/enumerator.rb", "#{@witness}/ruby")
  end

  def make(name)
    FileUtils.mkdir_p("#{@dir}/#{name}")
    "#{@dir}/#{name}"
  end

  def log(name = 'a.log')
    "#{@logs}/#{name}"
  end

  def append(text, name = 'a.log')
    File.write(log(name), text, mode: 'a')
  end

  def let_go(ino)
    till('let go') { Dir["/proc/#{worker}/fd/*"].none? { |fd| (File.stat(fd).ino rescue nil) == ino } }
  end

  # A log with an inode number that is free. ext4 gives the lowest one, in a directory that had it; another process may be faster.
  def again(ino, text, name)
    found = (1..10).lazy.filter_map do |round|
      FileUtils.rm(Dir[log('try*')]) if round > 1
      (1..20_000).lazy.map { |n| log("try#{n}") }.find { |f| File.write(f, '') && File.stat(f).ino == ino }
    end.first
    raise Skipped, 'the file system does not give an inode number again' unless found
    File.write(found, text)
    File.rename(found, log(name))
    FileUtils.rm(Dir[log('try*')])
  end

  def lines(numbers, width = 0)
    numbers.map { |n| "line #{n}#{' x' * width}\n" }.join
  end

  def tail(more = '', parse: '@type none', path: "#{@logs}/*.log")
    <<~CONF
      <source>
        @type tail
        path #{path}
        pos_file #{@dir}/pos
        read_from_head true
        refresh_interval 1s
        tag t
        #{more}
        <parse>
          #{parse}
        </parse>
      </source>
    CONF
  end

  # Writes what it gets to delivered, one message a line; the files block and fail beside it decide otherwise.
  def out(buffer = "flush_interval 0.2s", more = '', match: 't.**', type: 'memory')
    path = "path #{make('buffer')}" if type == 'file'
    <<~CONF
      <match #{match}>
        @type teller
        dir #{@dir}
        #{more}
        <buffer>
          @type #{type}
          #{path}
          flush_thread_interval 0.1
          retry_wait 1s
          retry_randomize false
          #{buffer}
        </buffer>
      </match>
    CONF
  end

  # One process, unless supervised: half the time of a start.
  def start(conf, args: [], supervised: false, env: {}, rubyopt: "-I#{@witness}/ruby -renumerator", wrapper: [], command: ENV['FLUENTD'])
    File.write("#{@dir}/fluent.conf", conf)
    env = { 'GEM_HOME' => ENV['FLUENTD_GEMS'], 'GEM_PATH' => ENV['FLUENTD_GEMS'], 'RUBYOPT' => rubyopt,
            'SERVERENGINE_SOCKETMANAGER_SOCK_DIR' => @sockets }.merge(env)
    command = [*wrapper, command, '-c', "#{@dir}/fluent.conf", '-I', "#{__dir__}/lib", *('--no-supervisor' unless supervised), *args]
    @pid = Process.spawn(env, *command, chdir: @dir, pgroup: true, %i[out err] => ["#{@dir}/log", 'a'])
    @pids << @pid
    @pid
  end

  # Words before a command: a root that may not pass over the permissions of others' files.
  def unprivileged
    caps = '-dac_override,-dac_read_search'
    ['setpriv', '--bounding-set', caps, '--inh-caps', caps]
  end

  # Waits for so many looks that nobody asks for; the script in `counts` counts them.
  def looks(count)
    before = File.size?(counted = "#{@dir}/looks").to_i
    till('looks', within: 120) { File.size?(counted).to_i >= before + count }
  end

  def counts
    <<~RUBY
      PosidleWitness.prepend(Module.new do
        def look(asked)
          super.tap { |done| File.write('#{@dir}/looks', '.', mode: 'a') if done && !asked }
        end
      end)
    RUBY
  end

  def run(conf, **options)
    start(conf, **options)
    ready
  end

  def sockets
    Dir["#{@witness}/*.sock"].sort
  end

  def ask(word = 'look', socket = living)
    raise Errno::ENOENT, 'no worker' unless socket
    UNIXSocket.open(socket) { |s| s.write("#{word}\n"); JSON.parse(s.read) }
  end

  def living
    sockets.reverse.find { |s| UNIXSocket.open(s).close || true rescue false }
  end

  def look(socket = nil)
    answer = socket ? ask('look', socket) : ask
    raise answer['error'] if answer['error']
    answer
  end

  # The first answer of which the block is true.
  def seen(what, within: 60)
    answer = nil
    till(what, within: within, show: -> { JSON.pretty_generate(answer) }) do
      answer = ask rescue next
      answer['error'].nil? && yield(answer) && answer
    end
  end

  def ready
    seen('ready', within: 120) { |a| a['ready'] }
  end

  def till(what, within: 60, show: -> { '' })
    stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + within
    loop do
      asked = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      found = yield
      return found if found
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      raise "not within #{within} s: #{what} #{show.call}" if now > stop
      sleep (3 * (now - asked)).clamp(0.05, 1) # an answer takes Fluentd's time
    end
  end

  def delivered
    File.exist?("#{@dir}/delivered") ? File.read("#{@dir}/delivered").lines.map(&:chomp) : []
  end

  def said
    File.read("#{@dir}/log")
  end

  def stop(signal = 'INT')
    Process.kill(signal, @pid)
    ended
  end

  def ended(within = 60)
    Timeout.timeout(within) { Process.wait2(@pid)[1] }
  end

  def last(socket = sockets.first)
    JSON.parse(File.read(socket.sub('.sock', '.end')))
  end

  def worker
    look['pid']
  end

  # Seconds that the witness's own thread has taken.
  def cpu
    task = Dir["/proc/#{@pid}/task/*"].find { |t| File.read("#{t}/comm").start_with?('posidle') }
    File.read("#{task}/stat")[/\) (.*)/, 1].split.values_at(11, 12).sum(&:to_i) / 100.0 # USER_HZ
  end

  def at_least(version)
    [@version, version].map { |v| v.split('.').map(&:to_i) }.reduce(:<=>) >= 0
  end

  def clear
    @pids.each { |pid| Process.kill('KILL', -pid) rescue nil }
    workers = sockets.map { |s| s[/-(\d+)\.sock/, 1].to_i }.select { |pid| File.binread("/proc/#{pid}/environ").include?(@dir) rescue false }
    workers.each { |pid| Process.kill('KILL', pid) rescue nil } # by now another process may have the number of one that has ended
    FileUtils.rm_rf(@dir)
  end
end

def expect(what, found, wanted = true)
  return if wanted === found
  raise "#{what}: expected #{wanted.inspect}, found #{found.inspect}"
end

at_exit do
  next if $! || CASES.empty?
  abort "no case of this title: #{ARGV[0]}" unless CASES.key?(ARGV[0])
  site, code = Site.new, 0
  begin
    CASES.fetch(ARGV[0]).call(site)
  rescue Skipped => e
    warn "skipped: #{e.message}"
    code = 77
  rescue StandardError => e
    warn e.message, e.backtrace.grep(/witness/).first(5)
    warn site.said.lines.grep(/warn|error/).last(8).join rescue nil
    code = 1
  ensure
    site.clear
    exit! code
  end
end
