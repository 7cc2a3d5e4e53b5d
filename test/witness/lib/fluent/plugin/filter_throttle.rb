require 'fluent/plugin/filter'

# In the place of filter_throttle of fluent-plugin-throttle. It keeps the thread that emits for some seconds, as a full buffer does with
# `overflow_action block`.
class Fluent::Plugin::ThrottleFilter < Fluent::Plugin::Filter
  Fluent::Plugin.register_filter('throttle', self)

  def filter_stream(_tag, es)
    sleep 5
    es
  end
end
