import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Routes, startHttpServer } from '../../../src/node/network/http-server.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { until } from '../../support/until.ts';

const inDir = tempDir();
let server: Server;
let quits = 0;
const sockets: Socket[] = [];

const ROUTES: Routes = {
  get: { '/healthz': () => ({ body: 'ok\n', type: 'text/plain', isWell: true }) },
  post: { '/quit': () => (quits += 1) },
  tokenFile: undefined,
};

beforeEach(async () => {
  quits = 0;
  server = await startHttpServer({ host: '127.0.0.1', port: 0 }, ROUTES);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
  server.closeAllConnections();
});

interface Reply {
  readonly status: number | undefined;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

function ask(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = request({ ...endpoint(), method, path, headers, agent: false }, (answer) => {
      const { statusCode: status, headers } = answer;
      void text(answer).then((body) => resolve({ status, headers, body }));
    });
    asked.once('error', reject).end();
  });
}

function endpoint() {
  const { address, port } = server.address() as AddressInfo;
  return { host: address, port };
}

const status = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).status;

/** A client that says no more than this. */
function open(text = ''): Socket {
  const socket = connect(endpoint(), () => socket.write(text));
  socket.on('error', () => {});
  sockets.push(socket);
  return socket;
}

function heardFrom(socket: Socket): () => string {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return () => text;
}

/** Starts anew with other routes. */
async function serve(host: string, routes: Partial<Routes>): Promise<void> {
  server.close();
  server = await startHttpServer({ host, port: 0 }, { ...ROUTES, ...routes });
}

describe('the Host that a client asks for', () => {
  const names = ['localhost', 'LOCALHOST:8080', '127.0.0.1', '10.1.2.3:8611', '[::1]:8611', '[fe80::1]'];
  test.each(names)('may be %s: loopback, or an address', async (host) => {
    expect(await status('GET', '/healthz', { host })).toBe(200);
    expect(await status('POST', '/quit', { host })).toBe(202);
  });

  const foreign = [
    'evil.test',
    'evil.test:8611',
    'localhost.evil.test',
    '127.0.0.1.evil.test',
    '[evil]',
    'a@localhost',
  ];
  test.each(foreign)('is refused where it is %j, on every path', async (host) => {
    for (const path of ['/healthz', '/none']) expect(await status('GET', path, { host })).toBe(421);
    expect(await status('POST', '/quit', { host })).toBe(421);
    expect(quits).toBe(0);
  });

  test.each(['LOCALHOST', '::1', '::ffff:127.0.0.1'])(
    'is refused where the server listens on %s, which is loopback, too',
    async (name) => {
      await serve(name, {});
      expect(await status('GET', '/healthz', { host: 'evil.test' })).toBe(421);
      expect(await status('GET', '/healthz', { host: 'localhost' })).toBe(200);
    },
  );

  test('may be the name that the server listens on', async () => {
    expect(await status('POST', '/quit', { host: hostname() })).toBe(421);
    await serve(hostname(), {});
    expect(await status('POST', '/quit', { host: hostname() })).toBe(202);
  });

  test('may be the name of a Service for a GET, where other machines can reach the server', async () => {
    await serve('0.0.0.0', {});
    const host = 'posidle.monitoring.svc:8612';
    expect(await status('GET', '/healthz', { host })).toBe(200);
    expect(await status('POST', '/quit', { host })).toBe(421);
  });

  test('may be left out by a client of HTTP/1.0', async () => {
    const said = heardFrom(open('GET /healthz HTTP/1.0\r\n\r\n'));
    await until('it is answered', () => said().includes('200 OK'));
  });
});

describe('the Origin of a POST', () => {
  const foreign = ['http://evil.test', 'null', 'http://localhost:3000', 'https://127.0.0.1', ''];
  test.each(foreign)('is refused where it is %j', async (origin) => {
    expect(await status('POST', '/quit', { origin })).toBe(403);
    expect(quits).toBe(0);
  });

  test("may be the server's own", async () => {
    const host = `localhost:${endpoint().port}`;
    expect(await status('POST', '/quit', { host, origin: `http://${host}` })).toBe(202);
  });

  test('is no concern of a GET', async () => {
    expect(await status('GET', '/healthz', { origin: 'http://evil.test' })).toBe(200);
  });
});

test.each([
  ['say nothing', ''],
  ['have said half of a request', 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n'],
  ['owe a body', 'POST /quit HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n'],
  ['have been answered', 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'],
])('clients that hold a connection and %s do not keep a probe out', async (_, text) => {
  const clients = Array.from({ length: 100 }, () => open(text));
  await until('all are connected', () => clients.every(({ connecting }) => !connecting));
  for (let probe = 0; probe < 5; probe += 1) expect(await status('GET', '/healthz')).toBe(200);
  expect(await status('POST', '/quit')).toBe(202);
});

test('a client is cut off after 5 s if it says nothing, or more than its POST, which is taken once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  writeFileSync(inDir('token'), 'one');
  await serve('127.0.0.1', { tokenFile: inDir('token') });
  const headers = 'host: localhost\r\nauthorization: Bearer one\r\ncontent-length: 9000000';
  const posts = ['x'.repeat(120_000), 'x'].map((body) => `POST /quit HTTP/1.1\r\n${headers}\r\n\r\n${body}`);
  const clients = ['', ...posts].map(open);
  await until('both are taken', () => quits === 2);
  for (const client of clients) client.resume();
  vi.advanceTimersByTime(5_000);
  await until('all are cut off', () => clients.every(({ closed }) => closed));
  expect(await status('GET', '/healthz')).toBe(200);
  expect(quits).toBe(2);
});

describe('the token file', () => {
  const quit = (token: string) => status('POST', '/quit', { authorization: `Bearer ${token}` });
  const withToken = (tokenFile: string) => serve('127.0.0.1', { tokenFile });
  const token = () => inDir('token');

  test('is read anew for each POST', async () => {
    writeFileSync(token(), 'one\n');
    await withToken(token());
    expect(await quit('one')).toBe(202);
    writeFileSync(token(), 'two\n');
    expect(await quit('one')).toBe(401);
    expect(await quit('two')).toBe(202);
    expect(await status('POST', '/quit')).toBe(401);
  });

  test.each([
    ['a FIFO', () => execFileSync('mkfifo', [token()])],
    ['a link to an endless device', () => symlinkSync('/dev/zero', token())],
    ['an empty file', () => writeFileSync(token(), '')],
    ['not there', () => {}],
  ])('lets nobody in where it is %s', async (_, make) => {
    make();
    await withToken(token());
    expect(await quit('')).toBe(401);
    expect(await quit('one')).toBe(401);
    const { body } = await ask('POST', '/quit', { authorization: 'Bearer one' });
    expect(body).toBe('the file of the token is missing, unreadable or empty\n');
    expect(await status('GET', '/healthz')).toBe(200);
  });
});

test('without a POST route nobody can quit', async () => {
  await serve('127.0.0.1', { post: {} });
  expect(await status('POST', '/quit')).toBe(404);
  expect(await status('GET', '/healthz')).toBe(200);
});

test('only the first of several requests over one connection is answered', async () => {
  let answers = 0;
  const answer = () => ({ body: `${++answers}`, type: 'text/plain', isWell: true });
  await serve('127.0.0.1', { get: { '/metrics': answer } });
  const said = heardFrom(open('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(500)));
  await until('all are refused or answered', () => said().split('HTTP/1.1 ').length === 501);
  expect(answers).toBe(1);
});
