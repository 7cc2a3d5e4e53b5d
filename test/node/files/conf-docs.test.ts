import { describe, expect, it } from 'vitest';
import { loadFluentConf } from '../../../src/node/files/conf-files.ts';

const ruby = { env: {}, hostname: 'pod-1' };

async function read(name: string) {
  const conf = await loadFluentConf(`fixtures/conf/${name}`, { ruby });
  expect(conf.problems).toEqual([]);
  return conf;
}

describe("what Fluentd's manual shows", () => {
  it('of in_tail is read', async () => {
    const { sources } = await read('docs-tail.conf');
    expect(sources).toMatchObject([
      {
        id: 'shop',
        posFile: '/srv/pos/shop.pos',
        paths: ['/srv/shop/%Y/%m/%d/*', '/srv/shop/audit/c.log'],
        excludePaths: ['/srv/shop/*/*.gz', '/srv/shop/*/*.zst'],
        pathTimezone: '+05:30',
        globPolicy: 'backward_compatible',
        refreshInterval: 15_000,
        rotateWait: 9_000,
        limitRecentlyModified: 6 * 3_600_000,
        skipRefreshOnStartup: true,
        readFromHead: true,
        followInodes: true,
        isMultiline: false,
        hasGroup: false,
      },
      {
        posFile: 'C:/pos/bill.pos',
        paths: ['C:/bill/*/bill.log'],
        pathDelimiter: ';',
        readBytesLimitPerSecond: 1_048_576,
        isMultiline: true,
        multilineFlushInterval: 4_000,
      },
      { posFile: undefined, paths: ['/srv/note.log'], refreshInterval: 60_000, readFromHead: false },
    ]);
  });

  it('of in_tail in later versions is read', async () => {
    const { sources } = await read('docs-tail-newer.conf');
    expect(sources).toMatchObject([
      {
        paths: ['/srv/cart-[0-9]/{blue,green}/?.log', '/srv/cart.log'],
        excludePaths: ['/srv/cart-0/*/?.log'],
        globPolicy: 'always',
        hasGroup: true,
      },
      { paths: ['/srv/stock-?.log', '/srv/stock-[ab].txt'], globPolicy: 'extended', hasGroup: false },
    ]);
  });

  it('of buffers is read', async () => {
    const { buffers, system } = await read('docs-buffer.conf');
    const docs = '/tmp/posidle-fixture-docs';
    expect(system.rootDir).toBe('/tmp/posidle-fixture-root');
    expect(buffers.map(({ tag, type, path }) => [tag, type, path])).toEqual([
      ['plain', 'file', `${docs}/plain`],
      ['named', 'file', `${docs}/own.*`],
      ['named', 'file', `${docs}/own.*.tail`],
      ['named', 'file', `${docs}/suffixed`],
      ['rooted', 'file', undefined],
      ['single', 'file_single', `${docs}/single`],
      ['memory', 'memory', undefined],
      ['hourly', 'memory', undefined],
      ['nested', 'memory', undefined],
      ['emptied', 'file', `${docs}/emptied`],
      ['listed', 'file', `${docs}/listed`],
      ['order.*', 'file', `${docs}/order`],
      ['chunked.**', 'file', `${docs}/out/chunked_\${tag}_\${chunk_id}`],
    ]);
    expect(buffers.flatMap(({ chunkGlobs }) => chunkGlobs)).toEqual([
      ...[`${docs}/plain/buffer.*.log`, `${docs}/plain.*.log`],
      `${docs}/own.*.log`,
      `${docs}/own.*.tail`,
      ...[`${docs}/suffixed/buffer.*.bin`, `${docs}/suffixed.*.bin`],
      '/tmp/posidle-fixture-root/worker0/rooted/buffer/buffer.*.log',
      ...[`${docs}/single/fsb.*.buf`, `${docs}/single.*.buf`],
      ...[`${docs}/emptied/buffer.*.log`, `${docs}/emptied.*.log`],
      ...[`${docs}/listed/buffer.*.log`, `${docs}/listed.*.log`],
      ...[`${docs}/order/buffer.*.log`, `${docs}/order.*.log`],
      ...[
        `${docs}/out/chunked_$\\{tag\\}_$\\{chunk_id\\}/buffer.*.log`,
        `${docs}/out/chunked_$\\{tag\\}_$\\{chunk_id\\}.*.log`,
      ],
    ]);
    expect(buffers.map(({ flushMode, timekey }) => [flushMode, timekey])).toEqual([
      ...Array.from({ length: 6 }, () => ['interval', undefined]),
      ['immediate', undefined],
      ['lazy', 7_200_000],
      ['lazy', undefined],
      ['interval', undefined],
      ['lazy', 600_000],
      ['lazy', 300_000],
      ['interval', undefined],
    ]);
    expect(buffers[0]).toMatchObject({
      flushInterval: 8_000,
      flushAtShutdown: true,
      overflowAction: 'block',
    });
    expect(buffers[7]).toMatchObject({ timekeyWait: 420_000 });
  });

  it('of monitor_agent, RPC and workers is read', async () => {
    const { system, monitorAgents, sources, buffers, warnings } = await read('docs-monitor-agent.conf');
    expect(system).toEqual({
      workers: 3,
      rpcEndpoint: { host: '127.0.0.1', port: 24_555 },
      enableGetDump: true,
      rootDir: undefined,
      processName: 'depot',
    });
    expect(monitorAgents).toEqual([
      { bind: '127.0.0.1', port: 25_550, worker: 0 },
      { bind: '0.0.0.0', port: 25_560, worker: 0 },
      { bind: '127.0.0.1', port: 25_551, worker: 1 },
      { bind: '127.0.0.1', port: 25_552, worker: 2 },
    ]);
    expect(sources).toMatchObject([{ posFile: '/srv/pos/depot.pos', worker: 0 }]);
    expect(buffers).toEqual([]);
    expect(warnings).toHaveLength(1);
  });

  it('of the configuration file is read', async () => {
    const { system, sources, buffers } = await read('docs-config.conf');
    expect(system).toMatchObject({ enableGetDump: true, processName: 'store' });
    expect(sources).toMatchObject([
      { paths: ['/srv/store/*.log'], posFile: undefined, refreshInterval: 60_000, pathTimezone: undefined },
    ]);
    expect(buffers).toMatchObject([{ output: 'file', tag: 'access.b other.**', timekey: 86_400_000 }]);
  });

  it('of YAML is read', async () => {
    const { system, monitorAgents, sources, buffers } = await read('docs-config.yaml');
    expect(system).toMatchObject({ workers: 2, enableGetDump: true, processName: 'store' });
    expect(monitorAgents.map(({ port }) => port)).toEqual([25_570, 25_571]);
    expect(sources).toMatchObject([
      { paths: ['/srv/included.log'], posFile: '/srv/pos/included.pos', worker: 0 },
      {
        id: 'first',
        paths: ['/srv/store/*.log'],
        excludePaths: ['/srv/store/a.log', '/srv/store/b.log'],
        posFile: '/srv/pos/first.pos',
        pathTimezone: '+00',
        readFromHead: true,
        followInodes: false,
        refreshInterval: 15_000,
        rotateWait: 10_000,
        limitRecentlyModified: 5_400_000,
        multilineFlushInterval: undefined,
        worker: 0,
      },
    ]);
    const first = buffers.filter(({ worker }) => worker === 0);
    expect(first.map(({ tag, type, path }) => [tag, type, path])).toEqual([
      ['store.x', 'file', '/tmp/posidle-fixture-yaml/first'],
      ['merged', 'file', '/tmp/posidle-fixture-yaml/merged'],
      ['repeated', 'memory', undefined],
      ['again', 'memory', undefined],
    ]);
    expect(first[0]).toMatchObject({ flushMode: 'lazy', timekey: 1_200_000 });
  });
});
