# Right before in_tail opens late.log for the first time, another file takes its place.
class << File
  prepend(Module.new do
    def open(path, *)
      if path.to_s.end_with?('/late.log') && !@replaced && caller_locations(1, 2).any? { |l| l.path.include?('in_tail') }
        @replaced = true
        rename(path, "#{path}.1")
        write(path, "new\n")
      end
      super
    end
  end)
end
