import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = [
  'src',
  'docker/bundle',
  'docker/bundle.mjs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
/** Written after a build: the Node that compressed the bundle. */
const STAMP = 'dist/.built';

/** Before the tests: dist is built, unless it is newer than its sources. */
export default function build(): void {
  if (isUpToDate()) return;
  const began = new Date();
  execFileSync('npm', ['run', 'build', '--silent'], { stdio: 'inherit' });
  writeFileSync(STAMP, process.version);
  // A file that changed during the build is newer than the build.
  utimesSync(STAMP, began, began);
}

function isUpToDate(): boolean {
  if (!existsSync('dist/posidle.cjs') || !existsSync(STAMP)) return false;
  const built = statSync(STAMP).mtimeMs;
  return (
    readFileSync(STAMP, 'utf8') === process.version &&
    SOURCES.flatMap(filesIn).every((path) => statSync(path).mtimeMs < built)
  );
}

/** The folders too: they are as new as the last file that went. */
function filesIn(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return [path, ...names.map((name) => join(path, name))];
}
