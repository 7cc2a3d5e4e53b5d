import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BASES, standInFor } from '../pods/images.ts';
import { missingPodman, podman } from '../pods/podman.ts';

const reason = missingPodman(Object.values(BASES));
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

describe.skipIf(reason !== undefined)('the image posidle', () => {
  const image = standInFor('posidle:0.1.0');
  let dir: string;
  let archive: string;

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'posidle-image-'));
    chmodSync(dir, 0o777);
    archive = join(dir, 'posidle.tar');
    execFileSync(process.execPath, ['docker/build-image.mjs', archive]);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test('has at most 40 MB', () => {
    expect(statSync(archive).size).toBeLessThan(40e6);
  });

  test('is an archive that podman loads, and runs as nobody', async () => {
    expect(await podman('load', '--quiet', '--input', archive)).toContain(image);
    expect((await podman('run', '--rm', '--network', 'none', image, '--version')).trim()).toBe(version);
    const id = await podman('run', '--rm', '--network', 'none', '--entrypoint', 'id', image, '-u');
    expect(id.trim()).toBe('65534');
  });

  test('installs what runs in an image without a libc', async () => {
    const mount = ['--rm', '--network', 'none', '--volume', `${dir}:/posidle`];
    await podman('run', ...mount, '--entrypoint', '/opt/posidle/install', image, '/posidle');
    const { busybox } = BASES;
    expect((await podman('run', ...mount, busybox, '/posidle/posidle', '--version')).trim()).toBe(version);
    await podman('run', ...mount, BASES.fluentd, 'test', '-r', '/posidle/ruby/English.rb');
  });
});
