import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { blocksIn } from '../pods/readme.ts';
import { requireFluentd } from '../support/real-fluentd.ts';

/** The one that README's run was on. */
const VERSION = '1.18.0';
/** The lines that only `posidle drain` logs, or a drain with buffers. */
const OF_THE_PICTURE_ALONE = /asks Fluentd's witness|its witness listens|main has ended|to flush|and flushed/;

/** The count, and what a Pod would print as its termination message. */
const ENDING = /\nwritten 20, delivered 20, lost 0\n.*termination message:\n\{.*"outcome":"drained",.*\}\n/;

describe.concurrent('npm run demo', () => {
  test('says on real Fluentd what README and its picture show', async (context) => {
    requireFluentd(VERSION, context);
    const { code, said } = await demo({});
    expect(code, said).toBe(0);
    expect(said).toMatch(ENDING);
    const shapes = said.split('\n').map(shapeOf);
    const [, ...transcript] = blocksIn('README.md', 'console')[0]?.split('\n') ?? [];
    for (const line of transcript.filter((line) => line !== '…')) expect(shapes).toContain(shapeOf(line));
    for (const line of linesOfPicture())
      expect(shapes.filter((shape) => shape.startsWith(shapeOf(line)))).not.toEqual([]);
  });

  test('plays the stand-in where there is no Fluentd, and says so', async () => {
    const { code, said } = await demo({
      PATH: '/nowhere',
      XDG_CACHE_HOME: '/nowhere',
      POSIDLE_FLUENTD_CACHE: undefined,
    });
    expect(code, said).toBe(0);
    expect(said).toMatch(/^fluentd: the stand-in of fixtures\/ \(no fluentd found\)/);
    expect(said).toMatch(/told worker \d+ to stop\n/);
    expect(said).toMatch(/Fluentd is gone after .*; drained: 1 file read\n/);
    expect(said).toMatch(ENDING);
  });
});

async function demo(env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, ['fixtures/demo.mjs'], { env: { ...process.env, ...env } });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, said: stdout + stderr };
}

/** Without what differs from run to run. */
function shapeOf(line: string): string {
  return line
    .replace(/^[\d:.]{12} /, '')
    .replace(/(?<=by |watches )\/\S+(?=[,;])/g, 'FILE')
    .replace(/[\d.]+/g, 'N')
    .replace(/N files?(; file: .*)?/, 'N file');
}

/** posidle's log lines, split into time, level and text. */
function linesOfPicture(): readonly string[] {
  const texts = readFileSync('fixtures/drain.svg', 'utf8').matchAll(/<text[^>]*>(.*?)<\/text>/g);
  const logged = [...texts].flatMap(([, spans = '']) => {
    const [time, level, ...words] = [...spans.matchAll(/<tspan[^>]*>(.*?)<\/tspan>/g)].map(
      ([, word]) => word,
    );
    return /^[\d:.]{12}$/.test(time ?? '') ? [`${level} ${words.join(' ')}`] : [];
  });
  expect(logged).not.toEqual([]);
  return logged.filter((line) => !OF_THE_PICTURE_ALONE.test(line));
}
