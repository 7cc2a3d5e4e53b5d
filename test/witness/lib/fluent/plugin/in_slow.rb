require 'fluent/plugin/input'

module Fluent
  module Plugin
    # Is configured when the file go is there.
    class SlowInput < Input
      Fluent::Plugin.register_input('slow', self)
      config_param :go, :string

      def configure(conf)
        super
        File.write("#{@go}.waits", '')
        sleep 0.02 until File.exist?(@go)
      end
    end
  end
end
