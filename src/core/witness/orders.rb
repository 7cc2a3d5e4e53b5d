# What in_tail does at once where posidle or the witness asks: in its own thread, by a one-shot timer of its helper, which
# its event loop sees within 0.5 s.
class PosidleWitness
  ALONE = ENV['POSIDLE_FIND'] != 'no'
  TURN = 0.1 # seconds of CPU; a longer one would keep in_tail from reading
  # A file that matches a path, and that no watcher follows. Otherwise in_tail finds it after refresh_interval. Files are only
  # added: a whole refresh between rename and create lets go of the path, and two watchers read the next file.
  def find(asked)
    return unless (asked || ALONE && @watchers.size <= MANY) && @unfound.any? && ready?
    found = @unfound.select { |_, u| u[:readable] }.group_by { |(by, _), _| by }
    @inputs.each do |i|
      files = found[reader(i)].to_a.select { |_, u| asked || alone?(i, u[:path]) }
      in_thread(i, :find, asked ? 2 : 60) { add(i, files) } if files.any?
    end
  end
  # in_tail may meet a file again under a second name, and then reads it twice; before refresh_interval it often does not.
  # So without an order only where no renamed file matches, nor a copy (it begins as a followed file did).
  def alone?(i, path)
    head = fingerprint(path, 64)
    dated(i).none? { |p| p =~ %r{[*?\[{].*/|[*?\]}]\z} } && !var(i, :@follow_inodes) && # a position outlives its file there
      head && !@heads.fetch(head, @heads.size >= 10 * MANY)
  end
  def in_thread(i, order, pause, &work) # one at a time, and a pause after an error (the pos file's volume is full)
    return if var(i, :@startup) && !var(i, :@skip_refresh_on_startup) || !i.timer_running? # too early; from the stop on
    return if @orders.fetch(key = [i.object_id, order], -pause) > clock - pause
    @orders[key] = clock
    i.timer_execute(:in_tail_refresh_watchers, 0, repeat: false) do
      lock = var(i, :@watcher_refresh_monitor) # 1.20
      more = lock ? lock.synchronize(&work) : work.call
      more == :more ? in_thread(i, order, 0, &work) : @orders.delete(key) # by a new timer: other events run in between
    rescue StandardError # in_tail has closed its files meanwhile
      nil
    end
  end
  def add(i, files)
    stop = clock(Process::CLOCK_THREAD_CPUTIME_ID) + TURN
    all = var(i, :@tails).values | var(i, :@tails_rotate_wait).to_h.keys # also those whose file is not there yet
    all |= @open.keys.select { |w| input(w).equal?(i) }
    paths = all.map { |w| [w.path, true] }.to_h # its watcher sees a new file, also one that waits for rotate_wait
    number = lambda { |s| var(i, :@follow_inodes) ? s.ino : [s.dev, s.ino] } # an open file's number is its own
    open = all.map { |w| [(number.call(io(w).stat) rescue nil), true] }.to_h
    until files.empty? || i.before_shutdown?
      return :more if clock(Process::CLOCK_THREAD_CPUTIME_ID) > stop
      (by, _), u = files.shift
      path = u[:path]
      next if paths[path] || (s = stat(path)).nil? || open[number.call(s)] # another file than the look saw is as good
      next if (limit = var(i, :@limit_recently_modified)) && s.mtime < Time.now - limit
      target = Fluent::Plugin::TailInput::TargetInfo.new(path, s.ino)
      was = let_go([by, s.ino, s.dev]) # it was begun under another name
      same = was && was[:born] == born(path) && fingerprint(path, was[:pos]) == was[:print]
      var(i, :@pf)[target].update(s.ino, was[:pos]) if same && var(i, :@pf)
      i.construct_watcher(target)
    end
  end
  # main has ended: a last line without a newline is whole, and so is the record that a multiline source keeps.
  def finish
    return unless ready?
    kept = @watchers.zip(@reports).select { |w, r| r && (r[:unfinished] || r[:record]) && @orders[w].to_f < clock }.map(&:first)
    kept.group_by { |w| input(w) }.each { |i, all| in_thread(i, :finish, 2) { all.each { |w| finish_file(i, w) } } }
  end
  def finish_file(i, w) # in_tail emits the line as any other, from its own buffer, and its position moves behind it
    return unless io(w) || var(i, :@tails).value?(w) # one that is closed would open the next file of its name
    w.on_notify # what main wrote last
    h, at, size = handler(w), w.pe.read_pos, (io(w) ? io(w).stat : File.stat(w.path)).size
    fifo, lines = var(h, :@fifo), var(h, :@lines)
    return unless lines.empty? && at + (n = unfinished(fifo)) == size # else in_tail pauses, and this may be half a line
    rest = var(fifo, :@buffer) + (eol = var(fifo, :@eol))
    if n > 0 && rest.index(eol) == rest.size - 1 # as read_lines looks; not found behind half a character of UTF-16
      var(h, :@notify_mutex).synchronize { fifo << eol.dup; fifo.read_lines(lines) }
      h.on_notify
      w.pe.update_pos(size) if lines.empty? && w.pe.read_pos < size
      lines.clear unless io(w) # a full buffer did not take it, and with open_on_every_update in_tail reads it again
    end
    record = var(w, :@line_buffer_timer_flusher) || var(w, :@file_feed)
    record.close(w) if record && lines.empty?
  rescue StandardError => e # such as a record too long for a chunk; a full buffer takes it later
    @orders[w] = clock + 60 unless e.is_a?(Fluent::Plugin::Buffer::BufferOverflowError)
  end
end
