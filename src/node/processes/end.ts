import { setTimeout as pause } from 'node:timers/promises';
import type { Millis } from '../../core/text/units.ts';

const LOOKS = 50;
const LOOK_EVERY: Millis = 20;

let isEnding = false;

/** Each work on files of a long look waits for this. It never comes once this process ends: who still works on a file then is stuck. */
export async function whileRunning(): Promise<void> {
  if (isEnding) await new Promise(() => {});
}

/**
 * Must come before the exit, for which Node waits for its threads that work on files (uv_library_shutdown in libuv). One that waits for a dead
 * mount never ends: then only a signal ends this process.
 */
export async function endIfStuck(): Promise<void> {
  isEnding = true;
  for (let left = LOOKS; left > 0 && isStuck(); left -= 1) await pause(LOOK_EVERY);
  if (!isStuck()) return;
  process.kill(process.pid, 'SIGKILL');
  // Linux sends no signal from a PID 1 to itself (pid_namespaces(7)), but an abort ends it.
  process.abort();
}

function isStuck(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
}
