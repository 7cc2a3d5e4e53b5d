/** Stands in for thread-stream in the bundle: posidle's logger writes to a file descriptor, never through a worker thread. */
export default class ThreadStream {
  constructor() {
    throw new Error('pino transports are not part of the bundle');
  }
}
