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
        posFile: '/srv/pos/shop.pos',
        paths: ['/srv/shop/%Y/%m/%d/*', '/srv/shop/audit/c.log'],
        excludePaths: ['/srv/shop/*/*.gz', '/srv/shop/*/*.zst'],
        pathTimezone: '+05:30',
        globPolicy: 'backward_compatible',
        refreshInterval: 15_000,
        rotateWait: 9_000,
        limitRecentlyModified: 6 * 3_600_000,
        readFromHead: true,
        followInodes: true,
        hasGroup: false,
      },
      {
        posFile: 'C:/pos/bill.pos',
        paths: ['C:/bill/*/bill.log'],
        readBytesLimitPerSecond: 1_048_576,
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
    expect(buffers.map(({ type }) => type)).toEqual([
      ...Array(5).fill('file'),
      'file_single',
      ...Array(3).fill('memory'),
      ...Array(4).fill('file'),
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
    expect(buffers[0]).toMatchObject({ flushAtShutdown: true });
  });

  it('of workers is read', async () => {
    const { system, sources, buffers, warnings } = await read('docs-monitor-agent.conf');
    expect(system).toEqual({
      workers: 3,
      rootDir: undefined,
      backupDir: '/tmp/fluent',
      configIncludeDir: undefined,
    });
    expect(sources).toMatchObject([{ posFile: '/srv/pos/depot.pos' }]);
    expect(buffers).toEqual([]);
    expect(warnings).toHaveLength(1);
  });

  it('of the configuration file is read', async () => {
    const { sources, buffers } = await read('docs-config.conf');
    expect(sources).toMatchObject([
      { paths: ['/srv/store/*.log'], posFile: undefined, refreshInterval: 60_000, pathTimezone: undefined },
    ]);
    expect(buffers).toMatchObject([{ name: 'file of <match access.b other.**>', type: 'file' }]);
  });

  it('of YAML is read', async () => {
    const { system, sources, buffers } = await read('docs-config.yaml');
    expect(system).toMatchObject({ workers: 2 });
    expect(sources).toMatchObject([
      { paths: ['/srv/included.log'], posFile: '/srv/pos/included.pos' },
      {
        paths: ['/srv/store/*.log'],
        excludePaths: ['/srv/store/a.log', '/srv/store/b.log'],
        posFile: '/srv/pos/first.pos',
        pathTimezone: '+00',
        readFromHead: true,
        followInodes: false,
        refreshInterval: 15_000,
        rotateWait: 10_000,
        limitRecentlyModified: 5_400_000,
      },
    ]);
    const yaml = '/tmp/posidle-fixture-yaml';
    expect(buffers.map(({ type, chunkGlobs }) => [type, chunkGlobs[0]])).toEqual(
      [0, 1].flatMap((worker) => [
        ['file', `${yaml}/first/worker${worker}/buffer.*.log`],
        ['file', `${yaml}/merged/worker${worker}/buffer.*.log`],
        ['memory', undefined],
        ['memory', undefined],
      ]),
    );
  });
});
