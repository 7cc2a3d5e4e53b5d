# RUBYOPT="-IDIR/ruby -renumerator" loads this file: Enumerator is built in, so no other file has this name. If DIR is
# missing, Ruby loads nothing (load.c, search_required), and Fluentd starts normally.
$LOAD_PATH.delete(__dir__)
begin # only a worker reads lines; every other Ruby starts as ever
  worker = (ARGV & %w[--under-supervisor --no-supervisor]).any? && !ARGV.include?('--dry-run')
  require_relative '../witness' if worker
rescue Exception # without the witness Fluentd starts normally
  nil
end
