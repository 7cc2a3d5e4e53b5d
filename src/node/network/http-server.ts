import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { readBounded } from '../files/bounded.ts';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface Routes {
  /** Paths for GET. Each returns a body, with status 503 if it is unwell. */
  readonly get: Readonly<Record<string, () => Answer>>;
  /** Paths for POST. Each is answered with 202. */
  readonly post?: Readonly<Record<string, () => void>>;
  /** POST needs the bearer token in this file, which is read anew for each request. */
  readonly tokenFile?: string | undefined;
}

export interface Answer {
  readonly body: string | Buffer;
  readonly type: string;
  readonly isWell: boolean;
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
export const TEXT_TYPE = 'text/plain; charset=utf-8';

const CONNECTIONS = 64;
/** The longest life of a connection. A slow reader keeps an old text in memory; a shorter time cuts off clients on a busy node. */
const TIMEOUT = 5_000;
const TOKEN_LIMIT = 64 * 1_024;

/** Listens, or rejects (a busy port). It cuts off slow clients and never reads the body of a request. */
export async function startHttpServer({ host, port }: Endpoint, routes: Routes): Promise<Server> {
  const server = createServer();
  boundConnections(server);
  // Else Node answers all pipelined requests of a connection before it does anything else.
  server.maxRequestsPerSocket = 1;
  await once(server.listen(port, host), 'listening');
  const isLocal = isLoopback(server);
  server.on('request', (request, response) => {
    // A client must not be able to stop posidle.
    answer(request, response, routes, host, isLocal).catch(() => request.destroy());
  });
  server.on('error', () => {});
  return server;
}

/** Cuts off each client in time, and the oldest one for a new one, so that idle clients keep no probe out. */
function boundConnections(server: Server): void {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    const late = setTimeout(() => socket.destroy(), TIMEOUT);
    socket.once('close', () => {
      clearTimeout(late);
      open.delete(socket);
    });
    const [oldest] = open;
    if (open.size <= CONNECTIONS || oldest === undefined) return;
    open.delete(oldest);
    oldest.destroy();
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  routes: Routes,
  host: string,
  isLocal: boolean,
): Promise<void> {
  const end = (status: number, body: Answer['body'], headers = {}) =>
    void response.writeHead(status, headers).end(body);
  const { method, url = '' } = request;
  // Each path begins with a slash, so no name of Object.prototype is one.
  const path = url.replace(/\?.*$/s, '');
  const [get, post] = [routes.get[path], routes.post?.[path]];
  const isPost = method === 'POST' && post !== undefined;
  if ((isPost || isLocal) && !isOwnHost(request.headers.host, host))
    return end(421, 'the Host must be localhost, an IP address or the name that posidle listens on\n');
  if (isPost) {
    if (!isOwnOrigin(request)) return end(403, 'a web page of another origin may not do this\n');
    const refusal = await refusalOf(request, routes.tokenFile);
    if (refusal !== undefined) return end(401, refusal);
    post();
    return end(202, 'accepted\n');
  }
  if (get === undefined && post === undefined) return end(404, 'no such path\n');
  if (get === undefined || (method !== 'GET' && method !== 'HEAD'))
    return end(405, 'method not allowed\n', { allow: get === undefined ? 'POST' : 'GET, HEAD' });
  const { body, type, isWell } = get();
  end(isWell ? 200 : 503, body, { 'content-type': type });
}

/** Only a loopback address must be hidden from web pages: elsewhere a scraper asks by the name of a Service. */
function isLoopback(server: Server): boolean {
  const { address } = server.address() as AddressInfo;
  return /^(127\.|::1$|::ffff:127\.)/.test(address);
}

/** Anybody's name may resolve to this address (DNS rebinding). HTTP/1.0 needs no Host. */
function isOwnHost(asked: string | undefined, host: string): boolean {
  if (asked === undefined) return true;
  const [, ipv6, name = ''] = /^(?:\[(.*)\]|([^:]*))(?::\d*)?$/.exec(asked.toLowerCase()) ?? [];
  if (ipv6 !== undefined) return isIP(ipv6) === 6;
  return isIP(name) === 4 || name === 'localhost' || name === host.toLowerCase();
}

/** Browsers name the page that sends a POST. Other clients send no Origin. */
function isOwnOrigin({ headers }: IncomingMessage): boolean {
  return headers.origin === undefined || headers.origin === `http://${headers.host}`;
}

/** Why the token does not count; undefined if it does. */
async function refusalOf({ headers }: IncomingMessage, tokenFile: string | undefined) {
  if (tokenFile === undefined) return undefined;
  const file = await readBounded(tokenFile, TOKEN_LIMIT).catch(() => undefined);
  const token = Buffer.from(file?.bytes ?? [])
    .toString()
    .trim();
  const wanted = Buffer.from(`Bearer ${token}`);
  const given = Buffer.from(headers.authorization ?? '');
  if (token === '') return 'the file of the token is missing, unreadable or empty\n';
  const isSame = given.length === wanted.length && timingSafeEqual(given, wanted);
  return isSame ? undefined : 'the bearer token is missing or wrong\n';
}
