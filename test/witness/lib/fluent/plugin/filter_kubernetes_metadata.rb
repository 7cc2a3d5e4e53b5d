require 'fluent/plugin/filter'

# In the place of filter_kubernetes_metadata of fluent-plugin-kubernetes_metadata_filter, without an API server.
class Fluent::Plugin::KubernetesMetadataFilter < Fluent::Plugin::Filter
  Fluent::Plugin.register_filter('kubernetes_metadata', self)
  config_param :kubernetes_url, :string
  config_param :skip_labels, :bool

  def filter(_tag, _time, record)
    record.merge('kubernetes' => { 'pod_name' => 'none' })
  end
end
