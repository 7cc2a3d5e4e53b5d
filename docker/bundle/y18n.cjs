const { format } = require('node:util');

/** Stands in for y18n in the bundle: yargs speaks the English that it is written in. */
module.exports = () => ({
  __: format,
  __n: (one, other, count, ...values) => format(count === 1 ? one : other, ...values),
  getLocale: () => 'en',
  setLocale() {},
});
