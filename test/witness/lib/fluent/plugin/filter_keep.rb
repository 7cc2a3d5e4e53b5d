require 'fluent/plugin/filter'

module Fluent
  module Plugin
    # Holds records outside any buffer, as concat does.
    class KeepFilter < Filter
      Fluent::Plugin.register_filter('keep', self)
      config_param :reserve_data, :bool, default: true

      def configure(conf)
        super
        @buffer = Hash.new { |h, k| h[k] = [] }
      end

      def filter(tag, _time, record)
        @buffer[tag] << record if record['message'].start_with?('keep')
        record unless record['message'].start_with?('keep')
      end
    end
  end
end
