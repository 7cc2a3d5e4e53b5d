# RUBYOPT="-IDIR/ruby -renumerator" loads this file: Enumerator is built in, so no other file has this name. If DIR is
# missing, Ruby loads nothing (load.c, search_required), and Fluentd starts normally.
$LOAD_PATH.delete(__dir__)
begin
  require_relative '../witness'
rescue ScriptError, StandardError
  nil # without the witness Ruby starts normally
end
