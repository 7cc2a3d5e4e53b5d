import { get as httpGet } from 'node:http';
import { connect } from 'node:net';
import type { Endpoint } from '../../core/fluent-conf/fluent-conf.ts';

const TIMEOUT = 2_000;

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

/** The body of an answer 200; undefined: no answer in time, or another one. */
export function get({ host, port }: Endpoint, path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = httpGet(
      { host, port, path, agent: false, signal: AbortSignal.timeout(TIMEOUT) },
      (answer) => {
        let body = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          body += chunk;
        });
        answer.once('end', () => resolve(answer.statusCode === 200 ? body : undefined));
        answer.once('error', () => resolve(undefined));
      },
    );
    request.once('error', () => resolve(undefined));
  });
}
