import { get as httpGet } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import type { Endpoint } from '../../core/fluent-conf/fluent-conf.ts';
import type { Millis } from '../../core/text/units.ts';

const TIMEOUT: Millis = 2_000;
/** A monitor_agent tells some 2 KiB of each plugin. What is parsed takes a multiple of it. */
const BODY_LIMIT = 2 * 1024 ** 2;
/** However short they are, each takes a buffer. */
const MOST_CHUNKS = 10_000;

/** So many ports in a row that nothing listens on now; none where they cannot be found. */
export async function freePorts(count: number, host: string): Promise<readonly number[]> {
  for (let tries = 0; tries < 20; tries += 1) {
    const servers = [await listen(0, host)];
    const first = (servers[0]?.address() as AddressInfo | null)?.port ?? 0;
    const ports = Array.from({ length: count }, (_, index) => first + index);
    for (const port of ports.slice(1)) servers.push(await listen(port, host));
    for (const server of servers) server?.close();
    if (servers.every((server) => server !== undefined)) return ports;
  }
  return [];
}

function listen(port: number, host: string): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, host, () => resolve(server));
  });
}

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
export function get(
  { host, port }: Endpoint,
  path: string,
  within: Millis = TIMEOUT,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = httpGet(
      { host, port, path, agent: false, signal: AbortSignal.timeout(within) },
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
