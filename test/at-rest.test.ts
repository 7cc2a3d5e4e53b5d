import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { makeSite } from './bench/site.ts';
import { BUNDLE } from './pods/bundle.ts';

const FILES = 20;
/** A stamp is believed when it has stood for 2.5 s: then come some looks that find nothing new. */
const LOOKS = 9;

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
      if (looks.length > ${LOOKS}) fs.writeSync(1, JSON.stringify(looks.slice(0, ${LOOKS})) + '\\n'), process.exit();
      return original.call(this, path, ...rest);
    };
  };
  for (const name of ['openSync', 'opendirSync', 'readdirSync', 'readFileSync', 'statSync', 'lstatSync', 'readlinkSync']) wrap(fs, name);
  for (const name of ['open', 'opendir', 'stat', 'lstat', 'readFile']) wrap(fs.promises, name);
`;

test('a look at rest stats each log file once, and asks for little else', async () => {
  const site = makeSite(FILES);
  try {
    const looks = await looksOf([BUNDLE, ...site.watch]);
    const fewest = looks.toSorted((a, b) => a.length - b.length)[0] ?? [];
    const stats = fewest.filter((call) => call.startsWith('statSync '));
    expect(stats.sort()).toEqual(site.logs.map((path) => `statSync ${path}`).sort());
    const others = fewest.filter((call) => !stats.includes(call));
    expect(others).toContain(`open ${site.posFile}`);
    expect(others.length, others.join('\n')).toBeLessThanOrEqual(16);
  } finally {
    site.remove();
  }
});

async function looksOf(args: readonly string[]): Promise<readonly (readonly string[])[]> {
  const preload = `data:text/javascript,${encodeURIComponent(COUNTER)}`;
  const child = spawn(process.execPath, ['--import', preload, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  for await (const part of child.stdout) text += part;
  return JSON.parse(text);
}
