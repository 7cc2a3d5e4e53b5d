# RUBYOPT="-IDIR/ruby -rEnglish": Ruby takes this file for its own English.rb, and Fluentd's workers get the witness. Where DIR is
# missing, Ruby takes its own, and Fluentd starts as ever. Nobody has asked for the real one yet: who does finds it.
$LOAD_PATH.delete(__dir__)
begin
  require_relative '../witness'
rescue ScriptError, StandardError
  nil # it stands down; every Ruby starts as if it were not there
end
