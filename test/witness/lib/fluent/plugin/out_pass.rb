require 'fluent/plugin/bare_output'

# Emits what it gets under another label, as label_router does.
class Fluent::Plugin::PassOutput < Fluent::Plugin::BareOutput
  Fluent::Plugin.register_output('pass', self)
  helpers :event_emitter
  config_param :default_route, :string

  def configure(conf)
    super
    @router = event_emitter_router(@default_route)
  end

  def process(tag, es)
    @router.emit_stream(tag, es)
  end
end
