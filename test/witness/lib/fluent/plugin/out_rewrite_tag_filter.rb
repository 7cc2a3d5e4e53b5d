require 'fluent/plugin/output'

# In the place of fluent-plugin-rewrite-tag-filter, with the names of its class, method and variables (2.3.0, 2.4.0, 2.4.1). A record whose
# message matches `pattern` gets `new_tag`; another one vanishes. `flat`: as 2.3, by tag alone.
class Fluent::Plugin::RewriteTagFilterOutput < Fluent::Plugin::Output
  Fluent::Plugin.register_output('rewrite_tag_filter', self)
  helpers :event_emitter
  config_param :emit_mode, :enum, list: %i[record batch], default: :batch
  config_param :pattern, :regexp
  config_param :new_tag, :string
  config_param :flat, :bool, default: false

  def process(tag, es)
    new_event_streams = {} if @emit_mode == :batch
    made = Fluent::MultiEventStream.new
    es.each do |time, record|
      raise 'a record that it cannot take' if record['message'] == 'fail'
      made.add(time, record) if @pattern.match?(record['message'])
    end
    new_event_streams&.store(@flat ? @new_tag : nil, @flat ? made : { @new_tag => made })
    router.emit_stream(@new_tag, made) unless tag == @new_tag
    new_event_streams || es
  end
end
