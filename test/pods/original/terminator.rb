interval = Integer(ENV.fetch('INTERVAL', '60'))
pos_file = '/var/log/fluentd/app.pos'

before = nil
loop do
  sleep interval
  now = File.exist?(pos_file) ? File.read(pos_file) : nil
  break if now && !now.empty? && now == before
  before = now
end
system('pkill', '-INT', 'fluentd')
