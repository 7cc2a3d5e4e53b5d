# What the witness costs a Fluentd: each figure with and without it, in turns, in one run. npm run bench:witness -- --help
require_relative '../witness/site'
require 'optparse'

OPTIONS = { only: nil, starts: 200, lines: 1_000_000, files: 10_000, rounds: 3, span: 30 }
OptionParser.new do |o|
  o.banner = 'npm run bench:witness -- [options]   (FLUENTD_VERSIONS=1.20.1 for one version)'
  o.on('--only A,B', Array, 'of starts, lines, emits, warnings, rest, files, buffer') { |v| OPTIONS[:only] = v }
  o.on('--starts N', Integer, 'starts with and as many without (default 200)') { |v| OPTIONS[:starts] = v }
  o.on('--lines N', Integer, 'lines of one measurement (default 1,000,000)') { |v| OPTIONS[:lines] = v }
  o.on('--files N', Integer, 'idle files that are followed (default 10,000)') { |v| OPTIONS[:files] = v }
  o.on('--rounds N', Integer, 'pairs of one figure (default 3)') { |v| OPTIONS[:rounds] = v }
  o.on('--span N', Integer, 'seconds of one measurement at rest (default 30)') { |v| OPTIONS[:span] = v }
end.parse!

NULL = "<match **>\n @type null\n <buffer>\n flush_interval 0.5s\n </buffer>\n</match>\n".freeze
TICKS = 100.0 # USER_HZ

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def cpu(pid)
  File.read("/proc/#{pid}/stat")[/\) (.*)/, 1].split.values_at(11, 12).sum(&:to_i) / TICKS
end

def megabytes(pid)
  File.read("/proc/#{pid}/status")[/VmRSS:\s+(\d+)/, 1].to_i / 1024.0
end

def median(numbers)
  sorted = numbers.sort
  (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2.0
end

def tell(figure, facts)
  puts JSON.generate({ fluentd: ENV['FLUENTD_VERSION'], figure: figure }.merge(facts))
  $stdout.flush
end

# Fluentd with and without the witness, in turns; the block returns a Hash of numbers.
def pairs(figure, rounds)
  found = { with: [], without: [] }
  rounds.times do |round|
    (round.even? ? found.keys : found.keys.reverse).each do |how|
      site = Site.new
      begin
        found[how] << yield(site, how == :with ? {} : { rubyopt: '' })
        warn "#{how} #{found[how].last}" if rounds < 20
      ensure
        site.clear
      end
    end
  end
  found.transform_values! { |all| all[0].keys.map { |k| [k, median(all.map { |f| f[k] || 0 }).round(3)] }.to_h }
  tell(figure, found)
end

# Finer than Site#till looks: the difference is some milliseconds.
def running(site)
  stop = now + 300
  until File.exist?("#{site.dir}/log") && site.said.include?('now running')
    raise 'Fluentd does not run after 300 s' if now > stop
    sleep 0.001
  end
end

def read_whole(site, size)
  site.till('read', within: 1200) { (File.read("#{site.dir}/pos")[/\t(\h{16})\t/, 1] || '0').to_i(16) >= size rescue false }
end

# CPU seconds of Fluentd from its start until it has read the file: of a busy machine they say more than the time.
def reading(site, options, conf, lines)
  File.write(site.log, (1..lines).map { |n| "2026-11-24T00:00:00Z line number #{n} of a common length, as an application writes it\n" }.join)
  began = now
  site.start(conf, **options)
  read_whole(site, File.size(site.log))
  { cpu: cpu(site.pid), seconds: now - began }
end

FIGURES = {
  'starts' => lambda do
    pairs('starts', OPTIONS[:starts]) do |s, options|
      began = now
      s.start(s.tail + NULL, **options)
      running(s)
      { seconds: now - began, cpu: cpu(s.pid), failed: s.said.include?('[error]') ? 1 : 0 }
    end
  end,
  'lines' => lambda do
    pairs("#{OPTIONS[:lines]} lines", OPTIONS[:rounds]) { |s, o| reading(s, o, s.tail + NULL, OPTIONS[:lines]) }
  end,
  'emits' => lambda do # one emit a line
    n = OPTIONS[:lines] / 10
    pairs("#{n} lines, each an emit of its own", OPTIONS[:rounds]) { |s, o| reading(s, o, s.tail('read_lines_limit 1') + NULL, n) }
  end,
  'warnings' => lambda do
    n = OPTIONS[:lines] / 10
    pairs("#{n} lines, each a warning that is not shown", OPTIONS[:rounds]) do |s, o|
      reading(s, o, s.tail('@log_level fatal', parse: "@type regexp\n expression /^(?<n>\\d+)$/") + NULL, n)
    end
  end,
  'rest' => lambda do
    pairs("#{OPTIONS[:span]} s at rest", OPTIONS[:rounds]) do |s, o|
      s.append("a line\n")
      s.start(s.tail + NULL, **o)
      read_whole(s, 7)
      before = cpu(s.pid)
      sleep OPTIONS[:span]
      { cpu: cpu(s.pid) - before, megabytes: megabytes(s.pid) }
    end
  end,
  'files' => lambda do
    pairs("#{OPTIONS[:files]} idle files, #{OPTIONS[:span]} s", 1) do |s, o|
      OPTIONS[:files].times { |n| s.append("a line\n", "#{n}.log") }
      s.start(s.tail.sub('refresh_interval 1s', 'refresh_interval 60s') + NULL, **o)
      s.till('followed', within: 600) { File.read("#{s.dir}/pos").lines.count { |l| l.include?("\t0000000000000007\t") } >= OPTIONS[:files] rescue false }
      running(s)
      before = cpu(s.pid)
      sleep OPTIONS[:span]
      found = { cpu: cpu(s.pid) - before, megabytes: megabytes(s.pid) }
      next found if o[:rubyopt]
      own = s.cpu
      answers = (1..3).map { began = now; a = s.look; [now - began, JSON.generate(a).size, a['age'], a['gap']] }
      found.merge(answer: answers.map(&:first).max, answer_cpu: (s.cpu - own) / 3, answer_megabytes: answers[0][1] / 1e6, age: answers.map { |a| a[2] }.max, gap: answers[-1][3],
                  megabytes_then: megabytes(s.pid))
    end
  end,
  'buffer' => lambda do
    s = Site.new
    begin
      File.write("#{s.dir}/block", '')
      File.open(s.log, 'w') { |f| 500.times { f.write("#{'x' * 999}\n" * 1000) } }
      s.start(s.tail + s.out("flush_interval 0.2s\n total_limit_size 2g\n chunk_limit_size 1m", type: 'file'))
      read_whole(s, File.size(s.log))
      times = (1..3).map { began = now; [s.look['outputs'][0].values_at('bytes', 'n'), now - began] }
      tell('a buffer of 500 MB', holds: times[0][0], answer: times.map(&:last).max.round(3), megabytes: megabytes(s.pid).round)
    ensure
      s.clear
    end
  end
}.freeze

(OPTIONS[:only] || FIGURES.keys).each { |name| FIGURES.fetch(name).call }
