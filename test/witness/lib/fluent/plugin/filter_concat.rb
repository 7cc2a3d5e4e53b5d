require 'fluent/plugin/filter'

# In the place of filter_concat of fluent-plugin-concat. It keeps all records of a tag, and a timer emits them as one to timeout_label when none
# has come for flush_interval.
class Fluent::Plugin::ConcatFilter < Fluent::Plugin::Filter
  Fluent::Plugin.register_filter('concat', self)
  helpers :timer, :event_emitter
  config_param :flush_interval, :time, default: 60
  config_param :timeout_label, :string

  def start
    super
    @buffer, @last = Hash.new { |all, tag| all[tag] = [] }, {}
    timer_execute(:concat, 1) { emit_old }
  end

  def filter(tag, _time, record)
    @buffer[tag] << record['message']
    @last[tag] = Fluent::EventTime.now
    nil
  end

  def emit_old
    @buffer.keys.each do |tag|
      next if Fluent::EventTime.now - @last[tag] < @flush_interval
      lines = @buffer.delete(tag)
      event_emitter_router(@timeout_label).emit(tag, Fluent::EventTime.now, 'message' => lines.join("\n"))
    end
  end
end
