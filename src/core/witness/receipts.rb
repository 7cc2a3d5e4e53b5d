# Receipts: the lines that in_tail has read, counted for each batch, and the records that each output took, had left over
# from an earlier worker, delivered, gave to its secondary, set aside, dropped and holds, counted for each chunk. What it
# took is Fluentd's own counter. took + left = delivered + secondary + aside + dropped + held
class PosidleWitness
  OWN_TAG = /\Afluent\.(trace|debug|info|warn|error|fatal)\z/.freeze # of Fluentd's own log, no lines of a file
  MOVES = %r{/event_router\.rb:|/buffer\.rb:.*((en|de)queue|takeback|purge|clear_queue!)}.freeze # or between two lists
  OTHERS = %r{/plugin/in_(?!tail)\w+\.rb:}.freeze # inputs that read no log file
  def counts_lines(lines, done) # false, or the name of a state: it keeps the lines. nil: it returned in a rescue (Ruby 3.1)
    Thread.current[:posidle_refused] = nil unless done
    number(:lines, lines.size) if done && [true, nil].include?(done[0]) && !Thread.current[:posidle_refused].to_a[1]
  end
  def feeds(es, done) # the tag of a file whose name is not UTF-8 may raise, and then in_tail emits nothing
    n, Thread.current[:posidle_fed] = Thread.current[:posidle_fed], (es.size unless done)
    number(:refused, n) if done && n.to_i > 0
  end
  def number(what, n); @mutex.synchronize { @numbers[what] += n }; end
  def leaves(id, way); Thread.current[:posidle_way] = [id, way]; end
  def thrown?(o); var(var(o, :@buffer), :@disable_chunk_backup) || var(o, :@buffer_config)[:disable_chunk_backup]; end # or 1.14
  def purges(b, id)
    (mine, way), Thread.current[:posidle_way] = Thread.current[:posidle_way], nil
    tally(b.owner, mine == id ? way : :overflown, records(var(b, :@dequeued).to_h[id]))
  end
  def tally(o, way, n); @mutex.synchronize { (@tally[o] ||= Hash.new(0))[way] += n }; end
  def takes(o, tag, es, done) # [true]: all; a full buffer takes none, and raises
    own = OWN_TAG.match?(tag)
    tally(o, own ? :own : :lines, es.size) if own ? done && done[0] : done.nil?
  end
  def clears(b) # Fluentd 1.19 keeps the files of chunks, and says so with their ids
    all = items(var(b, :@queue)).map { |chunk| [ids([chunk])[0], records(chunk)] }.to_h
    Thread.current[:posidle_queue] = [b.owner, all]
    tally(b.owner, :exhausted, all.values.sum)
  end
  def evacuates(id)
    o, all = Thread.current[:posidle_queue]
    return unless all && (n = all.delete(id))
    tally(o, :exhausted, -n)
    tally(o, :aside, n)
  end
  def refuses(agent, tag, es, e) # nobody emits them again: in_tail does after an overflow, and a flush has its chunk
    hides = var(agent, :@error_collector) # <label @ERROR> takes them, and who emitted them is not told
    return if OWN_TAG.match?(tag) || (Thread.current[:posidle] && !hides)
    return if Thread.current[:posidle_refused].to_a[0].equal?(e) # each router on the way back tells it
    full = e.is_a?(Fluent::Plugin::Buffer::BufferOverflowError) && !hides
    Thread.current[:posidle_refused] = [e, full]
    full ? count(file: 'posidle', text: 'a full buffer refused a batch', level: :warn) : number(:refused, es.size)
  end
  def records(chunk) # `size` of v0.12 is in bytes. A file of buf_file_single may not know its number: it counts as one
    n = var(chunk, :@size).to_i + var(chunk, :@adding_size).to_i
    n == 0 && chunk && chunk.bytesize > 0 ? 1 : n
  end
  def held(chunks); chunks.sum { |c| records(c) }; end
  def receipt(o, b) # took is nil if unknown; a closed buffer has told its receipt
    took = var(o, :@emit_records_metrics).get rescue nil
    return { took: took } if b.nil? || b.closed?
    @fault ||= "#{o.class} does not count what it takes" unless took # or no balance would be checked
    n = @tally[o] || Hash.new(0)
    ways = %i[own left delivered secondary aside exhausted overflown unrecoverable]
    only = n[:own] > 0 && n[:lines] == 0 # `lines` were offered, `own` taken
    ways.map { |way| [way, n[way]] }.to_h.merge(took: took, held: held(chunks(b)), only_own: only)
  end
  # Records on their way are in no buffer, and no position says so: a list counts only if it is the same twice, and no
  # thread is within an emit or moves a chunk. Otherwise that many threads have some.
  def still(first = nil, moving = nil)
    5.times do |n|
      sleep 0.02 if n > 0
      first, moving, again = yield, threads_that_move, yield
      return [first, 0] if moving == 0 && first == again
    end
    [first, [moving, 1].max]
  end
  def threads_that_move
    Thread.list.count do |t|
      at = t.backtrace.to_a
      at.any? { |line| MOVES.match?(line) } && at.none? { |line| OTHERS.match?(line) }
    end
  end
end
