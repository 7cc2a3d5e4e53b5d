require 'fluent/plugin/output'

# Takes nothing while the file stall is there.
class Fluent::Plugin::StallOutput < Fluent::Plugin::Output
  Fluent::Plugin.register_output('stall', self)
  config_param :dir, :string

  def process(_tag, es)
    File.write("#{@dir}/stall.waits", '') if File.exist?("#{@dir}/stall")
    sleep 0.02 while File.exist?("#{@dir}/stall")
    es.each { |_, record| File.write("#{@dir}/stalled", "#{record['message']}\n", mode: 'a') }
  end
end
