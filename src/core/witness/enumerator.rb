# RUBYOPT="-IDIR/ruby -renumerator": Ruby has Enumerator built in, and finds no file of that name but this one. Where
# DIR is missing it loads nothing (load.c, search_required), and Fluentd starts as ever.
$LOAD_PATH.delete(__dir__)
begin
  require_relative '../witness'
rescue ScriptError, StandardError
  nil # it stands down; every Ruby starts as if it were not there
end
