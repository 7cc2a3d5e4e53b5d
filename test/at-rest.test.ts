import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { makeSite } from './bench/site.ts';
import { BUNDLE } from './pods/bundle.ts';

const FILES = 20;
/** A stamp is believed when it has stood for 2.5 s: the look after that asks for least. So many are waited for. */
const LOOKS = 15;
/** In addition to the stat of each log file. */
const LITTLE = 16;

/** Tells what each look asked of the file system. The processes of Fluentd come first in each, and the done file has its own clock. */
const COUNTER = `
  import fs from 'node:fs';
  const looks = [];
  const wrap = (owner, name) => {
    const original = owner[name];
    owner[name] = function (path, ...rest) {
      const place = String(path);
      if (name === 'readdirSync' && /^\\/proc\\/\\d+\\/task$/.test(place)) looks.push([]);
      if (!place.endsWith('/done')) looks.at(-1)?.push(name + ' ' + place);
      const last = looks.at(-2);
      const isAtRest = last?.length >= ${FILES} && last.length <= ${FILES + LITTLE};
      if (isAtRest || looks.length > ${LOOKS}) fs.writeSync(1, JSON.stringify(last) + '\\n'), process.exit();
      return original.call(this, path, ...rest);
    };
  };
  for (const name of ['openSync', 'opendirSync', 'readdirSync', 'readFileSync', 'statSync', 'lstatSync', 'readlinkSync']) wrap(fs, name);
  for (const name of ['open', 'opendir', 'stat', 'lstat', 'readFile']) wrap(fs.promises, name);
`;

test('a look at rest stats each log file once, and asks for little else', async () => {
  const site = makeSite(FILES);
  try {
    const last = await lastLookOf([BUNDLE, ...site.watch]);
    const stats = last.filter((call) => call.startsWith('statSync '));
    expect(stats.sort()).toEqual(site.logs.map((path) => `statSync ${path}`).sort());
    const others = last.filter((call) => !stats.includes(call));
    expect(others).toContain(`open ${site.posFile}`);
    expect(others.length, others.join('\n')).toBeLessThanOrEqual(LITTLE);
  } finally {
    site.remove();
  }
});

async function lastLookOf(args: readonly string[]): Promise<readonly string[]> {
  const preload = `data:text/javascript,${encodeURIComponent(COUNTER)}`;
  const child = spawn(process.execPath, ['--import', preload, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  for await (const part of child.stdout) text += part;
  return JSON.parse(text);
}
