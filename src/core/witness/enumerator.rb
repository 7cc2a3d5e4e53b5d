# RUBYOPT="-IDIR/ruby -renumerator" loads this file: Enumerator is built in, so no other file has this name. If DIR is
# missing, Ruby loads nothing (load.c, search_required), and Fluentd starts normally.
$LOAD_PATH.push(*$LOAD_PATH.delete(__dir__)) # last: who requires enumerator still finds that it is loaded
begin # only a worker reads lines, and the first of two witnesses is enough
  worker = ARGV.any? { |a| a.start_with?('--under-su', '--no-su') } && ARGV.none? { |a| a.start_with?('--dry') }
  require_relative '../witness' if worker && !defined?(PosidleWitness)
rescue Exception # without the witness Fluentd starts normally
  nil
end
