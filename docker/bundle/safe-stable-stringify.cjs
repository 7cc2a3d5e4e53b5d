/** Stands in for safe-stable-stringify in the bundle: what posidle logs has no cycles. pino catches what this throws. */
module.exports = { configure: () => JSON.stringify };
