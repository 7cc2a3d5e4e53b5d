require 'fluent/plugin/output'

# Commits later, as kafka2 does, and makes nothing of a record "nil".
class Fluent::Plugin::WaysOutput < Fluent::Plugin::Output
  Fluent::Plugin.register_output('ways', self)
  helpers :thread

  def prefer_delayed_commit
    true
  end

  def format(_tag, _time, record)
    record['message'] + "\n" unless record['message'] == 'nil'
  end

  def try_write(chunk)
    thread_create(:acknowledged) { sleep 0.1; commit_write(chunk.unique_id) }
  end
end
