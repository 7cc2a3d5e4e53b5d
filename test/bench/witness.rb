# What the witness costs a Fluentd: each figure with and without it, in turns, in one run. npm run bench:witness -- --help
require_relative '../witness/site'
require 'optparse'

OPTIONS = { only: nil, lines: 1_000_000, files: 10_000, rounds: 3, span: 30 }
OptionParser.new do |o|
  o.banner = 'npm run bench:witness -- [options]   (FLUENTD_VERSIONS=1.20.1 for one version)'
  o.on('--only A,B', Array, 'of lines, rest, files') { |v| OPTIONS[:only] = v }
  o.on('--lines N', Integer, 'lines of one measurement (default 1,000,000)') { |v| OPTIONS[:lines] = v }
  o.on('--files N', Integer, 'idle files that are followed (default 10,000)') { |v| OPTIONS[:files] = v }
  o.on('--rounds N', Integer, 'pairs of one figure (default 3)') { |v| OPTIONS[:rounds] = v }
  o.on('--span N', Integer, 'seconds of one measurement at rest (default 30)') { |v| OPTIONS[:span] = v }
end.parse!

# As other outputs have it: the chunks of out_null are so small that each batch makes a warning.
NULL = "<match **>\n @type null\n <buffer>\n chunk_limit_size 8MB\n flush_interval 0.5s\n </buffer>\n</match>\n".freeze
TICKS = 100.0 # USER_HZ

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

# Fluentd with and without the witness, in turns; the block returns a Hash of numbers.
def pairs(figure, rounds)
  found = { with: [], without: [] }
  rounds.times do |round|
    (round.even? ? found.keys : found.keys.reverse).each do |how|
      site = Site.new
      begin
        found[how] << yield(site, how == :with ? {} : { rubyopt: '' })
        warn "#{how} #{found[how].last}"
      ensure
        site.clear
      end
    end
  end
  found.transform_values! { |all| all[0].keys.map { |k| [k, median(all.map { |f| f[k] }).round(3)] }.to_h }
  puts JSON.generate({ fluentd: ENV['FLUENTD_VERSION'], figure: figure }.merge(found))
  $stdout.flush
end

def read_whole(site, size)
  site.till('read', within: 1200) { (File.read("#{site.dir}/pos")[/\t(\h{16})\t/, 1] || '0').to_i(16) >= size rescue false }
end

FIGURES = {
  'lines' => lambda do # CPU seconds from the start until all is read: of a busy machine they say more than the time
    pairs("#{OPTIONS[:lines]} lines", OPTIONS[:rounds]) do |s, o|
      File.write(s.log, (1..OPTIONS[:lines]).map { |n| "2026-11-24T00:00:00Z line number #{n} of a common length, as an application writes it\n" }.join)
      s.start(s.tail + NULL, **o)
      read_whole(s, File.size(s.log))
      { cpu: cpu(s.pid) }
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
      before = cpu(s.pid)
      sleep OPTIONS[:span]
      { cpu: cpu(s.pid) - before, megabytes: megabytes(s.pid) }
    end
  end
}.freeze

(OPTIONS[:only] || FIGURES.keys).each { |name| FIGURES.fetch(name).call }
