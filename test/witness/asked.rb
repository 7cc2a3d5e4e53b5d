# ruby -r FILE test.rb: Fluentd's own tests run with a witness in their process, which is asked ten times a second.
require 'json'
require 'socket'
require 'tmpdir'
ENV['POSIDLE_DIR'] = Dir.mktmpdir('posidle-asked-')
at_exit { FileUtils.rm_rf(ENV['POSIDLE_DIR']) if Process.pid == ASKED[:pid] }
require_relative '../../src/core/witness/witness'
ASKED = { pid: Process.pid, answers: 0 }
Thread.new do
  loop do
    sleep 0.1
    socket = Dir["#{ENV['POSIDLE_DIR']}/*.sock"].first
    answer = UNIXSocket.open(socket) { |s| s.write("finish\n"); JSON.parse(s.read) }
    ASKED[:answers] += 1 if answer['v'] == 1
    ASKED[:error] = answer['error'] unless answer['error'].to_s.include?('constant Fluent::Engine') # each setup makes another one (lib/fluent/test.rb)
  rescue StandardError => e
    ASKED[:error] = e.message
  end
end
at_exit { $stderr.puts "asked: #{ASKED[:answers]} answers, #{ASKED[:error].inspect}" if Process.pid == ASKED[:pid] }
