# A probe inside Fluentd's workers. It reads and never writes; nothing of Fluentd's is patched, locked or logged. Events
# (targeted TracePoints) tell what in_tail began, cut and closed, what closing buffers held, what was said; a cheap look
# tells what in_tail never saw. If nobody answers at its socket, the worker is gone, with .end its last word.
class PosidleWitness
  MANY = 2000 # no list is longer; what had to be forgotten is counted in @more, and means: not proven
  FULL = [nil, nil, 'more kinds than are counted'].freeze
  OWN = %r{(\A|/)(witness|log|\w*logger|delegate)\.rb\z}.freeze # files that say what another one told them to say
  FLUSHES = /\Afailed to flush the buffer( with secondary output)?\./.freeze # output.rb, update_retry_state: taken back
  SETTINGS = %i[require_ack_response required_acks protocol use_http log_rejected_request emit_error_label_event
                emit_invalid_record_to_error emit_unmatched_lines reserve_data multiline_mode].freeze # of those that lose in silence
  NO_LOG = /\.(lock|lck|pid|pos|sw[op])\z/n.freeze # beside a log, never a log
  PACKED = /\.(gz|bz2|xz|zst|lz4|zip|Z)\z/n.freeze
  def initialize
    require 'socket.so' # socket.rb would activate the gem io-wait, and nothing may be chosen before Fluentd chooses
    @born, @pid, @supervisor = ms, Process.pid, (Process.ppid if ARGV.include?('--under-supervisor'))
    dir = ENV['POSIDLE_DIR'] || __dir__
    @server = UNIXServer.new((@stem = File.join(dir, "#{@born}-#{@pid}")) + '.sock') # before a line can be read
    File.chmod(0666, @stem + '.sock') rescue nil
    @pod = [__FILE__, *host].map { |p| (File.stat(p).mtime.to_f * 1000 rescue @born) }.min - 1000 # who writes it, writes it first
    @begun, @closed, @marks, @unfound, @readers, @heard, @traces, @new = {}, {}, {}, {}, {}, {}, {}, {}.compare_by_identity
    @starts, @cuts, @lost, @ends, @resumed, @inputs, @watchers, @mutex = [], [], [], [], [], [], [], Mutex.new
    @reloads = @more = @over = @due = @gap = @again = 0
    listen
    at_exit { last_word($!.nil? || $!.is_a?(SystemExit) && $!.success?, true) if Process.pid == @pid }
    @thread = Thread.new { begin loop { serve }; rescue Exception; @server.close; end }
    @thread.name = 'posidle-witness'
  end
  def clock(id = Process::CLOCK_MONOTONIC); Process.clock_gettime(id); end
  def ms; Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond); end
  def var(o, name); o.instance_variable_get(name) if o && o.instance_variable_defined?(name); end
  def text(s); s && s.to_s.dup.force_encoding('UTF-8').scrub; end
  def failed(e); text("#{e.class}: #{e.message} #{e.backtrace.to_a.first}"); end
  def keep(list, fact); list.size < MANY ? list << fact : @more += 1; end
  def input(w); var(w, :@update_watcher).receiver; end
  def reader(input) # the next worker's has the same name; two inputs never share a pos file
    name = var(input, :@pos_file) || [input.paths, input.config.values_at('tag', '@label')].join(' ')
    @readers[name] || @mutex.synchronize { @readers[name] ||= @readers.size }
  end
  def readers; @readers.keys.map { |name| text(name) }; end
  def key(w); [reader(input(w)), w.pe.read_inode]; end # what one input knows of a file, another one does not
  def reads?(w); var(var(w, :@io_handler), :@fifo); end
  def left?(s); s && (s[:size] && s[:pos] < s[:size] || s[:lines] || s[:unfinished]); end
  def host # a container's is mounted: it was made with the Pod, whose other containers may be older than this one
    name = '/etc/hostname'
    File.stat(name).dev == File.stat('/etc').dev ? [] : [name]
  rescue SystemCallError
    []
  end
  def born(path); (File.birthtime(path).to_r * 1000).to_i; rescue NotImplementedError, SystemCallError; nil; end
  def listen # to events, in Fluentd's threads; each is set where its class ends, before an object of it lives
    TracePoint.new(:end) do |tp|
      case Module.instance_method(:name).bind(c = tp.self).call
      when 'Fluent::Log' then %i[warn error fatal].each { |m| trace(m, c, m, :args) { |_, args| heard(m, args) } }
      when 'Fluent::Plugin::Buffer'
        trace(:ends, c, :close) { |b| keep(@ends, output(b.owner)); last_word(false) }
        trace(:resumes, c, :start, nil, :return) { |b, _, e| ids(b).each { |i| keep(@resumed, i) } if e == :return }
      when 'Fluent::Plugin::Output' then trace(:attempts, c, :try_flush, nil, :return) { |_, _, e| attempt(e == :call) }
      when 'Fluent::NoMatchMatch' then trace(:unmatched, c, :emit_events, :tag) { |_, tag| unmatched(tag) }
      when 'Fluent::RootAgent' then trace(:errors, c, :handle_emits_error, :error) { |_, e| refused(e) }
      when 'Fluent::EventRouter' then trace(:emits, c, :emit_stream) { @again += 1 if Thread.current[:posidle] }
      when 'Fluent::Plugin::TailInput::TailWatcher'
        trace(:turns, c, :on_rotate, :stat, :return) { |w, s, e| e == :call ? turns(w, s) : begins(w) }
        trace(:closes, c, c.method_defined?(:force_close) ? :force_close : :close) { |w| closes(w) if reads?(w) }
      end
      tp.disable if @traces.size == 11
    end.enable
  end
  def trace(key, c, m, arg = nil, *more) # Ruby 2.6; where it fails nothing is heard, so nothing is proven
    t = TracePoint.new(:call, *more) do |tp|
      Thread.handle_interrupt(Object => :never) do # a Timeout that strikes here is Fluentd's, and comes after it
        begin yield tp.self, arg && tp.binding.local_variable_get(arg), tp.event rescue @fault = failed($!) end
      end
    end
    (@traces[key] ||= t.enable(target: c.instance_method(m)) || t) if c.method_defined?(m) rescue @fault = failed($!)
  end
  def trouble
    deaf = %i[warn error fatal ends resumes attempts emits unmatched errors] + (@inputs.any? ? %i[turns closes] : []) - @traces.keys
    @error || @fault || ("not heard: #{deaf.join(' ')}" if deaf.any?)
  end
  def heard(level, args) # each way in which Fluentd drops a record is told by log.warn or log.error, shown or not
    said, more = args.grep(String).first, args.grep(Hash).first || {}
    err = more[:error] || more['error'] || args.grep(Exception).first
    said ||= "#{err.class}: #{err.message}" if err.is_a?(Exception)
    said = "#{said} #{err.message}" if said && said.end_with?(':') && err.is_a?(Exception)
    tag = more[:tag] || said.to_s[0, 300].b[/tag="([^"]*)"/, 1]
    from = caller_locations(3, 8).find { |l| !OWN.match?(l.path) }&.path.to_s
    from = text(from[%r{.*/lib/(.*)}, 1] || from)
    key = [level, from, kind(said), (err.class.name if err.is_a?(Exception)), tag && kind(tag)]
    return if !@heard.key?(key) && caller_locations.any? { |l| l.base_label == 'configure' } # of no record
    key = count(key, 1)
    Thread.current[:posidle][key] += 1 if Thread.current[:posidle]
  end
  def unmatched(tag) # Fluentd says it at the first, second, fourth … time only, whatever the tag (match.rb)
    count(['warn', 'fluent/match.rb', 'no patterns matched', nil, kind(tag)], 1)
  end
  def refused(err) # emit_error_log_interval keeps it from being said (root_agent.rb)
    count(['warn', 'fluent/root_agent.rb', kind("emit transaction failed: #{err.message}"), err.class.name], 1)
  end
  def kind(said) # without what makes each message another one
    said = text(said.to_s[0, 300]).gsub(/(?<!\w)(["'])(?:\\.|(?!\1)[^\\])+\1?/m, '\1…\1')
    said.gsub(%r{/\S+}, '…').gsub(/\b\h{8,}\b|\d+/, '#')[0, 120]
  end
  def count(key, n)
    @mutex.synchronize do
      key = FULL if @heard.size >= 500 && !@heard.key?(key)
      @heard.delete(key) if (@heard[key] = @heard[key].to_i + n) <= 0
    end
    key
  end
  def attempt(begins) # what is said while Fluentd tries to flush a chunk is of no loss if it then takes the chunk back
    said, Thread.current[:posidle] = Thread.current[:posidle], (Hash.new(0) if begins)
    return if begins || said.nil? || said.none? { |k, _| k[1] == 'fluent/plugin/output.rb' && FLUSHES.match?(k[2]) }
    said.each { |key, n| key == FULL ? nil : (count(key, -n); count(key + ['flush'], n)) }
  end
  def told; @heard.dup.map { |k, n| %i[level file text error tag during].zip(k).to_h.merge(n: n) }; end
  def turns(w, stat) # the file under the path is new, another one, shorter, or gone
    h = var(w, :@io_handler)
    @new[w] = true if stat && (h.nil? || !h.opened?)
    return unless stat && reads?(w)
    return (closes(w) unless h.opened?) if stat.ino != w.pe.read_inode # open_on_every_update: it goes on with another file
    keep(@cuts, sight(w).merge(had: var(var(w, :@rotate_handler), :@fsize).to_i)) # its size a second ago at most
  end
  def begins(w) # what lies before the position was read in a former life or never
    return unless @new.delete(w)
    key, pos = key(w), w.pe.read_pos
    keep(@starts, path: text(w.path), inode: key[1], reader: key[0], pos: pos, born: born(w.path)) if pos > 0 && !@begun.key?(key)
    keep(@lost, @closed[key].merge(why: 'closed')) if pos == 0 && left?(@closed[key]) # the number was used again
    @begun[key] = ms
  end
  def closes(w)
    @closed.delete(key = key(w))
    @closed[key] = sight(w)
    key, old = @closed.shift if @closed.size > MANY # if it still lies on the disk, then as one that nobody saw
    @begun.delete(key) if old
    @more += 1 if left?(old)
  end
  def last_word(well, exits = false) # buffers close after the flush threads have ended: what they hold was not sent
    if exits # once more, since 1.14's in_tail leaves the watchers of rotated files open
      @thread.kill
      look(true) if @root
      @watchers.each { |w| closes(w) if w.pe.read_pos < 2**60 }
      all = ObjectSpace.each_object(Fluent::Plugin::Base).to_a # also those that have ended
      near, kin = beside(all)
      @unfound.delete_if { |k, (p, *)| @closed[k] && born(p).to_i.between?(1, @closed[k][:at]) } # it is among the closed
      facts = { closed: closed(near), cuts: @cuts, starts: @starts, lost: @lost, siblings: kin, unfound: unfound }
      facts.update(readers: readers, resumed: @resumed, more: @more + @over, **plugins(all))
      @server.shutdown # a child that a plugin has forked may keep it open
    end
  rescue StandardError
    @fault = failed($!)
  ensure
    facts = { v: 1, pid: @pid, pod: @pod, final: well && exits, error: trouble, heard: told, ends: @ends }.merge(facts || {})
    write(JSON.generate(facts)) rescue nil
  end
  def write(text) # a neighbour may have put a link or a FIFO there
    File.unlink(tmp = @stem + '.tmp') rescue nil
    File.open(tmp, File::WRONLY | File::CREAT | File::EXCL | File::NOFOLLOW, 0644) { |f| f.write(text) }
    File.rename(tmp, @stem + '.end')
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
  def look(asked) # four times a second, but a fortieth of the time at most
    return unless (start = clock) >= @due || asked
    cost = clock(Process::CLOCK_THREAD_CPUTIME_ID)
    @reloads += 1 unless @root.equal?(@root = Fluent::Engine.root_agent)
    @inputs = defined?(Fluent::Plugin::TailInput) ? @root.inputs.grep(Fluent::Plugin::TailInput) : []
    tails = @inputs.flat_map { |i| var(i, :@tails).to_h.values }
    tails = ObjectSpace.each_object(Fluent::Plugin::TailInput::TailWatcher).to_a if asked && @inputs.any? # rotated too
    @watchers = tails.select { |w| reads?(w) }
    @stats = Hash.new { |h, p| h[p] = (File.stat(p) rescue nil) } # each may wait for Fluentd's threads: one for each file
    @sights = asked ? @watchers.first(20_000).map { |w| sight(w, @stats) } : []
    @marks = @watchers.map { |w| [h = var(w, :@io_handler), mark(w, h, asked)] }.to_h # a cut makes another handler
    names(asked)
    @cuts.dup.each { |c| c[:copy] ||= (copy_of(c) rescue nil) if ms - c[:at] < 5000 }
    @gap, @looked = [@gap, @looked ? start - @looked : 0].max, (clock if ready?)
    return if asked # what an answer costs the asker decides, who waits for it
    @due = clock + [0.2, 4 * (clock - start), 40 * (clock(Process::CLOCK_THREAD_CPUTIME_ID) - cost)].max
  end
  def mark(w, handler, asked) # what was read must still lie there, else the file was written anew, too fast for in_tail
    pos, (old, was, at) = w.pe.read_pos, (mark = @marks[handler])
    return mark if pos > 2**60 || old == pos && !(asked && @stats[w.path] && @stats[w.path].mtime >= at)
    File.open(w.path, 'rb') do |f|
      next unless f.stat.ino == w.pe.read_inode
      before = lambda { |n| n == 0 ? '' : f.pread([n, 64].min, [n - 64, 0].max) }
      now = before.call(old) if old && pos >= old
      keep(@lost, sight(w).merge(why: 'written anew')) if now && now != was && now.bytesize == was.bytesize
      mark = [pos, before.call(pos), Time.now - 1]
    end
    mark
  rescue SystemCallError, IOError # shorter than it was: a cut, of which in_tail tells
  end
  def names(asked) # what the paths of an input name and it passed over, or has not found yet, or never found
    inputs, found, keys = @watchers.group_by { |w| input(w) }, {}, nil
    followed = lambda { |key| (keys ||= @watchers.map { |w| [key(w), true] }.to_h)[key] }
    @inputs.each do |i|
      own = inputs[i].to_a.select { |w| !asked || (s = @stats[w.path]) && s.ino == w.pe.read_inode }
      (named(i) - own.map(&:path)).each do |p|
        next if (s = @stats[p]).nil? || !s.file? || s.size == 0 || followed.call(key = [reader(i), s.ino])
        next if var(i, :@limit_recently_modified) && s.mtime.to_f * 1000 < @pod
        b, c = @begun[key], @closed[key]
        next if b && (c.nil? || b > c[:at] || c[:pos] == s.size && s.mtime.to_f * 1000 <= c[:at])
        found[key] = [p, (@unfound[key] || [p, ms])[1], s.size, File.readable?(p)]
      end
    end
    gone = @unfound.reject { |key, (_, at)| found[key] || followed.call(key) || @begun[key].to_i >= at }
    gone.each { |(by, ino), (p, at)| keep(@lost, path: text(p), inode: ino, reader: by, at: at, why: 'never followed') }
    @unfound = found
  end
  def named(i); expanded(i, i.paths, :@path_formatters) - excluded(i); end
  def excluded(i); expanded(i, i.exclude_path, :@exclude_path_formatters); end
  def expanded(i, paths, formatters) # as in_tail's expand_paths, which logs, and leaves out what it may not read
    t, dated, glob = Time.now, var(i, formatters), i.respond_to?(:use_glob?) ? i.method(:use_glob?) : lambda { |p| p.include?('*') }
    paths.map { |p| dated ? dated[p].call(t) : t.strftime(p) }.flat_map { |p| glob.call(p) ? Dir.glob(p) : [p] }
  end
  def copy_of(cut) # copytruncate: a file beside it, written just before the cut and no longer than what had been read
    dir, name = File.split(File.realpath(cut[:path]))
    near = Dir.entries(dir).select { |n| n.start_with?(name[/[^.]*/]) }.map { |n| File.stat("#{dir}/#{n}") rescue nil }
    (near - [nil]).find do |x|
      x.file? && x.size.between?(1, cut[:pos]) && (cut[:at] / 1e3 - x.mtime.to_f).between?(-1, 60) &&
        @cuts.none? { |c| (c[:copy] || c)[:inode] == x.ino }
    end&.then { |s| { inode: s.ino, size: s.size } }
  end
  def beside(plugins) # all files in the directories of followed ones and one deeper, and those that look like a followed one's
    @real = {} if @real.nil? || @real.size > 10 * MANY # each call to the system may wait for Fluentd's threads
    real = lambda { |p| @real[p] ||= ((File.symlink?(p) ? File.realpath(p) : p) rescue p) }
    near = @watchers.map { |w| (s = @stats[w.path]) && [s.ino, [w.path, s]] }.compact.to_h
    known = near.values.map { |p, _| [real.call(p), true] }.to_h
    homes = (known.keys + @closed.values.map { |c| real.call(c[:path]) }).group_by { |p| File.dirname(p) }
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
          next if !s.file? || s.size == 0 || s.mtime.to_f * 1000 < @pod || NO_LOG.match?(n.b)
          files ||= followed.flat_map { |p| [[File.basename(p, '.*').b + "\0", p], [File.basename(p).b, p]] }.to_h
          next unless of = kin(n.b, files, dir == home)
          kin << [path, s, born(path), of] unless own.any? { |o| o && File.fnmatch?("#{o}*", path) }
        end
      end
    end
    seen = {}
    [*@begun.to_a, *@closed.map { |k, c| [k, c[:at]] }].each { |(_, ino), at| seen[ino] = [seen[ino].to_i, at].max }
    unread = @inputs.flat_map { |i| excluded(i) }.map { |p| @stats[p] && @stats[p].ino } # as the user decided
    inodes = @watchers.map { |w| w.pe.read_inode } + @cuts.map { |c| c[:copy] && c[:copy][:inode] } + unread
    inodes.each { |ino| seen[ino] = Float::INFINITY }
    kin = kin.uniq { |_, s| s.ino }.reject { |_, s, born| born && born < @pod || (at = seen[s.ino]) && born.to_i <= at }
    @over += [kin.size - MANY, 0].max
    [near, kin.first(MANY).map { |path, s, born, of| sibling(path, s, born, of) }]
  end
  def sibling(path, stat, born, of) # a gzip file ends with the size of what is in it (RFC 1952)
    plain = (File.open(path, 'rb') { |f| f.seek(-4, 2) && f.read.unpack('V')[0] } if path.b =~ /\.gz\z/n) rescue nil
    facts = { path: text(path), inode: stat.ino, size: stat.size, born: born, followed: text(of) }
    plain ? facts.merge(plain: plain) : facts
  end
  def kin(name, files, beside) # app.log.1, app.log-2026.gz, app-2026-01-01.log, app.1.log.gz; not app-audit.log
    return (files[name] unless beside) if files.key?(name)
    whole = (1...name.size).find { |n| files.key?(name[0, n]) && name[n] !~ /[a-z]/in }
    return files[name[0, whole]] if whole
    ext = File.extname(plain = name.sub(PACKED, '')) # "\0" stands for any
    ext, rest = ext =~ /[^.\d]/n ? [ext, plain.delete_suffix(ext)] : [("\0" if plain != name), plain]
    digits = ext ? rest[/[\d._:+TZ-]*\d[\d._:+TZ-]*\z/n].to_s.size : 0
    (1..digits).map { |n| files[rest[0, rest.size - n] + ext] }.compact.first
  end
  def closed(near) # with what lies under its number now
    @closed.values.map { |c| (path, s = near[c[:inode]]) ? c.merge(size: s.size, born: born(path)) : c }
  end
  def unfound
    @unfound.first(MANY).map { |(by, ino), (p, _, size, may)| { path: text(p), inode: ino, reader: by, size: size, readable: may } }
  end
  def serve
    @root ||= defined?(JSON) && defined?(Fluent::Engine.root_agent) && Fluent::Engine.root_agent
    client = IO.select([@server], nil, nil, 0.25) && (@server.accept rescue (sleep 1; nil)) # no descriptor left
    asked = client && (question(client, clock + 1) rescue nil)
    start = clock
    begin look(asked) if @root; @error = nil; rescue StandardError; @error = failed($!); end
    return unless asked
    facts, stop = (@root ? reply(asked) : {} rescue { error: failed($!) }), clock + 2
    s = (@root ? JSON.generate({ v: 1 }.merge(facts)) : '{"v":1,"error":"Fluentd is starting"}') + "\n"
    rest = clock - start # whoever asks without a pause gets half of the time
    s = s.byteslice(client.write_nonblock(s)..-1) while !s.empty? && IO.select(nil, [client], [], [stop - clock, 0].max)
  rescue StandardError # the client is gone, or does not read
  ensure
    client.close if client
    sleep rest if rest
  end
  def question(client, stop, line = +'')
    until line.include?("\n")
      return unless line.size < 64 && IO.select([client], nil, nil, [stop - clock, 0].max)
      line << client.read_nonblock(64 - line.size)
    end
    line.strip
  end
  def reply(word) # a worker ignores SIGINT (supervisor.rb, install_main_process_signal_handlers)
    stop = @supervisor.nil? ? [:INT, @pid] : @supervisor == Process.ppid ? [:INT, @supervisor] : [:TERM, @pid]
    sent = { 'flush' => [:USR1, @pid], 'stop' => stop }[word]
    return word == 'look' ? answer : { error: 'unknown word' } unless sent
    ready? ? { done: word, sent: Process.kill(*sent) } : { error: 'not ready' }
  end
  def id(p); text(p.plugin_id) if p.respond_to?(:plugin_id); end
  def ready? # inputs start last (root_agent.rb, start); while Fluentd configures there are none yet
    all = [@root.inputs, @root.outputs + @root.labels.values.flat_map(&:outputs)].find(&:any?)
    return all.all?(&:after_started?) if all
    Thread.main.backtrace.to_a.first(2).any? { |at| at =~ /engine\.rb:\d+:in .*run/ } # a worker without any
  end
  def answer # in the order in which a line travels: files, then what filters hold, then outputs
    running = ObjectSpace.each_object(Fluent::Plugin::Base).select { |p| p.started? && !p.terminated? rescue false }
    near, kin = beside(running)
    { pid: @pid, supervisor: @supervisor, born: @born, pod: @pod, ready: ready?, error: trouble, reloads: @reloads,
      gap: @gap.round(3), readers: readers, files: @sights, closed: closed(near), cuts: @cuts, starts: @starts,
      lost: @lost, unfound: unfound, denied: @inputs.flat_map { |i| denied(i) }, siblings: kin,
      held: running.map { |p| { class: p.class.name, id: id(p), n: held(p) } }.reject { |h| h[:n] == 0 },
      **plugins(running), heard: told, ends: @ends, resumed: @resumed, again: @again,
      more: @more + @over + [@unfound.size - MANY, 0].max + [@watchers.size - 20_000, 0].max }
  end
  def plugins(all)
    kinds = { filters: all.grep(Fluent::Plugin::Filter), inputs: @inputs }
    kinds = kinds.map { |k, l| [k, l.map { |p| { class: p.class.name, settings: settings(p) } }.uniq] }.to_h
    kinds.merge(outputs: all.grep(Fluent::Plugin::Output).map { |o| output(o) })
  end
  def denied(i) # directories on a path's way that may not be listed or entered
    ways = i.paths.map { |p| Time.now.strftime(p).scan(%r{[^/]*/}) }
    dirs = Dir.glob(ways.flat_map { |w| w.each_index.map { |n| w[0..n].join } }.uniq)
    dirs.reject { |d| File.readable?(d) && File.executable?(d) }.first(100).map { |d| text(d) }
  end
  def held(p) # records in instance variables, outside any buffer: concat's and detect_exceptions'
    kept, more = [:@buffer, :@accumulators].map { |v| var(p, v).is_a?(Hash) ? var(p, v).values : [] }
    (kept.map { |v| v.respond_to?(:size) ? v.size : 1 } + more.map { |v| var(v, :@messages).to_a.size }).inject(0, :+)
  end
  def output(o) # a chunk taken back goes from the third list to the second; the bytes tell of one between two
    facts = { id: id(o), class: o.class.name, retry: !!var(o, :@retry), settings: settings(o) }
    return facts unless (b = var(o, :@buffer)).is_a?(Fluent::Plugin::Buffer)
    stage, queue, dequeued = %i[@stage @queue @dequeued].map { |v| list(b, v).size }
    dequeued += var(o, :@dequeued_chunks).to_a.size
    bytes = %w[stage queue].map { |v| var(var(b, :"@#{v}_size_metrics"), :@store) || (b.public_send("#{v}_size") rescue 0) } # of one that has ended nothing is left
    facts.merge(stage: stage, queue: queue, dequeued: dequeued, bytes: bytes.inject(0, :+),
                chunks: ((i = ids(b)).size <= MANY ? i : nil))
  end
  def list(b, name); (l = var(b, name)).is_a?(Hash) ? l.values : l.to_a.dup; end
  def ids(b) # the queue once more, for what was taken back meanwhile
    %i[@stage @queue @dequeued @queue].flat_map { |v| list(b, v) }.map { |c| c.unique_id.unpack('H*')[0] }.uniq
  end
  def settings(p) # no text but a protocol's name
    facts = SETTINGS.map { |n| [n, (v = var(p, :"@#{n}")).nil? ? var(p, :@buffer_config)&.[](n) : v] }.to_h
    facts.map { |n, v| [n, v.is_a?(Array) ? v.any? : n == :multiline_mode && p.instance_variable_defined?(:@multiline_mode) ? !!v : v] }.select do |n, v|
      [true, false].include?(v) || v.is_a?(Numeric) || v.is_a?(Symbol) || n == :protocol && v
    end.to_h
  end
end
worker = (ARGV & %w[--under-supervisor --no-supervisor]).any? && !ARGV.include?('--dry-run')
begin PosidleWitness.new if worker; rescue Exception; nil; end # it stands down; Fluentd runs as if it were not there
