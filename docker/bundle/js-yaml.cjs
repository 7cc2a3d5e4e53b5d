/** The reading half of js-yaml: its one-file build brings the writing half along. */
module.exports = {
  CORE_SCHEMA: require('../../node_modules/js-yaml/lib/schema/core.js'),
  Type: require('../../node_modules/js-yaml/lib/type.js'),
  load: require('../../node_modules/js-yaml/lib/loader.js').load,
};
