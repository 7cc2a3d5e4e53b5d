require 'fluent/plugin/input'

module Fluent
  module Plugin
    # Is configured when the file go is there; takes all file descriptors while the file go.eat is there.
    class SlowInput < Input
      Fluent::Plugin.register_input('slow', self)
      config_param :go, :string

      def configure(conf)
        super
        File.write("#{@go}.waits", '')
        sleep 0.02 until File.exist?(@go)
      end

      def start
        super
        Thread.new do
          eaten = []
          loop do
            sleep 0.05
            File.exist?("#{@go}.eat") ? (eaten << File.open('/dev/null') while true) : eaten.each(&:close).clear
          rescue Errno::EMFILE
            next
          end
        end
      end
    end
  end
end
