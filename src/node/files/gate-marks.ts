import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { GateMarks } from '../../core/hook/gate.ts';

export async function readGateMarks(dir: string, begin: number): Promise<GateMarks> {
  // Before the marks: the gate writes its last one, and ends.
  const lives = await isRead(join(dir, 'gate-lives'));
  const [hookAt = begin, upAt, endingAt, mainEndedAt] = await Promise.all(
    ['hook', 'up', 'ending', 'main-ended'].map((name) => writtenAt(join(dir, name))),
  );
  return { hookAt, isUp: upAt !== undefined, endingAt, mainEndedAt, lives };
}

async function writtenAt(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.mtimeMs;
}

/** A FIFO without a reader cannot be opened for writing (fifo(7), ENXIO). */
async function isRead(path: string): Promise<boolean> {
  const file = await open(path, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined);
  await file?.close();
  return file !== undefined;
}
