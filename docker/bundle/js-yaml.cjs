/** What posidle uses of js-yaml: its one-file build brings more along. */
const { loadAll } = require('../../node_modules/js-yaml/lib/loader.js');
module.exports = {
  DEFAULT_SCHEMA: require('../../node_modules/js-yaml/lib/schema/default.js'),
  FAILSAFE_SCHEMA: require('../../node_modules/js-yaml/lib/schema/failsafe.js'),
  Type: require('../../node_modules/js-yaml/lib/type.js'),
  YAMLException: require('../../node_modules/js-yaml/lib/exception.js'),
  dump: require('../../node_modules/js-yaml/lib/dumper.js').dump,
  loadAll,
};
