/** Stands in for what pino loads and posidle never calls: worker threads, log files, redaction. */
module.exports = class Unused {
  constructor() {
    throw new Error('this part of pino is not in the bundle');
  }
};
