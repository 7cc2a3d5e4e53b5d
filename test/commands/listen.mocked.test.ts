import { expect, test, vi } from 'vitest';
import { listen } from '../../src/commands/listen.ts';
import { startHttpServer } from '../../src/node/network/http-server.ts';

vi.mock('../../src/node/network/http-server.ts', () => ({ startHttpServer: vi.fn() }));

test.each([
  ['EACCES', 'permission denied: ports below 1024 need the capability NET_BIND_SERVICE'],
  ['EADDRINUSE', 'another process listens there already'],
  ['EADDRNOTAVAIL', 'no network interface here has this address'],
])('what keeps it from listening (%s) is said in words', async (code, why) => {
  vi.mocked(startHttpServer).mockRejectedValue(Object.assign(new Error(code), { code }));
  const routes = { get: {}, post: {}, tokenFile: undefined };
  await expect(listen({ host: '0.0.0.0', port: 80 }, routes)).rejects.toThrow(
    `--listen: cannot listen on 0.0.0.0:80: ${why}`,
  );
});
