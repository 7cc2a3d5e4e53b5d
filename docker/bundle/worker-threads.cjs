/** Stands in for node:worker_threads in the bundle: pino asks only whether it runs in one. */
module.exports = { isMainThread: true };
