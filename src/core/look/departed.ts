import type { Millis } from '../text/units.ts';
import type { Memory } from './observation.ts';

/** posidle remembers only the newest: a hostile main may rename or remove files without end. */
const MOST_DEPARTED = 1_000;

/** The files that are no longer whole at the path of their entry. `entries`: the memory after this look. */
export function departedIn(
  memory: Memory,
  entries: Memory['entries'],
  at: Millis,
): Pick<Memory, 'departed' | 'departedAt'> {
  const departed = new Map(memory.departed);
  let { departedAt } = memory;
  for (const [key, now] of entries) {
    if (now.isAtPath) departed.delete(key);
    else if (now.position !== null && !memory.entries.has(key)) departedAt = at;
  }
  for (const [key, old] of memory.entries) {
    const now = entries.get(key);
    // A new entry has inode 0 until in_tail opens the file (position_file.rb:47).
    if (now?.isAtPath || old.inode === '0') continue;
    if (old.isAtPath) departedAt = at;
    const position = now?.position ?? old.position;
    const size = now?.size ?? old.size;
    if (position === null || size === null) continue;
    if (size > position) departed.set(key, { path: old.path, unreadBytes: size - position });
    else departed.delete(key);
  }
  return { departed: new Map([...departed].slice(-MOST_DEPARTED)), departedAt };
}
