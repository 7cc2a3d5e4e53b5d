import { timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Endpoint } from '../../core/fluent-conf/fluent-conf.ts';

/** What the server answers from. */
export interface Routes {
  /** Paths that GET answers; each gives a body, or why it is unwell (503). */
  readonly get: Readonly<Record<string, () => Answer>>;
  /** Paths that POST answers with 202. */
  readonly post: Readonly<Record<string, () => void>>;
  /** POST needs the bearer token that this file holds at the time. */
  readonly tokenFile: string | undefined;
}

export interface Answer {
  readonly body: string;
  readonly type: string;
  readonly isWell: boolean;
}

export interface HttpServer {
  readonly endpoint: Endpoint;
  close(): void;
}

const CONNECTIONS = 64;
const TIMEOUT = 5_000;
const BODY_LIMIT = 1_024;

/** Listens; rejects where it cannot (a busy port). Slow clients are cut off, bodies are not wanted. */
export function startHttpServer({ host, port }: Endpoint, routes: Routes): Promise<HttpServer> {
  const server = createServer({
    requestTimeout: TIMEOUT,
    headersTimeout: TIMEOUT,
    connectionsCheckingInterval: 1_000,
  });
  server.maxConnections = CONNECTIONS;
  server.keepAliveTimeout = 1_000;
  server.setTimeout(TIMEOUT, (socket) => socket.destroy());
  server.on('request', (request, response) => answer(request, response, routes));
  server.on('clientError', (_, socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      server.on('error', () => {});
      const { port: taken } = server.address() as AddressInfo;
      resolve({ endpoint: { host, port: taken }, close: () => closeNow(server) });
    });
  });
}

function closeNow(server: ReturnType<typeof createServer>): void {
  server.close();
  server.closeAllConnections();
}

function answer(request: IncomingMessage, response: ServerResponse, routes: Routes): void {
  const path = (request.url ?? '').replace(/\?.*$/s, '');
  const post = request.method === 'POST' ? own(routes.post, path) : undefined;
  if (post === undefined) end(response, replyTo(request.method, path, routes));
  else if (!isAllowed(request, routes.tokenFile)) end(response, UNAUTHORIZED);
  else {
    takeBody(request, response, () => {
      post();
      end(response, { status: 202, body: 'accepted\n' });
    });
  }
}

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const UNAUTHORIZED: Reply = { status: 401, body: 'a bearer token is needed (--token-file)\n' };

function replyTo(method: string | undefined, path: string, routes: Routes): Reply {
  const get = own(routes.get, path);
  if (get === undefined && own(routes.post, path) === undefined)
    return { status: 404, body: 'no such path\n' };
  if (get !== undefined && (method === 'GET' || method === 'HEAD')) {
    const { body, type, isWell } = get();
    return { status: isWell ? 200 : 503, body, headers: { 'content-type': type } };
  }
  const headers = { allow: get === undefined ? 'POST' : 'GET, HEAD' };
  return { status: 405, body: 'method not allowed\n', headers };
}

/** Whatever is sent along is thrown away, up to a limit. */
function takeBody(request: IncomingMessage, response: ServerResponse, whole: () => void): void {
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= BODY_LIMIT) return;
    request.removeAllListeners('end');
    response.shouldKeepAlive = false;
    end(response, { status: 413, body: 'no body is wanted\n' });
    request.destroy();
  });
  request.once('end', whole);
}

function isAllowed(request: IncomingMessage, tokenFile: string | undefined): boolean {
  if (tokenFile === undefined) return true;
  try {
    const wanted = Buffer.from(`Bearer ${readFileSync(tokenFile, 'utf8').trim()}`);
    const given = Buffer.from(request.headers.authorization ?? '');
    return (
      wanted.length > 'Bearer '.length && given.length === wanted.length && timingSafeEqual(given, wanted)
    );
  } catch {
    return false;
  }
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function end(response: ServerResponse, { status, body, headers = {} }: Reply): void {
  response.writeHead(status, headers).end(body);
}
