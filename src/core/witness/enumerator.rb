# RUBYOPT="-IDIR/ruby -renumerator" loads this file: Enumerator is built in, so only a witness has a file of this name.
# If DIR is missing, Ruby loads nothing (load.c, search_required), and Fluentd starts normally.
begin # a FIFO that has a reader as long as a Ruby process of Fluentd's container lives, also before a worker is up
  lives, umask = File.join(ENV['POSIDLE_DIR'].to_s[/.+/] || File.dirname(__dir__), 'lives'), File.umask(0) # posidle may be another user
  File.mkfifo(lives) rescue nil # an earlier process made it
  File.umask(umask)
  POSIDLE_LIVES = File.open(lives, File::RDONLY | File::NONBLOCK | File::NOFOLLOW)
rescue StandardError, ScriptError
  nil
end
begin # of two witnesses the first one is loaded, and only in a worker: no other process reads lines
  $LOAD_PATH.delete_if { |dir| %w[enumerator ../witness].all? { |name| File.exist?("#{dir}/#{name}.rb") } }
  worker = ARGV.any? { |a| a.start_with?('--under-sup', '--no-sup') } && ARGV.none? { |a| a.start_with?('--dry') }
  jit = RUBY_VERSION < '3.2' && defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled? # it crashes beside a TracePoint
  require_relative '../witness' if worker && !jit
rescue StandardError, ScriptError # without the witness Fluentd starts normally
  nil
end
