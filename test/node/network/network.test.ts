import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { get } from '../../../src/node/network/network.ts';

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function served(answer: RequestListener) {
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

describe('an answer over HTTP', () => {
  test('is its body, whatever its encoding is cut by', async () => {
    const at = await served((_, response) => {
      const bytes = Buffer.from('é'.repeat(1_000));
      response.write(bytes.subarray(0, 501));
      response.end(bytes.subarray(501));
    });
    expect(await get(at, '/')).toBe('é'.repeat(1_000));
  });

  test('is none where its status is another one', async () => {
    const at = await served((_, response) => response.writeHead(500).end('no'));
    expect(await get(at, '/')).toBeUndefined();
  });

  test('may be 2 MiB, and is none where it is longer', async () => {
    const at = await served(({ url }, response) => response.end('x'.repeat(Number(url?.slice(1)))));
    expect((await get(at, `/${2 * 2 ** 20}`, 60_000))?.length).toBe(2 * 2 ** 20);
    expect(await get(at, `/${2 * 2 ** 20 + 1}`, 60_000)).toBeUndefined();
  }, 60_000);

  test('without an end is cut off, and fills no memory', async () => {
    const chunk = Buffer.alloc(2 ** 20, 'x');
    let sent = 0;
    const at = await served((_, response) => {
      const more = () => {
        while (!response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
      };
      more();
    });
    expect(await get(at, '/')).toBeUndefined();
    expect(sent).toBeLessThan(64 * 2 ** 20);
  });

  test('in ever more chunks of one byte is none', async () => {
    let writes = 0;
    const at = await served((_, response) => {
      const more = () => {
        while (!response.destroyed) {
          writes += 1;
          if (!response.write('x')) return void response.once('drain', more);
        }
      };
      more();
    });
    expect(await get(at, '/')).toBeUndefined();
    expect(writes).toBeLessThan(100_000);
  });

  test('that ends before it is whole is none', async () => {
    const at = await served((_, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('half');
      setImmediate(() => response.destroy());
    });
    expect(await get(at, '/')).toBeUndefined();
  });
});
