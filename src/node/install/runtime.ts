import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';

/** What a process needs to run where there is nothing but a kernel. */
export interface Runtime {
  readonly program: string;
  /** The dynamic loader; undefined: the program is static. */
  readonly loader: string | undefined;
  /** The name that the program asks for → the file. */
  readonly libraries: ReadonlyMap<string, string>;
}

/** This very Node and its libraries. */
export async function ownRuntime(): Promise<Runtime> {
  const { program, loader } = mappedIn(await readFile('/proc/self/maps', 'utf8'));
  if (loader === undefined) return { program, loader, libraries: new Map() };
  const { stdout } = await promisify(execFile)(loader, ['--list', program]);
  return { program, loader, libraries: librariesIn(stdout) };
}

/**
 * The program and its loader among the mapped files: where the loader was called by name, as in what `install` makes,
 * /proc/self/exe is the loader (ld.so(8)).
 */
export function mappedIn(maps: string): { program: string; loader: string | undefined } {
  const files = maps.split('\n').flatMap((line) => /^\S+ r-xp \S+ \S+ \S+ +(\/.*)$/.exec(line)?.[1] ?? []);
  const program = files.find((file) => !/\.so(\.|$)/.test(basename(file)));
  if (program === undefined) throw new Error('no program in /proc/self/maps');
  return { program, loader: files.find((file) => /^ld-(linux|musl)/.test(basename(file))) };
}

/** `libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x…)`; the loader itself and the kernel's vdso stand without an arrow. */
export function librariesIn(list: string): ReadonlyMap<string, string> {
  const found = list.split('\n').flatMap((line) => {
    const [, name, file] = /^\s*(\S+) => (\/.*?)(?: \(0x[0-9a-f]+\))?$/.exec(line) ?? [];
    return name === undefined || file === undefined ? [] : [[basename(name), file] as const];
  });
  return new Map(found);
}
