import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  readonly integrity?: string;
  readonly resolved?: string;
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Readonly<Record<string, Locked>>;
};
// The entry without a name is this package itself.
const locked = Object.entries(packages).filter(([name]) => name !== '');

test('the lock file holds the hash of every package, also of those for other systems', () => {
  expect(locked.length).toBeGreaterThan(100);
  expect(locked.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''))).toEqual([]);
});

test('the lock file sends npm to no registry but the public one', () => {
  const hosts = locked.flatMap(([, { resolved }]) =>
    resolved === undefined ? [] : new URL(resolved).origin,
  );
  expect(hosts.filter((host) => host !== 'https://registry.npmjs.org')).toEqual([]);
});
