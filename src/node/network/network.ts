import { get as httpGet } from 'node:http';
import { connect } from 'node:net';
import type { Endpoint } from '../../core/fluent-conf/fluent-conf.ts';

const TIMEOUT = 2_000;
/** A monitor_agent tells some 2 KiB of each plugin. */
const BODY_LIMIT = 8 * 1024 ** 2;
/** However short they are, each takes a buffer. */
const MOST_CHUNKS = 10_000;

/** Whether something accepts connections there. */
export function isListening({ host, port }: Endpoint): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: TIMEOUT });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}

/** The body of an answer 200; undefined: no answer in time, another one, or one without an end. */
export function get({ host, port }: Endpoint, path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = httpGet(
      { host, port, path, agent: false, signal: AbortSignal.timeout(TIMEOUT) },
      (answer) => {
        const chunks: Buffer[] = [];
        let size = 0;
        answer.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > BODY_LIMIT || chunks.length > MOST_CHUNKS) request.destroy(new Error('too long'));
        });
        answer.once('end', () =>
          resolve(answer.statusCode === 200 ? Buffer.concat(chunks).toString() : undefined),
        );
        answer.once('error', () => resolve(undefined));
      },
    );
    request.once('error', () => resolve(undefined));
  });
}
