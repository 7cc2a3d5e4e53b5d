# RUBYOPT="-IDIR/ruby -rEnglish": Ruby finds this file before its own English.rb, and its own where this one is missing.
# A file of another name would be fatal to every Ruby where it is missing.
own = $LOAD_PATH.map { |dir| File.join(dir.to_s, 'English.rb') }
own = own.find { |file| File.file?(file) && !File.identical?(file, __FILE__) }
begin
  require own if own
  require_relative '../witness'
rescue ScriptError, StandardError
  nil
end
