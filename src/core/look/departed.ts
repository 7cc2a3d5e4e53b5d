import type { Millis } from '../text/units.ts';
import type { FileState } from './file-state.ts';
import { lastSizeOf } from './judge-entry.ts';
import type { Memory, ObservedFile } from './observation.ts';

/** posidle remembers only the newest: a hostile main may rename or remove files without end. */
const MOST_DEPARTED = 1_000;

const UNREAD = 'it left its path, or was cut short, before its position showed that it was read';

/** States in which the entry's own file is at the path, as long as it was. */
const AT_ITS_PATH: ReadonlySet<FileState> = new Set(['caught-up', 'partial-line', 'behind', 'blocked']);

/** The files that are no longer whole at the path of their entry. `entries`: the memory after this look. */
export function departedIn(
  memory: Memory,
  entries: Memory['entries'],
  at: Millis,
): Pick<Memory, 'departed' | 'departedAt'> {
  const departed = new Map(memory.departed);
  let { departedAt } = memory;
  for (const [key, now] of entries) {
    if (isAtPath(now)) departed.delete(key);
    else if (now.position !== null && !memory.entries.has(key)) departedAt = at;
  }
  for (const [key, old] of memory.entries) {
    const now = entries.get(key);
    // A new entry has inode 0 until in_tail opens the file (position_file.rb:47).
    if ((now && isAtPath(now)) || old.inode === '0') continue;
    if (isAtPath(old)) departedAt = at;
    const position = now?.position ?? old.position;
    const size = (now && lastSizeOf(now)) ?? lastSizeOf(old);
    if (position === null || size === null) continue;
    if (size > position)
      departed.set(key, { kind: 'closed-unread', about: old.path, bytes: size - position, why: UNREAD });
    else departed.delete(key);
  }
  return { departed: new Map([...departed].slice(-MOST_DEPARTED)), departedAt };
}

function isAtPath({ state }: ObservedFile): boolean {
  return AT_ITS_PATH.has(state);
}
