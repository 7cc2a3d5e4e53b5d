import { constants } from 'node:os';
import { expect, test, vi } from 'vitest';
import { WatchEndpoints } from '../../src/commands/drain-report/watch-endpoints.ts';
import { LastLook, listen } from '../../src/commands/listen.ts';
import { begin } from '../../src/core/drain/state.ts';
import { startHttpServer } from '../../src/node/network/http-server.ts';
import { seen as seenAt, snapshot } from '../support/builders.ts';

vi.mock(import('../../src/node/network/http-server.ts'), async (original) => ({
  ...(await original()),
  startHttpServer: vi.fn(),
}));

test.each([
  ['EACCES' as const, 'permission denied: ports below 1024 need the capability NET_BIND_SERVICE'],
  ['EADDRINUSE' as const, 'address already in use'],
  ['EADDRNOTAVAIL' as const, 'address not available'],
])('what keeps it from listening (%s) is said in words', async (code, why) => {
  const error = Object.assign(new Error(code), { code, errno: -constants.errno[code] });
  vi.mocked(startHttpServer).mockRejectedValue(error);
  const routes = { get: {}, post: {}, tokenFile: undefined };
  await expect(listen({ host: '0.0.0.0', port: 80 }, routes)).rejects.toThrow(
    `--listen: cannot listen on 0.0.0.0:80: ${why}`,
  );
});

test('an answer is rendered once per look, even for many requests', () => {
  const lastLook = new LastLook<string>(() => 0, 1_000);
  const render = vi.fn((look: string) => look);
  for (const look of ['one', 'two']) {
    lastLook.looked(look);
    expect([lastLook.answer('text', render), lastLook.answer('text', render)]).toEqual([
      { body: Buffer.from(look), type: 'text', isWell: true },
      { body: Buffer.from(look), type: 'text', isWell: true },
    ]);
  }
  expect(render).toHaveBeenCalledTimes(2);
});

test.each([
  ['without a token there is nothing to POST to', undefined, [], undefined],
  ['with none anybody may quit', 'none', ['/quitquitquit'], undefined],
  ['with a file only its bearer may quit', '/run/token', ['/quitquitquit'], '/run/token'],
])('%s', (_, token, paths, tokenFile) => {
  const routes = new WatchEndpoints(() => 0).routes(() => {}, token);
  expect([Object.keys(routes.post ?? {}), routes.tokenFile]).toEqual([paths, tokenFile]);
});

test('an overdue look does not count as a look', () => {
  const endpoints = new WatchEndpoints(() => 0);
  const { '/healthz': ask } = endpoints.routes(() => {}, undefined).get;
  const seen = seenAt([snapshot(0, [])]);
  endpoints.looked(begin(0), { ...seen, extent: 'overdue' });
  expect(ask?.().isWell).toBe(false);
  endpoints.looked(begin(0), seen);
  expect(ask?.().isWell).toBe(true);
});
