# What each in_tail has found, read, cut and let go of, and what it never saw.
class PosidleWitness
  HELD = [64, Process.getrlimit(:NOFILE)[0] / 8].min # closed files, a descriptor each
  SPACE = 1 << 20 # bytes of removed files that stay open for a minute: a small volume must not run full
  UNREAD = { head: nil, pos: 0, prints: { 0 => 0 }, size: 0, sure: nil }.freeze # a mark that speaks against nothing
  TICK = 20 # ms, of the kernel at most: a write gets the time of the last one
  NO_LOG = /\.(lock|lck|pid|pos|sw[op]|te?mp|state|md5|sha\d+)\z/n.freeze # beside a log, never a log
  PACKED = /\.(gz|bz2|xz|zst|lz4|zip|Z)\z/n.freeze
  DATE = /(?>(?:[._:+TZ-]*\d)+)[._:+TZ-]*\z/n.freeze # or a number; without the (?>…) a name of 250 digits takes 0.1 s
  LETTERS = /\A[a-z]*/in.freeze
  def input(w); var(w, :@update_watcher).receiver; end
  def reader(input) # the next worker's has the same name; two inputs never share a pos file
    text(var(input, :@pos_file) || [ENV['SERVERENGINE_WORKER_ID'], input.paths, input.config.values_at('tag', '@label')].join(' '))
  end
  def key(w); [reader(input(w)), w.pe.read_inode, dev(w)]; end # what one input knows of a file, another one does not
  def dev(w) # of a removed file that in_tail opens for each read, the directory tells it
    ((io(w)&.stat rescue nil) || stat(w.path) || stat(File.dirname(w.path)))&.dev
  end
  def handler(w); var(w, :@io_handler); end
  def io(w); var(handler(w), :@io); end
  def reads?(w); var(handler(w), :@fifo) && !own?(input(w), w.path); end
  def own?(input, path); var(input, :@pos_file) == path; end # `path dir/*` matches it, and in_tail reads it as a log
  # File.stat gives Ruby's lock away, and gets it back from a busy worker after 0.1 s. This keeps it, as libev's lstat does for in_tail.
  def stat(path); File::Stat.new(path) rescue nil; end
  def born(file); ms(file.is_a?(IO) ? file.birthtime : File.birthtime(file)); rescue NotImplementedError, SystemCallError, IOError; nil; end
  def left?(s); s && (s[:size].nil? || s[:pos] != s[:size] || s[:lines] || s[:unfinished]); end # or nobody knows
  def lose(file, why); keep(@lost, file.merge(path: text(file[:path]), why: why)); end
  def before_rotate(w, stat) # the file under the path is new, another one, shorter, or gone
    @open[w] = true # with open_on_every_update in_tail may close it before it returns
    return if own?(input(w), w.path)
    h = handler(w)
    twin = stat && h && io(w) && stat.ino == w.pe.read_inode && dev(w) != stat.dev # on another volume: in_tail takes it for a cut
    @new[w] = h.nil? && stat.ino == w.pe.read_inode ? w.pe.read_pos : 0 if stat && (h.nil? || !h.opened? || twin)
    return unless reads?(w)
    mark = @marks[h] || UNREAD
    if stat.nil? || twin || stat.ino != w.pe.read_inode
      changed(w, h, own_stat(w)) if io(w)
      return (closes(w) if twin || stat && !h.opened?) # open_on_every_update goes on with another file
    end
    had = [var(var(w, :@rotate_handler), :@fsize).to_i, mark[:size]].max # a full buffer keeps in_tail from looking
    pos = mark[:pos]
    keep(@cuts, report(w).merge(n: @cuts.size, had: had, marked: pos, print: mark[:prints][pos], head: head(mark, pos)))
    @marks.delete(h) # else a look sees the next position beside the last size
  end
  def after_rotate(w, stat) # an earlier worker read the bytes before the position, or nobody did
    return unless (was = @new.delete(w))
    before = let_go(key = key(w))
    goes_on(w, stat, was, key, before) if before || was > 0 || w.pe.read_pos > 0
    @past.delete(key)
    s = own_stat(w)
    cut_unfound(key, w.path, s && s.ino == key[1] ? s : stat, io: io(w)) # a look may have seen it since
    @begun[key] = ms
    mark(w, handler(w), s) if reads?(w)
  end
  def goes_on(w, stat, was, key, before) # not a new file: it has a position, or an earlier watcher closed one of its number
    now = report(w)
    now[:pos] = was if (now[:pos]..2**60).cover?(was) # in_tail begins anew where the file is shorter
    now[:print] = fingerprint(w.path, now[:pos], io(w))
    same = now[:print] && (before ? %i[born pos print].all? { |n| before[n] == now[n] } : @begun.key?(key)) # another one may have its number
    written = ms(stat.mtime) if was == 0 # without a position in_tail begins at the end
    keep(@starts, now.merge(written: written)) unless now[:pos] == 0 || same
    reused = left?(before) && (before[:size] || before[:born] != now[:born]) # its inode number was
    lose(@closed.delete(key), 'closed') if now[:pos] == 0 && reused
  end
  def closes(w) # a writer may still have the file open, even renamed or removed
    old = @closed.delete(key = key(w))
    facts, io = @closed[key] = report(w), io(w)
    mark = @marks[handler(w)] || UNREAD
    facts.merge!(mark.slice(:dev, :born)) unless facts[:size] # it is gone
    changed(w, handler(w), own_stat(w)) if io && facts[:size]
    cut = old && old[:size] && old[:pos] > old[:size]
    lose(old, 'closed') if left?(old) && (cut || old[:born] != facts[:born])
    here = io || (s = stat(w.path)) && s.ino == key[1]
    pos = facts[:pos]
    facts[:print] = here ? fingerprint(w.path, pos, io) : mark[:prints][pos]
    facts[:head] = here ? fingerprint(w.path, [64, pos].min, io) : head(mark, pos)
    facts[:followed] = true if input(w).shutdown? && (s = stat(w.path)) && s.ino == key[1] # as long as the worker lived
    @held[key] = io.dup if io && io.stat.ino == key[1] rescue nil # no descriptor left
    return if @closed.size <= MANY || facts[:followed]
    key, old = @closed.find { |_, c| !c[:followed] }
    @closed.delete(key)
    @past[key] = old.slice(:born, :pos, :size, :at, :print) unless left?(old)
    @more += 1 if left?(old)
    key = @past.shift[0] if @past.size > 10 * MANY
    @begun.delete(key) unless @past.key?(key) # if it is still on disk, it counts as unread
  end
  def let_go(key); @closed[key] || @past[key]; end
  def written_on # a removed file takes disk space until all let go of it, and in_tail looks once a minute
    space = 0
    @held.to_a.reverse.each_with_index do |(key, io), n| # the newest first
      c, s = @closed[key], (io.stat rescue nil)
      now = fingerprint(nil, c[:pos], io) if c && s && ms(s.ctime) > c[:at] - TICK
      lose(c, 'written anew') if now && now != c[:print]
      c.update(size: s.size, print: now || c[:print]) if c && s
      space += s.size if (removed = s && s.nlink == 0)
      over = c.nil? || s.nil? || n >= HELD || removed && (space > SPACE || ms - c[:at] > 60_000)
      @held.delete(key).close if over
      space -= s.size if over && removed
    end
  end
  def fingerprint(path, pos, io = nil, first = nil) # of the first and the last bytes before a position; nil: they are not there
    return 0 if pos == 0
    n = [pos, 64].min
    head = first[0, n] if first
    return File.open(path, 'rb') { |f| fingerprint(path, pos, f, first) } unless io || head && pos == n
    head ||= io.pread(n, 0)
    bytes = head + (pos == n ? head : io.pread(n, pos - n))
    Zlib.crc32(bytes) if bytes.bytesize == 2 * n # Fluentd has loaded it (event.rb, compressable.rb)
  rescue SystemCallError, IOError
    nil
  end
  def head(mark, pos); pos < 64 ? mark[:prints][pos] : mark[:head]; end # a fingerprint of the first 64 bytes
  def unfinished(fifo) # bytes of a last line without newline; of one over max_line_size it keeps the number only
    fifo.respond_to?(:reading_bytesize) ? fifo.reading_bytesize : fifo ? fifo.bytesize : 0 # Fluentd 1.14
  end
  def report(w, stats = {}) # position before size: bytes read in between look unread, never the reverse
    h, io, (by, ino), pos = handler(w), io(w), key(w), w.pe.read_pos
    rest = unfinished(var(h, :@fifo))
    pos = io ? io.pos - rest : 0 if pos > 2**60 # no longer watched
    s = own_stat(w, stats)
    pos = 0 if io && s && s.ino != ino # between its stat and its open, another file took the path
    record = var(var(w, :@line_buffer_timer_flusher) || var(w, :@file_feed), :@line_buffer).to_s.bytesize
    s = nil unless s && s.ino == ino
    known = @marks[h] if io
    born = known ? known[:born] : born(io || w.path) if s
    facts = { path: text(w.path), inode: ino, dev: s&.dev, born: born, reader: by, pos: pos, size: s&.size, at: ms }
    facts[:readable] = false if io.nil? && s && !File.readable?(w.path)
    facts[:emits] = interval(input(w)) if record > 0
    facts.merge({ unfinished: rest, lines: var(h, :@lines).to_a.size, record: record }.select { |_, n| n > 0 })
  end
  def own_stat(w, stats = {}) # of the file that it reads, wherever that is now
    s = stats[w.path]
    s && s.ino == w.pe.read_inode ? s : (io = io(w)) ? io.stat : stat(w.path)
  rescue IOError, SystemCallError
    nil
  end
  def look_at_files(asked)
    began, marked = ms, @marks.keys
    @inputs = defined?(Fluent::Plugin::TailInput) ? @root.inputs.grep(Fluent::Plugin::TailInput) : []
    @watchers = @open.keys.select { |w| reads?(w) }
    @stats = Hash.new { |h, p| h[p] = stat(p) } # one for each file in a look
    @reports = asked ? @watchers.first(20_000).map { |w| report(w, @stats) } : []
    late = clock + (asked ? 2 : 0.5) # each read may wait 0.1 s for Ruby's lock
    handlers = @watchers.shuffle.map do |w|
      mark(w, h = handler(w), own_stat(w, @stats), clock < late)
      h
    end
    (marked - handlers).each { |h| @marks.delete(h) } # in_tail may have begun others meanwhile
    written_on
    names(asked, began, clock + (asked ? 2 : 0.5))
  end
  # Bytes that were read or seen have changed or are gone, too fast for in_tail. It is told once, because the mark goes with it.
  def changed(w, h, s, mark = @marks[h], pos: w.pe.read_pos, reads: true, first: nil)
    return unless s && mark
    gone = (pos...mark[:size]).cover?(s.size)
    differs = lambda { |(at, print)| (now = fingerprint(w.path, at, io(w), first)) && now != print }
    gone ||= reads && pos >= mark[:pos] && s.ctime != mark[:sure] && mark[:prints].any?(&differs)
    return unless gone
    return changed(w, h, s, pos: pos, reads: reads, first: first) unless swap(h, mark, nil)
    lose(report(w), 'written anew')
    true
  end
  def swap(h, old, new) # false: the other thread was faster
    old.equal?(new) || @mutex.synchronize { @marks[h].equal?(old) && (new ? @marks[h] = new : @marks.delete(h)) }
  end
  def mark(w, h, s, reads = true)
    old, pos, now = @marks[h], w.pe.read_pos, Time.now # a cut makes another handler, and a close none
    return if h.nil? || pos > 2**60
    s = own_stat(w) if s && (old.nil? || s.size < old[:size]) # the mark may be younger than s, or was taken away
    return if s.nil? || s.ino != w.pe.read_inode
    reads &&= old.nil? || old[:pos] != pos || s.ctime != old[:sure]
    first = ((io = io(w)) ? io.pread(64, 0) : File.binread(w.path, 64) rescue nil) if reads
    old = nil if old && changed(w, h, s, old, pos: pos, reads: reads, first: first)
    size = [old ? old[:size] : 0, s.size].max
    return old && swap(h, old, old[:size] == size ? old : old.merge(size: size)) unless reads
    prints = [pos, [pos + 64, s.size].min, s.size].uniq.map { |at| [at, fingerprint(w.path, at, io(w), first)] }.to_h
    return unless prints[pos] # it is shorter, a cut of which in_tail tells
    head = old && old[:head] || fingerprint(w.path, 64, io(w), first)
    @heads[head] = true if head && @heads.size < 10 * MANY
    sure = s.ctime if s.ctime < now - 1 # a later write may get the same time
    swap(h, old, { head: head, dev: s.dev, born: old && io(w) ? old[:born] : born(io(w) || w.path), pos: pos, prints: prints.reject { |_, print| print.nil? }, size: size, sure: sure })
  end
  def names(asked, began, late) # files that match a path, but that the input passed over or has not found
    inputs, found, keys = @watchers.group_by { |w| input(w) }, {}, nil
    followed = lambda { |key| (keys ||= @watchers.map { |w| [key(w), true] }.to_h)[key] }
    @inputs.each do |i|
      by = reader(i)
      known = inputs[i].to_a.select { |w| (s = @stats.fetch(w.path, nil)).nil? || s.ino == w.pe.read_inode }
      waiting = @unfound.select { |(its, _), _| its == by }.map { |_, u| u[:path] } # also of an hour that is over
      (((@named[i] = expanded(i) - excluded(i)) - (asked ? [] : known.map(&:path))) | waiting).shuffle.each do |p| # each gets its turn to be read
        next if (s = @stats[p]).nil? || !s.file? || own?(i, p)
        key = [by, s.ino, s.dev]
        reads = clock < late && @unfound.fetch(key, {})[:sure] != s.ctime.to_f
        @unfound.delete(key) if cut_unfound(key, p, s, reads: reads)
        next if s.size == 0 || followed.call(key)
        next if var(i, :@limit_recently_modified) && ms(s.mtime) < @pod
        b, c = @begun[key], let_go(key)
        now = b && b >= began # in_tail finds it while this look goes on: it is not among the followed ones yet
        next if b && !now && (c.nil? || b > c[:at] || c[:pos] == s.size && as_closed?(c, p, s))
        u = found[key] = { at: now ? b : ms, inode: s.ino, dev: s.dev, reader: by }.merge(@unfound[key].to_h, path: p)
        u[:size] = s.size if reads || u[:print].nil? # a fingerprint is of that size
        sure = s.ctime.to_f if s.ctime < Time.now - 1
        u.update(sure: sure, print: (fingerprint(p, s.size) if found.size <= MANY)) if reads
        u.update(born: u[:born] || born(p), readable: File.readable?(p)) if clock < late || asked && u[:born].nil?
      end
    end
    open = @unfound.reject { |key, u| found[key] || followed.call(key) || @begun[key].to_i >= u[:at] }
    here, gone = open.partition { |(_, ino), u| (s = @stats[u[:path]]) && s.ino == ino } # in_tail may still turn to it
    gone.each { |_, u| lose(u, 'never followed') }
    @unfound = here.to_h.merge(found)
  end
  def as_closed?(closed, path, stat)
    return unless closed[:born] == born(path)
    # a write gets the time of the kernel's last tick, which may be before the closing; a touch writes nothing
    since = closed[:at] - ms(stat.mtime)
    since > TICK || (closed[:print] ? closed[:print] == fingerprint(path, stat.size) : since >= 0)
  end
  def cut_unfound(key, path, s, io: nil, reads: true) # or written anew, before in_tail found it
    return unless (u = @unfound[key]) && @begun[key].to_i < u[:at]
    same = s.size >= u[:size] && (!reads || u[:born].nil? || u[:born] == born(io || path))
    same &&= fingerprint(path, u[:size], io) == u[:print] if reads && u[:print]
    lose(u, 'never followed') unless same
  end
  def excludes(i); dated(i, i.exclude_path, :@exclude_path_formatters); end
  def excluded(i); expanded(i, excludes(i)); end
  def expanded(i, patterns = dated(i)) # as in_tail's expand_paths, which logs, and leaves out what it may not read
    patterns.flat_map { |p| glob?(i, p) ? Dir.glob(p) : [p] }
  end
  def glob?(i, p); i.respond_to?(:use_glob?) ? i.use_glob?(p) : p.include?('*'); end
  def dated(i, paths = i.paths, formatters = :@path_formatters)
    t, all = Time.now, var(i, formatters)
    paths.map { |p| all ? all[p].call(t) : t.strftime(p) }
  end
  def denied(i) # directories on a path's way that may not be listed or entered, and links that lead nowhere
    ways = dated(i).flat_map { |p| (1..p.count('/')).map { |n| [p[%r{\A([^/]*/){#{n}}}], $'] } }.uniq
    closed = ways.flat_map do |way, rest| # only those are listed that a pattern or a log follows
      Dir.glob(way).reject { |d| File.executable?(d) && (%r{\A[^*?\[\{]*/}.match?(rest) || File.readable?(d)) }
    end
    links = (@named[i].to_a | Dir.glob(ways.map { |way, _| way.chomp('/') })).select { |p| @stats[p].nil? && astray?(p) }
    (closed | links).first(100).map { |p| text(p) }
  end
  def astray?(path) # where Fluentd may not go, or where only another container has a file
    File.symlink?(path) && File.stat(path) && false
  rescue Errno::ENOENT, Errno::ENOTDIR # not an old one, nor one whose file Fluentd has followed
    made = ms(File.lstat(path).mtime) rescue (return false)
    read = @watchers.map { |w| [key(w), w.path] } + @closed.to_a.map { |key, c| [key, c[:path]] }
    made >= @pod && read.none? { |key, p| p == text(path) && @begun[key].to_i >= made }
  rescue SystemCallError
    true
  end
  def homes # by directory, in bytes: followed names ("\0" for any extension), patterns, first letters
    homes = Hash.new { |all, dir| all[dir] = [{}, [], {}] }
    files = @watchers.map { |w| [w.path, w.pe.read_inode] } | @closed.to_a.map { |(_, ino), c| [c[:path], ino] }
    files.map! { |p, ino| [p, ino, @stats[File.dirname(p)]&.mtime] } # a link that is made or swapped changes its directory
    real = lambda { |p| (File.symlink?(p) ? File.realpath(p) : p) rescue nil }
    @real = files.map { |f| [f, @real[f] || real.call(f[0])] }.to_h
    @real.map { |f, p| p || f[0] }.uniq.each do |p|
      home, name = File.split(p.b)
      [name, File.basename(name, '.*') + "\0"].each { |n| homes[home][0][n] = homes[home][2][n[LETTERS]] = true }
    end
    @inputs.each do |i|
      not_read = excludes(i).map(&:b)
      dated(i).each do |p|
        dir, name = File.split(p)
        dirs = (glob?(i, p) ? Dir.glob("#{dir}/") : []).map { |d| d.chomp('/') }
        dirs.select! { |d| @stats[d] && ms(@stats[d].mtime) >= @pod } # in others no file was made or renamed in this life
        [dir, *dirs].each { |d| homes[d.b][1] << [name == '*' ? '*.*' : name.b, not_read] } # any name says nothing of a file below
      end
    end
    homes
  end
  def siblings(plugins) # rotated-looking files near followed ones, which nobody read
    own = plugins.grep(Fluent::Plugin::Output).map { |o| var(var(o, :@buffer), :@path) }
    own += @inputs.map { |i| var(i, :@pos_file) }
    @over = 0
    found = homes.flat_map { |home, names| near(home).map { |n| File.join(home, n) }.select { |p| kin?(p, home, *names) } }
    seen = @past.map { |(_, ino, dev), c| [[dev, ino], c] }.to_h # the others are told
    @closed.each_value { |c| seen[c.values_at(:dev, :inode)] = { at: c[:at] } }
    unread = @inputs.flat_map { |i| excluded(i) }.map { |p| file(p) } # as the user decided
    followed = @reports.map { |r| r.values_at(:dev, :inode) }
    (followed + unread).each { |file| seen[file] = { at: Float::INFINITY } }
    found = found.uniq { |p| file(p) }.select do |p|
      next unless (s = @stats[p]) && s.file? && s.size > 0 && ms(s.ctime) >= @pod
      born = born(p) || ms(s.mtime)
      known = seen[file(p)] || seen[[nil, s.ino]]
      same = known && born <= known[:at] && (known[:pos].nil? || s.size == known[:pos] && as_closed?(known, p, s))
      next if same || [born, ms(s.mtime)].max < @pod
      own.none? { |o| o && File.fnmatch?("#{o.sub('*', '[bq][0-9a-f]*')}*".b, p) } # buf_file.rb: b or q, and the chunk's id
    end
    @over += [found.size - MANY, 0].max
    found.first(MANY).map { |p| sibling(p, @stats[p]) }
  end
  def file(path); (s = @stats[path]) && [s.dev, s.ino]; end # two volumes may have one inode number
  def near(home) # names in it and its directories, not through links: a thousand links would make a million names
    dirs = Dir.glob('*/', base: home).map(&:b).reject { |d| File.symlink?(File.join(home, d.chomp('/'))) }.first(200)
    names = ['', *dirs].flat_map do |dir|
      (Dir.each_child(File.join(home, dir)).first(10 * MANY + 1).map(&:b) rescue []).grep_v(/\A\./n).map { |n| dir + n }
    end
    @over += [names.size - 10 * MANY, 0].max
    names.first(10 * MANY)
  end
  def kin?(path, home, names, named, letters) # app.log.1, app.log-2026.gz, app-2026-01-01.log, app.1.log.gz; not app-audit.log
    name = File.basename(path).b
    return File.dirname(path) != home if names[name]
    return unless letters[name[LETTERS]] || named.any? { |p, _| name.start_with?(p[LETTERS]) } # there may be very many
    return if NO_LOG.match?(name)
    heads = name.enum_for(:scan, /[^a-z]/in).map { $` }
    return true if heads.any? do |head| # as in_tail would have read, or passed over, a log of that name
      log = File.join(File.dirname(path), head)
      names[head] || named.any? { |p, not_read| File.fnmatch?(p, head) && not_read.none? { |e| File.fnmatch?(e, log, File::FNM_PATHNAME) } }
    end
    plain = name.sub(PACKED, '')
    ext = plain[/\.\d*[^.\d][^.]*\z/n] || ("\0" if plain != name)
    rest = plain.delete_suffix(ext.to_s)
    ext && (1..rest[DATE].to_s.size).any? { |n| names[rest[0, rest.size - n] + ext] }
  end
  def sibling(path, stat)
    plain, start = packed(path) if path.b.end_with?('.gz')
    cuts = @cuts.last(100).select { |c| copy?(path, start, c) }
    { path: text(path), inode: stat.ino, dev: stat.dev, born: born(path), size: stat.size, at: ms(stat.mtime), plain: plain,
      head: start && Zlib.crc32(start * 2), cuts: cuts.map { |c| c[:n] } }
  end
  def packed(path) # the size of what is in a gzip file, with which it ends (RFC 1952), and the first bytes
    start = Zlib::GzipReader.open(path) { |z| z.read(64) }.to_s
    [File.binread(path, 4, File.size(path) - 4).unpack1('V'), start]
  rescue Zlib::Error, SystemCallError, IOError, NoMethodError # it is none, or changes
    nil
  end
  def copy?(path, start, cut) # it is the same up to there; a cut before the first read is no evidence
    return if cut[:marked] == 0 || !File.basename(text(path)).start_with?(File.basename(cut[:path], '.*'))
    start ? Zlib.crc32(start[0, cut[:marked]] * 2) == cut[:head] : fingerprint(path, cut[:marked]) == cut[:print]
  end
  def closed # what is not held open is measured by its inode number
    paths = @stats.to_a.flat_map { |p, s| s ? [[[s.dev, s.ino], p], [[nil, s.ino], p]] : [] }.to_h
    @closed.to_a.map do |key, c|
      p = paths[c.values_at(:dev, :inode)] unless (io = @held[key])
      c = c.reject { |n, _| n == :head } if p || io && io.stat.nlink > 0 # gzip would have removed it
      same = p && (c[:born] ? born(p) == c[:born] : born(p).to_i <= c[:at]) # of unknown birth: not a younger one
      same ? c.merge(size: @stats[p].size) : c
    end
  end
end
