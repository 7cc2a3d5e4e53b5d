/** Stands in for node:assert in the bundle: yargs asks it for no more than this. */
module.exports = {
  notStrictEqual: (actual, other, message) => hold(actual !== other, message),
  strictEqual: (actual, expected, message) => hold(actual === expected, message),
};

function hold(isSo, message) {
  if (!isSo) throw new Error(message);
}
