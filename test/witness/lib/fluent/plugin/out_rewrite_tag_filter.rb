require 'fluent/plugin/output'

# In the place of fluent-plugin-rewrite-tag-filter 2.4, with the names of its class, method and variable. A record whose message matches
# `pattern` gets `new_tag`; another one vanishes.
class Fluent::Plugin::RewriteTagFilterOutput < Fluent::Plugin::Output
  Fluent::Plugin.register_output('rewrite_tag_filter', self)
  helpers :event_emitter
  config_param :emit_mode, :enum, list: %i[record batch], default: :batch
  config_param :pattern, :regexp
  config_param :new_tag, :string

  def process(tag, es)
    new_event_streams = Hash.new { |all, label| all[label] = Hash.new { |h, key| h[key] = Fluent::MultiEventStream.new } }
    es.each { |time, record| new_event_streams[nil][@new_tag].add(time, record) if @pattern.match?(record['message']) }
    new_event_streams.each_value { |by_tag| by_tag.each { |new, made| router.emit_stream(new, made) unless new == tag } }
  end
end
