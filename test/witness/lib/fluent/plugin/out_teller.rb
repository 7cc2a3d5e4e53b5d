require 'fluent/plugin/output'

module Fluent
  module Plugin
    # An output that does in write what its records say: {"message":"warn …"}, "hash", "exception", "again"; and waits while
    # the file block, and fails while the file fail is there.
    class TellerOutput < Output
      Fluent::Plugin.register_output('teller', self)
      helpers :event_emitter
      config_param :dir, :string
      config_param :password, :string, default: 'geheim', secret: true
      config_param :require_ack_response, :bool, default: false

      def multi_workers_ready?
        true
      end

      def write(chunk)
        File.write("#{@dir}/block.waits", '') if File.exist?("#{@dir}/block")
        sleep 0.02 while File.exist?("#{@dir}/block")
        messages = []
        chunk.each { |_, record| messages << record['message'] }
        messages.each { |m| tell(m) }
        raise Fluent::UnrecoverableError, 'no' if File.exist?("#{@dir}/unrecoverable")
        raise 'the destination is away' if File.exist?("#{@dir}/fail")
        File.write("#{@dir}/delivered", messages.map { |m| "#{m}\n" }.join, mode: 'a')
      end

      def tell(message)
        case message
        when /\Awarn (.*)/ then log.warn $1, tag: 't.1'
        when 'hash' then log.warn(some: 'thing')
        when 'exception' then log.error(ArgumentError.new('of no "secret" use'))
        when 'again' then router.emit('t.again', Fluent::EventTime.now, { 'message' => 'once more' })
        end
      end
    end
  end
end
