# A probe inside Fluentd's workers. It patches and logs nothing of Fluentd's, and its thread takes no lock of it. TracePoints
# report what in_tail begins, cuts and closes, what closing buffers hold, and what Fluentd logs; a cheap look finds what
# in_tail never saw. If nobody answers at the socket, the worker is gone, and .end is its last report.
class PosidleWitness
  MANY = 2000 # no list of facts is longer; @more counts the forgotten ones, and then nothing is proven
  CHUNKS = 20_000 # that are told by their ids, 32 bytes each
  OWN = %r{(\A|/)(witness|log|\w*logger|delegate)\.rb\z}.freeze # files that log for other files
  SOURCES = %r{/(log|match|root_agent|supervisor|event_router|buffer|output|in_tail.*|filter_parser|out_rewrite_tag_filter)\.rb\z}.freeze # or copies
  FLUSHES = /\Afailed to flush the buffer( with secondary output)?\./.freeze # output.rb, update_retry_state: taken back
  SETTINGS = %i[require_ack_response required_acks use_http log_rejected_request emit_error_label_event use_ack
                emit_unmatched_lines reserve_data multiline_mode emit_mode emit_error_for_missing_id check_object
                blind_write allow_duplicate_key write_operation default_route s3_object_key_format object_key_format
                insert_key_prefix].freeze
  QUOTED = /(?<!\w)(?:(")(?>[^"\\]+|\\.)+"?|(')(?>[^'\\]+|\\.)+'?)/m.freeze
  ASIDE = /\A(?:bad chunk is moved|chunk files are evacuated) to (.+?)\.?\z/m.freeze # buffer.rb, buf_file.rb, output.rb
  def initialize
    require 'socket.so' # socket.rb would activate the gem io-wait, and nothing may be chosen before Fluentd chooses
    @pid, @supervisor = Process.pid, (Process.ppid if ARGV.include?('--under-supervisor'))
    @stem = File.join(ENV['POSIDLE_DIR'].to_s[/.+/] || __dir__, "#{born = ms}-#{@pid}")
    before, ENV['POSIDLE_BORN'] = ENV['POSIDLE_BORN'], @stem + '.sock'
    File.unlink(before) if before.to_s.end_with?("-#{@pid}.sock") rescue nil # this process, before an exec (bundler's)
    @server = UNIXServer.new(@stem + '.born') # before a line can be read
    File.chmod(0666, @stem + '.born') rescue nil
    File.rename(@stem + '.born', @stem + '.sock') # every visible socket has a listener
    # The witness is written before Fluentd starts. A container's hostname is a mount, made with the Pod.
    host = '/etc/hostname' unless (File.stat('/etc/hostname').dev == File.stat('/etc').dev rescue true)
    @pod = [__FILE__, *host].map { |path| ms(File.mtime(path)) rescue born }.min - 1000
    @begun, @closed, @held, @marks, @heads, @unfound, @messages, @traces, @real, @past = Array.new(10) { {} }
    @starts, @cuts, @lost, @ends, @resumed, @inputs, @watchers, @reports, @aside = Array.new(9) { [] }
    @open, @new, @named, @early, @flushes = Array.new(5) { {}.compare_by_identity }
    @orders, @mutex = {}, Mutex.new
    @more = @over = @due = @gap = @again = @flushed = 0
    @tally, @numbers = {}.compare_by_identity, { lines: 0, refused: 0, unrouted: 0, unparsed: 0 }
    listen
    at_exit { last_report($!.nil? || $!.is_a?(SystemExit) && $!.success?) if Process.pid == @pid }
    @thread = Thread.new { begin loop { serve }; rescue Exception; @server.close; end }
    @thread.name = 'posidle-witness'
  end
  def clock(id = Process::CLOCK_MONOTONIC); Process.clock_gettime(id); end
  def ms(time = Time.now); (time.to_f * 1000).to_i; end
  def var(o, name); o.instance_variable_get(name) if o && o.instance_variable_defined?(name); end
  def text(s); s && s.dup.force_encoding('UTF-8').scrub; end
  def failed(e); text("#{e.class}: #{e} #{e.backtrace.to_a.first}"); end
  def keep(list, fact, most = MANY); list.size < most ? list << fact : @more += 1; end
  def listen # to events, in Fluentd's threads; each is set where its class ends, before an object of it lives
    TracePoint.new(:script_compiled) do |tp| # listening to :end in every file makes each start 10 ms slower
      next unless (SOURCES.match?((code = tp.instruction_sequence).path) rescue nil) # a path of any encoding
      TracePoint.new(:end) { |at| hook(at.self) rescue @fault = failed($!) }.enable(target: code) rescue nil # no class
    end.enable
  end
  def hook(c)
    case Module.instance_method(:name).bind(c).call
    when 'Fluent::Log'
      %i[warn error fatal].each { |m| trace(m, c, m, %i[args block]) { |_, had| logs(m, *had) } }
    when 'Fluent::Plugin::Buffer' # it closes after the flush threads have ended: what it holds was not sent
      trace(:ends, c, :close) do |b|
        keep(@ends, output(b.owner).merge(reloaded: !var(Fluent::Engine, :@engine_stopped))) # reload_config
        @tally.delete(b.owner)
      end
      trace(:resumes, c, :start, [], :return) { |b, _, done| done ? starts(b) : @early[b] = [var(b, :@stage), var(b, :@queue)] }
      trace(:purges, c, :purge_chunk, %i[chunk_id]) { |b, (id)| purges(b, id) } # only by commit_write and drop_oldest_chunk
      trace(:clears, c, :clear_queue!) { |b| clears(b) } # at the retry limit, told only where there is an error (output.rb)
    when 'Fluent::Plugin::Output' # commit_write is the only way out of a buffer that says "delivered"
      trace(:attempts, c, :try_flush, [], :return) { |_, _, done| attempt(done.nil?) }
      trace(:takes, c, :execute_chunking, %i[tag es], :return) { |o, had, done| takes(o, *had, done) }
      trace(:backups, c, :backup_chunk, %i[chunk]) { |o, (chunk)| leaves(chunk.unique_id, thrown?(o) ? :unrecoverable : :aside) }
      trace(:commits, c, :commit_write, %i[chunk_id secondary]) do |_, (id, secondary)|
        leaves(id, secondary ? :secondary : :delivered) unless Thread.current[:posidle_way].to_a[0] == id
      end
    when 'Fluent::NoMatchMatch' # Fluentd says it the first, second, fourth … time only, whatever the tag (match.rb)
      trace(:unmatched, c, :emit_events, %i[tag es]) { |_, (tag, es)| number(:unrouted, es.size) unless OWN_TAG.match?(tag) }
    when 'Fluent::RootAgent' # emit_error_log_interval keeps it from being said (root_agent.rb)
      trace(:errors, c, :handle_emits_error, %i[tag es error]) { |agent, (tag, es, e)| refuses(agent, tag, es, e) }
      trace(:rescues, c, :emit_error_event) { |agent| rescued.transform_values!(&:succ) if var(agent, :@error_collector) }
    when 'Fluent::Supervisor' # a worker that fails ends by exit!, without at_exit
      trace(:fails, c, :logging_with_console_output, [], :return) { |_, _, done| last_report(true) if done && took_nothing? }
    when 'Fluent::Plugin::TailInput'
      trace(:reads, c, :receive_lines, %i[lines], :return) { |_, (lines), done| counts_lines(lines, done) }
      parser = c.const_defined?(:LineFeeder, false) ? c::LineFeeder : c # 1.20 has both: one calls the other, or nobody calls it
      trace(:feeds, parser, :emit, %i[es], :return) { |_, (es), done| feeds(es, done) } # of 1.20, which drops an error there
      trace(:parses, parser, :parse_singleline, %i[lines], :return) { |_, (lines), done| dropped(lines, *done) if done }
    when 'Fluent::Plugin::TailInput::TailWatcher'
      trace(:rotates, c, :on_rotate, %i[stat], :return) { |w, (stat), done| done ? after_rotate(w, stat) : before_rotate(w, stat) }
      trace(:closes, c, c.method_defined?(:force_close) ? :force_close : :close) { |w| closes(w) if @open.delete(w) && reads?(w) }
    when 'Fluent::Plugin::TailInput::TailWatcher::IOHandler' # with num_threads of 1.20
      trace(:pooled, c, :complete_async, %i[success]) { |h, (done)| number(:lines, var(h, :@lines).size) if done }
    when 'Fluent::Plugin::ParserFilter' # without emit_invalid_record_to_error it drops a value in silence
      if c.method_defined?(:filter_stream, false)
        trace(:filters, c, :filter_stream, %i[es], :return) { |f, (es), done| done ? dropped(es, done[0], f) : counts_values(f) }
      else # Fluentd 1.14: [nil, nil] is none
        trace(:filters, c, :filter_with_time, [], :return) { |f, _, (kept)| kept ? dropped([0], kept.compact, f) : rescued[f] = 0 }
      end
    when 'Fluent::Plugin::RewriteTagFilterOutput' # it says nothing of a record that fits no rule
      return unless c.method_defined?(:emit_mode) # since 2.3, as new_event_streams
      trace(:rewrites, c, :process, %i[tag es new_event_streams], :return) { |_, had, done| rewrites(*had) if done && done[0] }
    when 'Fluent::EventRouter'
      trace(:emits, c, :emit_stream) do
        Thread.current[:posidle_fed] = nil
        @again += 1 if Thread.current[:posidle]
      end
    end
  end
  def trace(key, c, m, names = [], *more) # Ruby 2.6; where it fails nothing is traced, so nothing is proven
    t = TracePoint.new(:call, *more) do |tp|
      Thread.handle_interrupt(Object => :never) do # a Timeout that strikes here is Fluentd's, and waits
        had = names.map { |n| tp.binding.local_variable_get(n) }
        yield tp.self, had, (tp.event == :call ? nil : [tp.return_value])
      rescue Exception # whatever a plugin raises
        @fault = failed($!)
      end
    end
    return unless c.method_defined?(m) || c.private_method_defined?(m)
    @traces.delete(key).to_a.first(1).each(&:disable) # a copy defines it anew
    t.enable(target: (method = c.instance_method(m)))
    @traces[key] = [t, method]
  rescue StandardError
    @fault = failed($!)
  end
  def valid?(method) # no other file has defined it anew; what is prepended to it calls it
    now = method.owner.instance_method(method.name)
    now = now.super_method until now.nil? || now.owner == method.owner
    now && now.source_location == method.source_location
  end
  def trouble
    missing = %i[warn error fatal ends resumes clears attempts emits unmatched errors purges takes backups commits]
    missing += %i[rotates closes parses reads] if @inputs.any?
    missing << :filters if defined?(Fluent::Plugin::ParserFilter)
    missing << :rewrites if (Fluent::Plugin::RewriteTagFilterOutput.method_defined?(:emit_mode) rescue nil)
    missing -= @traces.to_a.select { |_, (_, method)| valid?(method) }.map(&:first)
    @error || @fault || ("not traced: #{missing.join(' ')}" if missing.any?)
  end
  def logs(level, args, block = nil) # Fluentd says by log.warn or log.error, shown or not, that it drops a record
    own = block.binding if block && args.empty? # only the block knows the message; in_tail's (since 1.19) is this one
    args = ["pattern not matched: #{own.local_variable_get(:line).inspect}"] if own && own.local_variable_defined?(:line)
    said, more, err = [String, Hash, Exception].map { |c| args.find { |a| c === a } }
    more &&= {}.merge(more) # without its default procs
    err = [more[:error], more['error'], err].find { |e| Exception === e } if more
    said ||= "#{err.class}: #{err}" if err # as Fluentd's log, which calls to_s
    said = "#{said} #{err}" if err && said.end_with?(':')
    said = text(said.to_s[0, 4096])
    aside = said[ASIDE, 1]
    evacuates(more[:chunk_id]) if aside && more
    keep(@aside, aside) unless aside.nil? || @aside.include?(aside)
    return if more && OWN_TAG.match?(more[:tag].to_s)
    key = { file: source, text: kind(said), error: (err.class.name if err), level: level }
    return if !@messages.key?(key) && caller_locations.any? { |l| l.base_label == 'configure' } # of no record
    count(key)
    Thread.current[:posidle][key] += 1 if Thread.current[:posidle]
  end
  def source # the file that called log.warn, or its caller; a frame costs microseconds
    at = caller_locations(7, 7).to_a.find { |l| !OWN.match?(l.path) }
    at ? text(at.path[%r{.*/lib/(.*)}, 1] || at.path) : ''
  end
  def dropped(had, left, filter = nil) # without a word: `[]` in JSON, `{}` in ltsv; an empty line is no record
    several = values.delete(filter).to_a.sum { |n| [n - 1, 0].max } # of one record, or line
    taken = rescued.delete(filter).to_i
    return unless left
    made = var(left, :@record_array).to_a
    n = had.size + several - left.size - taken + made.count { |record| !(Hash === record) || record.empty? }
    n -= had.count('') if had.is_a?(Array)
    number(:unparsed, n) if n > 0
  end
  def counts_values(filter) # from now on; it costs microseconds a record, so only where nothing else tells
    rescued[filter] = 0 unless var(filter, :@reserve_data) # or the record goes on, too
    return if @traces[:values] || var(filter, :@emit_invalid_record_to_error)
    trace(:values, filter.class.instance_method(:filter_one_record).owner, :filter_one_record, [], :b_return) do |f, _, made|
      made ? values[f][-1] += 1 : (values[f] ||= []) << 0
    end
  end
  def values; Thread.current[:posidle_values] ||= {}.compare_by_identity; end # of each record, by the filter
  def rescued; Thread.current[:posidle_rescued] ||= {}.compare_by_identity; end # by <label @ERROR>
  def rewrites(tag, es, made) # by tag, since 2.4 by label and tag; nil with emit_mode record
    made &&= made.values.flat_map { |one| one.is_a?(Hash) ? one.values : [one] }
    n = made ? es.size - made.sum(&:size) : 0
    number(:unrouted, n) if n > 0 && !OWN_TAG.match?(tag)
  end
  def kind(said) # without the parts that differ from message to message
    said = text(said.to_s[0, 300]).gsub(QUOTED, '\1\2…\1\2')
    said.gsub(%r{/\S+}, '…').gsub(/(?<!longer than )(?<!\d)(\b\h{8,}\b|\d+)/, '#')[0, 120] # but for max_line_size
  end
  def count(key, n = 1)
    @mutex.synchronize do
      @messages.size < 500 || @messages.key?(key) ? @messages[key] = @messages[key].to_i + n : @more += 1
    end
  end
  def attempt(begins) # messages of a failed flush are no loss: Fluentd takes the chunk back
    said, Thread.current[:posidle] = Thread.current[:posidle], (Hash.new(0) if begins)
    return if begins || said.nil? || said.none? { |k, _| k[:file] == 'fluent/plugin/output.rb' && FLUSHES.match?(k[:text]) }
    said.each { |key, n| count(key, -n) if @messages.key?(key) }
  end
  def messages; @messages.to_a.map { |key, n| key.merge(n: n) if n > 0 }.compact; end
  # Events of Fluentd's own log may come before the start, which finds their chunks' files again, and may miss one that is
  # written meanwhile. After a reload a chunk may be one that a buffer of this worker held at its end.
  def starts(buffer)
    all = chunks(buffer)
    early = @early.delete(buffer).to_a.flat_map { |l| items(l) }
    early.select! { |c| all.any? { |one| one.unique_id == c.unique_id } }
    tally(buffer.owner, :left, held(all) - held(early))
    (ids(all) - ids(early)).each do |chunk|
      keep(@resumed, chunk, CHUNKS)
      @ends.each { |e| e[:chunks]&.delete(chunk) }
    end
  end
  def took_nothing?; @resumed.empty? && Fluent::Engine.root_agent.inputs.none?(&:started?); end # inputs start last
  def last_report(well)
    @thread.kill
    look(true) if @root
    @watchers.each { |w| closes(w) if w.pe.read_pos < 2**60 } # 1.14 leaves those of rotated files open
    used = plugins.select { |p| p.configured? rescue false } # also ended ones; a reload makes some to check a configuration
    word = facts(used).merge(final: well, ready: @ready == true, files: [])
  rescue StandardError
    word = { v: 1, pid: @pid, final: well, error: failed($!) }
  ensure
    write(JSON.generate(word)) rescue nil # for askers who find nobody at the socket
    @server.shutdown rescue nil # a child that a plugin has forked may keep it open
  end
  def write(text) # a neighbour may have put a link or a FIFO there
    File.unlink(tmp = @stem + '.tmp') rescue nil
    File.open(tmp, File::WRONLY | File::CREAT | File::EXCL | File::NOFOLLOW, 0644) { |f| f.write(text) }
    File.rename(tmp, @stem + '.end')
  end
  def look(asked) # four times a second, or so rarely that it takes a fortieth of the CPU and a fifth of the time, but at least every 3.5 s
    return unless (start = clock) >= @due || asked
    cost = clock(Process::CLOCK_THREAD_CPUTIME_ID)
    @root = Fluent::Engine.root_agent
    look_at_files(asked)
    @gap = [@gap, clock - @looked].max if @looked && !@stopped # a file may be made behind one look, and go before the next
    @stopped = var(Fluent::Engine, :@engine_stopped) # in_tail lets go of all
    @looked, @ready = start, @ready || ready? if @inputs.any? || ready? # in_tail may read long before it is ready
    cost = 40 * (clock(Process::CLOCK_THREAD_CPUTIME_ID) - cost)
    took = clock - start
    @due = [start + [[5 * took, cost].max, 3.5 - took].min, clock + 0.2].max unless asked # who decides
    true
  end
  # If the Pod ends (posidle made the mark), and main may still write, each second: then little is left if main uses up the
  # grace period, as a file buffer is not flushed when Fluentd stops. For each output in a thread, until its queue is empty, as
  # at SIGUSR1 (root_agent.rb, flush!). But that waits for all, and an output that hangs holds up the next flush of all others.
  def flush
    ends = @root && clock >= @flushed + 1 && File.exist?(File.join(File.dirname(@stem), 'ending'))
    return unless (@flush ||= ends) && ready? && !var(Fluent::Engine, :@engine_stopped) # buffers close then
    @flush, @flushed = nil, clock
    @flushes.delete_if { |o, asked| o.stopped? && asked.close } # a reload ended them
    outputs = [@root, *@root.labels.values].flat_map(&:outputs) # `lifecycle` would keep the list of a reload that goes on
    outputs.each do |o|
      outputs.concat(o.outputs) if o.respond_to?(:outputs)
      next unless var(o, :@buffering) && o.started? && !o.stopped?
      (@flushes[o] ||= flusher(o)) << true
    end
  rescue StandardError
    nil
  end
  def flusher(o) # what is asked for while it flushes comes after that, once
    Queue.new.tap { |asked| Thread.new { (asked.clear; o.force_flush unless o.stopped? rescue nil) while asked.pop } }
  end
  # Whether PID 1 of its container acts on SIGTERM; nil: unknown. Without a handler the kernel drops the signal
  # (pid_namespaces(7)). These inits have none: they wait for signals (sigtimedwait).
  def sigterm?
    status = File.read('/proc/1/status')
    inits = %w[tini tini-static docker-init dumb-init catatonit]
    status[/^SigCgt:\s*(\h+)/, 1].hex[14] == 1 || inits.include?(status[/^Name:\s*(.*)/, 1])
  rescue StandardError
    nil
  end
  def serve
    @root ||= defined?(JSON) && defined?(Fluent::Engine.root_agent) && Fluent::Engine.root_agent
    flush
    client = IO.select([@server], nil, nil, 0.25) && (@server.accept rescue (sleep 1; nil)) # no descriptor left
    asked = (client.read_nonblock(64).strip if client && IO.select([client], nil, nil, 1)) rescue nil
    client.write_nonblock(' ') if asked # a sign of life: the rest takes its time
    cost = clock(Process::CLOCK_THREAD_CPUTIME_ID)
    begin
      look(asked) && find(%w[find finish].include?(asked)) if @root
      finish if asked == 'finish' && @root
      @error = nil
    rescue StandardError
      @error = failed($!)
    end
    return unless asked
    facts, stop = (@root ? reply(asked) : {} rescue { error: failed($!) }), clock + 2
    s = (@root ? JSON.generate({ v: 1 }.merge(facts)) : %({"v":1,"pid":#{@pid},"ready":false})) + "\n"
    rest = clock(Process::CLOCK_THREAD_CPUTIME_ID) - cost # an asker without pauses gets half of its time
    s = s.byteslice(client.write_nonblock(s)..-1) while !s.empty? && IO.select(nil, [client], [], [stop - clock, 0].max)
  rescue StandardError # the client is gone, or does not read
  ensure
    client.close if client
    sleep rest if rest
  end
  # A worker ignores SIGINT (supervisor.rb). Its supervisor stops it within a second; if it ended by itself before its
  # supervisor has taken the stop, ServerEngine would start another one.
  def reply(word)
    running = plugins.select { |p| p.started? && !p.terminated? rescue false } if %w[look find finish].include?(word)
    return facts(running).merge(ready: ready?) if running
    return { error: 'unknown word' } unless %w[flush stop].include?(word)
    stop = @supervisor.nil? ? [:INT, @pid] : @supervisor == Process.ppid ? [:INT, @supervisor] : [:TERM, @pid]
    return { error: 'not ready' } unless ready? || word == 'stop' && runs?
    word == 'stop' ? Process.kill(*stop) : (@flush = true)
    { done: word }
  end
  def ready? # inputs start last (root_agent.rb, start); while Fluentd configures there are none yet
    all = [@root.inputs, @root.outputs + @root.labels.values.flat_map(&:outputs)].find(&:any?)
    return all.all?(&:after_started?) if all
    runs? # a worker without any
  end
  def runs?; Thread.main.backtrace.to_a.first(2).any? { |at| at =~ /engine\.rb:\d+:in .*run/ }; end # or waits for SIGWINCH
  def plugins # also those inside other plugins
    listed = @root ? @root.inputs + [@root, *@root.labels.values].flat_map { |agent| agent.filters + agent.outputs } : []
    shown = ObjectSpace.each_object(Fluent::Plugin::Base).to_a
    @fault ||= 'Ruby no longer shows the objects of Fluentd: a plugin has made a Ractor' if shown.empty? && listed.any?
    shown | listed
  end
  def facts(all)
    by_event = all.grep_v(Fluent::Plugin::Output).select { |p| p.respond_to?(:filter_stream) || p.respond_to?(:emit_events) }
    settings = (@inputs + by_event).map { |p| plugin(p) }.uniq
    (kept, outputs), moving = still do
      [all.map { |p| { class: p.class.name, n: kept(p), emits: interval(p) } }.reject { |h| h[:n] == 0 },
       all.grep(Fluent::Plugin::Output).reject(&:as_secondary).map { |o| output(o) }] # whose records are counted
    end
    siblings = siblings(all)
    forgotten = @more + @over + [@unfound.size - MANY, 0].max + [@watchers.size - 20_000, 0].max
    { v: 1, pid: @pid, sigterm: sigterm?, pod: @pod, error: trouble, gap: @gap.round(3),
      readers: @inputs.map { |i| reader(i) }, files: @reports, closed: closed, cuts: @cuts, starts: @starts, lost: @lost,
      unfound: @unfound.values.first(MANY).map { |u| u.merge(path: text(u[:path])) }, denied: @inputs.flat_map { |i| denied(i) },
      siblings: siblings, plugins: settings, kept: kept, outputs: outputs, messages: messages, aside: @aside, ends: @ends,
      resumed: @resumed, again: @again, more: forgotten, moving: moving,
      worker: ENV['SERVERENGINE_WORKER_ID'].to_i, workers: workers }.merge(@numbers)
  end
  def interval(p) # after so many seconds a plugin emits what it keeps; nil: only when it stops
    [var(p, :@multiline_flush_interval), var(p, :@flush_interval)].find { |v| v.is_a?(Numeric) }
  end
  def kept(p) # records in instance variables, outside any buffer: concat's and detect_exceptions'
    kept, more = [:@buffer, :@accumulators].map { |v| var(p, v).is_a?(Hash) ? var(p, v).values : [] }
    kept.sum { |v| v.respond_to?(:size) ? v.size : 1 } + more.sum { |v| var(v, :@messages).to_a.size }
  end
  def output(o)
    b = var(o, :@buffer)
    b = nil unless b.is_a?(Fluent::Plugin::Buffer)
    type = var(o, :@config).to_h.values_at('@type', 'type').compact[0]
    facts = plugin(o).merge(id: text(o.plugin_id), type: text(type), retry: !!var(o, :@retry), receipt: receipt(o, b))
    return facts unless b
    ids = ids(all = chunks(b))
    facts.merge(bytes: all.sum(&:bytesize), n: ids.size, chunks: (ids if ids.size <= CHUNKS))
  end
  def items(l); l.is_a?(Hash) ? l.values : l.to_a.dup; end
  def chunks(b); %i[@stage @queue @dequeued @queue].flat_map { |v| items(var(b, v)) }.uniq; end # they may go back to the queue meanwhile
  def ids(chunks); chunks.map { |c| c.unique_id.unpack('H*')[0] }; end
  def workers; Fluent::Engine.system_config.workers rescue nil; end
  def writers(p) # so many threads of all workers may write at the same time
    n = var(p, :@buffer_config)&.flush_thread_count
    var(p, :@config).for_every_workers? ? n * workers : n if n
  end
  def plugin(p) # the settings by which records vanish in silence
    settings = SETTINGS.map { |n| [n, (v = var(p, :"@#{n}")).is_a?(String) ? text(v) : v] }
    settings.select! { |_, v| [true, false, Numeric, Symbol, String].any? { |one| one === v } }
    { class: p.class.name, settings: settings.to_h.merge(writers: writers(p)).compact }
  end
end
require_relative 'files'
require_relative 'orders'
require_relative 'receipts'
PosidleWitness.new
