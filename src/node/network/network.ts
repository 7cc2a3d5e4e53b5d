import { get as httpGet } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import type { Endpoint } from '../../core/fluent-conf/fluent-conf.ts';

const TIMEOUT = 2_000;

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
