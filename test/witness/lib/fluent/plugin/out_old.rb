require 'fluent/output'

# An output of v0.12, whose chunks tell their bytes as their size.
class Fluent::OldOutput < Fluent::BufferedOutput
  Fluent::Plugin.register_output('old', self)

  def format(_tag, _time, record)
    record['message'] + "\n"
  end

  def write(chunk)
    chunk.read
  end
end
