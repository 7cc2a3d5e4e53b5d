require 'fluent/plugin/output'

# Emits its records again, as out_elasticsearch does with those that its cluster refused, and then commits the chunk.
class Fluent::Plugin::RepeatOutput < Fluent::Plugin::Output
  Fluent::Plugin.register_output('repeat', self)
  helpers :event_emitter

  def write(chunk)
    records = []
    chunk.each { |time, record| records << [time, record] }
    router.emit_stream('again', Fluent::ArrayEventStream.new(records))
  end
end
