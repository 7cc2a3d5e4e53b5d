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
  QUOTED = /(?<!\w)(?:(")(?>[^"\\]+|\\.)+"?|(')(?>[^'\\]+|\\.)+'?)/m.freeze
  LATER = { Object => :never }.freeze
  def initialize
    require 'socket.so' # socket.rb would activate the gem io-wait, and nothing may be chosen before Fluentd chooses
    @born, @pid, @supervisor = ms, Process.pid, (Process.ppid if ARGV.include?('--under-supervisor'))
    dir = ENV['POSIDLE_DIR'] || __dir__
    @server = UNIXServer.new((@stem = File.join(dir, "#{@born}-#{@pid}")) + '.sock') # before a line can be read
    File.chmod(0666, @stem + '.sock') rescue nil
    @pod = [__FILE__, *host].map { |p| (File.stat(p).mtime.to_f * 1000 rescue @born) }.min - 1000 # who writes it, writes it first
    @sizes, @begun, @closed, @marks, @unfound, @readers, @heard, @sources, @traces, @held, @new = {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}.compare_by_identity
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
  def text(s)
    return if s.nil?
    (s = s.to_s).encoding == Encoding::UTF_8 && s.valid_encoding? ? s : s.dup.force_encoding('UTF-8').scrub
  end
  def failed(e); text("#{e.class}: #{e.message} #{e.backtrace.to_a.first}"); end
  def keep(list, fact); list.size < MANY ? list << fact : @more += 1; end
  def host # a container's is mounted: it was made with the Pod, whose other containers may be older than this one
    name = '/etc/hostname'
    File.stat(name).dev == File.stat('/etc').dev ? [] : [name]
  rescue SystemCallError
    []
  end
  def listen # to events, in Fluentd's threads; each is set where its class ends, before an object of it lives
    TracePoint.new(:end) do |tp|
      case Module.instance_method(:name).bind(c = tp.self).call
      when 'Fluent::Log' then %i[warn error fatal].each { |m| trace(m, c, m, %i[args block]) { |_, said| heard(m, *said) } }
      when 'Fluent::Plugin::Buffer'
        trace(:ends, c, :close) { |b| keep(@ends, output(b.owner)); last_word(false) }
        trace(:resumes, c, :start, nil, :return) { |b, _, e| ids(b).each { |i| resumes(i) } if e == :return }
      when 'Fluent::Plugin::Output' then trace(:attempts, c, :try_flush, nil, :return) { |_, _, e| attempt(e == :call) }
      when 'Fluent::NoMatchMatch' then trace(:unmatched, c, :emit_events, :tag) { |_, tag| unmatched(tag) }
      when 'Fluent::RootAgent' then trace(:errors, c, :handle_emits_error, :error) { |_, e| refused(e) }
      when /\AFluent::Plugin::TailInput(::LineFeeder)?\z/ # 1.20 has both: one calls the other, or nobody calls it
        @traces.delete(:parses).disable if $1 && @traces[:parses]
        trace(:parses, c, :parse_singleline, :lines, :return) { |_, had, e, left| dropped(had.size - had.count(''), left) if e == :return }
      when 'Fluent::Plugin::ParserFilter' # 1.14 has it for all filters
        trace(:filters, c, :filter_stream, :es, :return) { |p, had, e, left| dropped(had.size, left) if e == :return && c === p }
      when 'Fluent::EventRouter' then trace(:emits, c, :emit_stream) { @again += 1 if Thread.current[:posidle] }
      when 'Fluent::Plugin::TailInput::TailWatcher'
        trace(:turns, c, :on_rotate, :stat, :return) { |w, s, e| e == :call ? turns(w, s) : begins(w) }
        trace(:closes, c, c.method_defined?(:force_close) ? :force_close : :close) { |w| closes(w) if reads?(w) }
      end
    end.enable
  end
  def trace(key, c, m, arg = nil, *more) # Ruby 2.6; where it fails nothing is heard, so nothing is proven
    t = TracePoint.new(:call, *more) do |tp|
      Thread.handle_interrupt(LATER) do # a Timeout that strikes here is Fluentd's, and comes after it
        begin yield tp.self, locals(tp, arg), tp.event, (tp.return_value if tp.event == :return) rescue @fault = failed($!) end
      end
    end
    (@traces[key] ||= t.enable(target: c.instance_method(m)) || t) if c.method_defined?(m) rescue @fault = failed($!)
  end
  def locals(tp, names)
    names.is_a?(Array) ? names.map { |n| tp.binding.local_variable_get(n) } : names && tp.binding.local_variable_get(names)
  end
  def trouble
    deaf = %i[warn error fatal ends resumes attempts emits unmatched errors] + (@inputs.any? ? %i[turns closes parses] : []) - @traces.keys
    @error || @fault || ("not heard: #{deaf.join(' ')}" if deaf.any?)
  end
  def heard(level, args, block = nil) # each way in which Fluentd drops a record is told by log.warn or log.error, shown or not
    args += [line(block)] if block && args.empty?
    said, more, err = [String, Hash, Exception].map { |c| args.find { |a| c === a } }
    err = more[:error] || more['error'] || err if more
    said ||= "#{err.class}: #{err.message}" if err.is_a?(Exception)
    said = "#{said} #{err.message}" if said && said.end_with?(':') && err.is_a?(Exception)
    said = text(said.to_s[0, 300])
    tag = more && more[:tag] || said[/tag="([^"]*)"/, 1]
    key = [level, source, kind(said), (err.class.name if err.is_a?(Exception)), tag && kind(tag)]
    return if !@heard.key?(key) && caller_locations.any? { |l| l.base_label == 'configure' } # of no record
    key = count(key, 1)
    Thread.current[:posidle][key] += 1 if Thread.current[:posidle]
  end
  def line(block) # what a block would say only it knows; that of in_tail (1.20) says the line that was no record
    own = block.binding
    own.local_variable_get(:line).inspect if own.local_variable_defined?(:line)
  end
  def source # the file that says it: who called log.warn, or else the next above; each frame costs some microseconds
    at = caller_locations(7, 1).to_a.first
    at = caller_locations(8, 6).to_a.find { |l| !OWN.match?(l.path) } if at && OWN.match?(at.path)
    from = at ? at.path : ''
    @sources[from] ||= text(from[%r{.*/lib/(.*)}, 1] || from)
  end
  def unmatched(tag) # Fluentd says it at the first, second, fourth … time only, whatever the tag (match.rb)
    count(['warn', 'fluent/match.rb', 'no patterns matched', nil, kind(tag)], 1)
  end
  def refused(err) # emit_error_log_interval keeps it from being said (root_agent.rb)
    count(['warn', 'fluent/root_agent.rb', kind("emit transaction failed: #{err.message}"), err.class.name], 1)
  end
  def dropped(had, left) # a JSON parser makes nothing of `[]`, and says nothing
    count(['warn', 'fluent/plugin/parser', 'a line or a value became no record', nil, nil], had - left.size) if left && left.size < had
  end
  def kind(said) # without what makes each message another one
    said = text(said.to_s[0, 300]).gsub(QUOTED, '\1\2…\1\2')
    said.gsub(%r{/\S+}, '…').gsub(/\b\h{8,}\b|\d+/, '#')[0, 120]
  end
  def count(key, n)
    @mutex.synchronize do
      key = FULL if @heard.size >= 500 && !@heard.key?(key)
      (n += @heard[key].to_i) > 0 ? @heard[key] = n : @heard.delete(key)
    end
    key
  end
  def attempt(begins) # what is said while Fluentd tries to flush a chunk is of no loss if it then takes the chunk back
    said, Thread.current[:posidle] = Thread.current[:posidle], (Hash.new(0) if begins)
    return if begins || said.nil? || said.none? { |k, _| k[1] == 'fluent/plugin/output.rb' && FLUSHES.match?(k[2]) }
    said.each { |key, n| key == FULL ? nil : (count(key, -n); count(key + ['flush'], n)) }
  end
  def told; @heard.dup.map { |k, n| %i[level file text error tag during].zip(k).to_h.merge(n: n) }; end
  def resumes(chunk) # after a reload it may be one that a buffer of this worker held at its end
    keep(@resumed, chunk)
    @ends.each { |e| (e[:chunks] || []).delete(chunk) }
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
  def look(asked) # four times a second, but a fortieth of the time at most
    return unless (start = clock) >= @due || asked
    cost = clock(Process::CLOCK_THREAD_CPUTIME_ID)
    @reloads += 1 unless @root.equal?(@root = Fluent::Engine.root_agent)
    look_at_files(asked)
    @gap, @looked = [@gap, @looked ? start - @looked : 0].max, (clock if ready?)
    return if asked # what an answer costs the asker decides, who waits for it
    @due = clock + [0.2, 4 * (clock - start), 40 * (clock(Process::CLOCK_THREAD_CPUTIME_ID) - cost)].max
  end
  def serve
    @root ||= defined?(JSON) && defined?(Fluent::Engine.root_agent) && Fluent::Engine.root_agent
    client = IO.select([@server], nil, nil, 0.25) && (@server.accept rescue (sleep 1; nil)) # no descriptor left
    asked = client && (question(client, clock + 1) rescue nil)
    client.write_nonblock(' ') if asked # a sign of life: the rest takes its time
    start = clock
    begin look(asked) if @root; @error = nil; rescue StandardError; @error = failed($!); end
    return unless asked
    facts, stop = (@root ? reply(asked) : {} rescue { error: failed($!) }), clock + 2
    s = (@root ? JSON.generate({ v: 1 }.merge(facts)) : %({"v":1,"pid":#{@pid},"ready":false})) + "\n"
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
  def held(p) # records in instance variables, outside any buffer: concat's and detect_exceptions'
    kept, more = [:@buffer, :@accumulators].map { |v| var(p, v).is_a?(Hash) ? var(p, v).values : [] }
    (kept.map { |v| v.respond_to?(:size) ? v.size : 1 } + more.map { |v| var(v, :@messages).to_a.size }).inject(0, :+)
  end
  def output(o) # a chunk taken back goes from the third list to the second; the bytes tell of one between two
    facts = { id: id(o), class: o.class.name, retry: !!var(o, :@retry), settings: settings(o) }
    return facts unless (b = var(o, :@buffer)).is_a?(Fluent::Plugin::Buffer)
    stage, queue, dequeued = %i[@stage @queue @dequeued].map { |v| list(b, v).size }
    dequeued += var(o, :@dequeued_chunks).to_a.size
    bytes = %w[stage queue].map do |v|
      var(var(b, :"@#{v}_size_metrics"), :@store) || (b.public_send("#{v}_size") rescue 0) # one that has ended has no size
    end
    facts.merge(stage: stage, queue: queue, dequeued: dequeued, bytes: bytes.inject(0, :+),
                chunks: ((i = ids(b)).size <= MANY ? i : nil))
  end
  def list(b, name); (l = var(b, name)).is_a?(Hash) ? l.values : l.to_a.dup; end
  def ids(b) # the queue once more, for what was taken back meanwhile
    %i[@stage @queue @dequeued @queue].flat_map { |v| list(b, v) }.map { |c| c.unique_id.unpack('H*')[0] }.uniq
  end
  def settings(p) # no text but a protocol's name
    facts = SETTINGS.map do |n|
      v = var(p, :"@#{n}")
      v = var(p, :@buffer_config)&.[](n) if v.nil?
      v = v.any? if v.is_a?(Array)
      v = !!v if n == :multiline_mode && p.instance_variable_defined?(:@multiline_mode)
      [n, v]
    end
    facts.select { |n, v| [true, false].include?(v) || v.is_a?(Numeric) || v.is_a?(Symbol) || n == :protocol && v }.to_h
  end
end
worker = (ARGV & %w[--under-supervisor --no-supervisor]).any? && !ARGV.include?('--dry-run')
begin
  require_relative('files') && PosidleWitness.new if worker
rescue Exception # it stands down; Fluentd runs as if it were not there
  nil
end
