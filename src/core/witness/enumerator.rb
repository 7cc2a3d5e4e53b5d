# RUBYOPT="-IDIR/ruby -renumerator" loads this file: Enumerator is built in, so no other file has this name. If DIR is
# missing, Ruby loads nothing (load.c, search_required), and Fluentd starts normally.
$LOAD_PATH.delete_if { |dir| File.exist?("#{dir}/enumerator.rb") } # of two witnesses the first one is loaded
begin # only a worker reads lines
  worker = ARGV.any? { |a| a.start_with?('--under-sup', '--no-sup') } && ARGV.none? { |a| a.start_with?('--dry') }
  require_relative '../witness' if worker
rescue Exception # without the witness Fluentd starts normally
  nil
end
