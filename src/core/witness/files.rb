# What each in_tail has found, read, cut and let go of, and what it never saw.
class PosidleWitness
  HELD = 64 # closed files, a descriptor each
  NO_LOG = /\.(lock|lck|pid|pos|sw[op]|te?mp|state|md5|sha\d+)\z/n.freeze # beside a log, never a log
  PACKED = /\.(gz|bz2|xz|zst|lz4|zip|Z)\z/n.freeze
  def input(w); var(w, :@update_watcher).receiver; end
  def reader(input) # the next worker's has the same name; two inputs never share a pos file
    name = var(input, :@pos_file) || [input.paths, input.config.values_at('tag', '@label')].join(' ')
    @readers[name] || @mutex.synchronize { @readers[name] ||= @readers.size }
  end
  def readers; @readers.keys.map { |name| text(name) }; end
  def key(w); [reader(input(w)), w.pe.read_inode]; end # what one input knows of a file, another one does not
  def reads?(w); var(var(w, :@io_handler), :@fifo); end
  def left?(s); s && (s[:size] && s[:pos] < s[:size] || s[:lines] || s[:unfinished]); end
  def born(path); (File.birthtime(path).to_r * 1000).to_i; rescue NotImplementedError, SystemCallError; nil; end
  def turns(w, stat) # the file under the path is new, another one, shorter, or gone
    h = var(w, :@io_handler)
    @new[w] = true if stat && (h.nil? || !h.opened?)
    cut = h.nil? && stat && stat.ino == w.pe.read_inode && (stat.size...2**60).cover?(w.pe.read_pos - 1)
    keep(@lost, path: text(w.path), inode: stat.ino, at: ms, why: 'cut') if cut # while nobody followed it
    return unless stat && reads?(w)
    return (closes(w) unless h.opened?) if stat.ino != w.pe.read_inode # open_on_every_update: it goes on with another file
    had = [var(var(w, :@rotate_handler), :@fsize).to_i, @sizes.delete(key(w)).to_i].max # a full buffer keeps in_tail from looking
    pos, bytes = @marks[h] || [0, ''] # cut before a look: nothing speaks against a copy
    keep(@cuts, sight(w).merge(had: had, marked: pos, print: sum(bytes)))
  end
  def begins(w) # what lies before the position was read in a former life or never
    return unless @new.delete(w)
    key, pos = key(w), w.pe.read_pos
    before, mark = @closed[key], fingerprint(w, pos)
    known = @begun.key?(key) && (before.nil? || before.values_at(:pos, :print) == [pos, mark])
    keep(@starts, path: text(w.path), inode: key[1], reader: key[0], pos: pos, print: mark, born: born(w.path)) unless pos == 0 || known
    keep(@lost, before.merge(why: 'closed')) if pos == 0 && left?(before) # the number was used again
    @begun[key] = ms
  end
  def closes(w)
    @closed.delete(key = key(w))
    facts = @closed[key] = sight(w)
    facts[:print] = fingerprint(w, facts[:pos])
    hold(w, key)
    facts[:followed] = true if input(w).shutdown? && (File.stat(w.path).ino rescue nil) == key[1] # as long as the worker lived
    key, old = @closed.shift if @closed.size > MANY # if it still lies on the disk, then as one that nobody saw
    @begun.delete(key) if old
    @more += 1 if left?(old)
  end
  def hold(w, key) # who has it open may write on, whatever its name is now, or without one
    io = var(var(w, :@io_handler), :@io)
    @held[key] = io.dup if io && io.stat.ino == key[1]
  rescue SystemCallError, IOError # no descriptor left
    nil
  end
  def written_on # without a name it takes room on the disk: let go as soon as in_tail does, which looks once a minute
    @held.keys.each do |key|
      c, s = @closed[key], (@held[key].stat rescue nil)
      c[:size] = s.size if c && s
      @held.delete(key).close if c.nil? || s.nil? || @held.size > HELD || s.nlink == 0 && ms - c[:at] > 60_000
    end
  end
  def fingerprint(w, pos) # where the next worker begins, what was read must still lie there
    io = var(var(w, :@io_handler), :@io)
    sum(io ? ends(io, pos) : File.open(w.path, 'rb') { |f| ends(f, pos) })
  rescue SystemCallError, IOError
    nil
  end
  def sum(bytes); bytes.unpack('C*').inject(0) { |sum, byte| (sum * 31 + byte) % 2**48 }; end
  def ends(io, pos) # the first and the last bytes of what was read
    pos == 0 ? '' : io.pread([pos, 64].min, 0) + io.pread([pos, 64].min, [pos - 64, 0].max)
  end
  def sight(w, stats = {}) # the position before the size: what is read in between looks unread, never read
    h, (by, ino), pos = var(w, :@io_handler), key(w), w.pe.read_pos
    io, rest = var(h, :@io), var(var(h, :@fifo), :@buffer).to_s.bytesize
    pos = io ? io.pos - rest : 0 if pos > 2**60 # no longer watched
    s = stats[w.path]
    s = (io ? io.stat : File.stat(w.path)) rescue nil unless s && s.ino == ino
    record = var(var(w, :@line_buffer_timer_flusher) || var(w, :@file_feed), :@line_buffer).to_s.bytesize
    facts = { path: text(w.path), inode: ino, pos: pos, size: (s.size if s && s.ino == ino), at: ms }
    { reader: by, unfinished: rest, lines: var(h, :@lines).to_a.size, record: record }.each { |k, n| facts[k] = n if n > 0 }
    facts[:readable] = false if io.nil? && s && !File.readable?(w.path)
    facts
  end
  def look_at_files(asked)
    @inputs = defined?(Fluent::Plugin::TailInput) ? @root.inputs.grep(Fluent::Plugin::TailInput) : []
    tails = @inputs.flat_map { |i| var(i, :@tails).to_h.values }
    tails = ObjectSpace.each_object(Fluent::Plugin::TailInput::TailWatcher).to_a if asked && @inputs.any? # rotated too
    @watchers = tails.select { |w| reads?(w) }
    @stats = Hash.new { |h, p| h[p] = (File.stat(p) rescue nil) } # each may wait for Fluentd's threads: one for each file
    @sights = asked ? @watchers.first(20_000).map { |w| sight(w, @stats) } : []
    @sizes = @watchers.first(MANY).map { |w| [k = key(w), longest(w, k)] }.to_h
    @marks = @watchers.map { |w| [h = var(w, :@io_handler), mark(w, h, asked)] }.to_h # a cut makes another handler
    written_on
    names(asked)
  end
  def longest(w, key) # that was seen, until in_tail notices a cut
    s = @stats[w.path]
    [@sizes[key].to_i, s && s.ino == key[1] ? s.size : 0].max
  end
  def mark(w, handler, asked) # what was read must still lie there, else the file was written anew, too fast for in_tail
    pos, (old, was, at) = w.pe.read_pos, (mark = @marks[handler])
    return mark if pos > 2**60 || old == pos && !(asked && @stats[w.path] && @stats[w.path].mtime >= at)
    File.open(w.path, 'rb') do |f|
      next unless f.stat.ino == w.pe.read_inode
      now = ends(f, old) if old && pos >= old
      keep(@lost, sight(w).merge(why: 'written anew')) if now && now != was && now.bytesize == was.bytesize
      mark = [pos, ends(f, pos), Time.now - 1]
    end
    mark
  rescue SystemCallError, IOError # shorter than it was: a cut, of which in_tail tells if it is not filled up before
    mark
  end
  def names(asked) # what the paths of an input name and it passed over, or has not found yet, or never found
    inputs, found, keys = @watchers.group_by { |w| input(w) }, {}, nil
    followed = lambda { |key| (keys ||= @watchers.map { |w| [key(w), true] }.to_h)[key] }
    @inputs.each do |i|
      own = inputs[i].to_a.select { |w| !asked || (s = @stats[w.path]) && s.ino == w.pe.read_inode }
      waiting = @unfound.select { |(by, _), _| by == reader(i) }.map { |_, (p, *)| p } # also of an hour that is over
      ((named(i) | waiting) - own.map(&:path)).each do |p|
        next if (s = @stats[p]).nil? || !s.file? || s.size == 0 || followed.call(key = [reader(i), s.ino])
        next if var(i, :@limit_recently_modified) && s.mtime.to_f * 1000 < @pod
        b, c = @begun[key], @closed[key]
        next if b && (c.nil? || b > c[:at] || c[:pos] == s.size && s.mtime.to_f * 1000 <= c[:at])
        found[key] = [p, (@unfound[key] || [p, ms])[1], s.size, File.readable?(p)]
      end
    end
    open = @unfound.reject { |key, (_, at)| found[key] || followed.call(key) || @begun[key].to_i >= at }
    here, gone = open.partition { |(_, ino), (p, *)| (s = @stats[p]) && s.ino == ino } # in_tail has still to turn to it
    gone.each { |(by, ino), (p, at)| keep(@lost, path: text(p), inode: ino, reader: by, at: at, why: 'never followed') }
    @unfound = asked ? found : found.merge(here.to_h)
  end
  def named(i); expanded(i, i.paths, :@path_formatters) - excluded(i); end
  def excluded(i); expanded(i, i.exclude_path, :@exclude_path_formatters); end
  def expanded(i, paths, formatters) # as in_tail's expand_paths, which logs, and leaves out what it may not read
    glob = i.respond_to?(:use_glob?) ? i.method(:use_glob?) : lambda { |p| p.include?('*') }
    dated(i, paths, formatters).flat_map { |p| glob.call(p) ? Dir.glob(p) : [p] }
  end
  def dated(i, paths, formatters)
    t, all = Time.now, var(i, formatters)
    paths.map { |p| all ? all[p].call(t) : t.strftime(p) }
  end
  def beside(plugins) # all files in the directories of followed ones and one deeper, and those that look like a followed one's
    @real = {} if @real.nil? || @real.size > 10 * MANY # each call to the system may wait for Fluentd's threads
    real = lambda { |p| @real[p] ||= ((File.symlink?(p) ? File.realpath(p) : p) rescue p) }
    near = @watchers.map { |w| (s = @stats[w.path]) && [s.ino, [w.path, s]] }.compact.to_h
    known = near.values.map { |p, _| [real.call(p), true] }.to_h
    homes = (known.keys + @closed.values.map { |c| real.call(c[:path]) }).group_by { |p| File.dirname(p) }
    names = @inputs.flat_map { |i| dated(i, i.paths, :@path_formatters) }.group_by { |p| real.call(File.dirname(p)) }
    names.each_key { |home| homes[home] ||= [] }
    own = plugins.grep(Fluent::Plugin::Output).map { |o| var(var(o, :@buffer), :@path) }
    own += @inputs.map { |i| var(i, :@pos_file) }
    kin, @over = [], 0
    homes.each do |home, followed|
      files = nil
      (dirs = [home]).each do |dir|
        (Dir.children(dir) rescue []).each do |n|
          next if known[path = File.join(dir, n)]
          next @over += 1 if near.size >= 10 * MANY
          next unless s = @stats[path]
          next (dirs << path if dir == home && dirs.size < 200 && !File.symlink?(path)) if s.directory?
          near[s.ino] ||= [path, s] if s.file?
          next if !s.file? || s.size == 0 || s.ctime.to_f * 1000 < @pod || NO_LOG.match?(n.b)
          files ||= followed.flat_map { |p| [[File.basename(p, '.*').b + "\0", p], [File.basename(p).b, p]] }.to_h
          next unless of = kin(n.b, files, dir == home, names[home].to_a)
          kin << [path, s, born(path), of] unless own.any? { |o| o && File.fnmatch?("#{o}*", path) }
        end
      end
    end
    seen = {}
    [*@begun.to_a, *@closed.to_a.map { |k, c| [k, c[:at]] }].each { |(_, ino), at| seen[ino] = [seen[ino].to_i, at].max }
    unread = @inputs.flat_map { |i| excluded(i) }.map { |p| @stats[p] && @stats[p].ino } # as the user decided
    (@watchers.map { |w| w.pe.read_inode } + unread).each { |ino| seen[ino] = Float::INFINITY }
    kin = kin.uniq { |_, s| s.ino }.reject { |_, s, born| (born || s.mtime.to_f * 1000) < @pod || (at = seen[s.ino]) && born.to_i <= at }
    @over += [kin.size - MANY, 0].max
    [near, kin.first(MANY).map { |path, s, born, of| sibling(path, s, born, of) }]
  end
  def sibling(path, stat, born, of) # a gzip file ends with the size of what is in it (RFC 1952)
    plain = (File.open(path, 'rb') { |f| f.seek(-4, 2) && f.read.unpack('V')[0] } if path.b =~ /\.gz\z/n) rescue nil
    cuts = @cuts.select { |c| c[:path] == text(of) }.last(100)
    prints = cuts.map { |c| File.open(path, 'rb') { |f| sum(ends(f, c[:marked])) } rescue nil } # a copy is the same up to there
    facts = { path: text(path), size: stat.size, at: (stat.mtime.to_f * 1000).to_i, born: born, followed: text(of), prints: prints.compact.map(&:to_s).uniq }
    plain ? facts.merge(plain: plain) : facts
  end
  def kin(name, files, beside, named) # app.log.1, app.log-2026.gz, app-2026-01-01.log, app.1.log.gz; not app-audit.log
    return (files[name] unless beside) if files.key?(name)
    is_named = lambda { |n| files.key?(n) || named.any? { |p| File.fnmatch?(File.basename(p).b, n) } }
    whole = (1...name.size).find { |n| name[n] !~ /[a-z]/in && is_named.call(name[0, n]) }
    return files[name[0, whole]] || name[0, whole] if whole
    ext = File.extname(plain = name.sub(PACKED, '')) # "\0" stands for any
    ext, rest = ext =~ /[^.\d]/n ? [ext, plain.delete_suffix(ext)] : [("\0" if plain != name), plain]
    digits = ext ? rest[/[\d._:+TZ-]*\d[\d._:+TZ-]*\z/n].to_s.size : 0
    (1..digits).map { |n| files[rest[0, rest.size - n] + ext] }.compact.first
  end
  def closed(near) # with what lies under its number now
    @closed.to_a.map { |key, c| !@held[key] && (path, s = near[c[:inode]]) ? c.merge(size: s.size, born: born(path)) : c }
  end
  def unfound
    @unfound.first(MANY).map { |(by, ino), (p, _, size, may)| { path: text(p), inode: ino, reader: by, size: size, readable: may } }
  end
  def denied(i) # directories on a path's way that may not be listed or entered
    ways = i.paths.map { |p| Time.now.strftime(p).scan(%r{[^/]*/}) }
    dirs = Dir.glob(ways.flat_map { |w| w.each_index.map { |n| w[0..n].join } }.uniq)
    dirs.reject { |d| File.readable?(d) && File.executable?(d) }.first(100).map { |d| text(d) }
  end
end
