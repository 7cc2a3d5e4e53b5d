import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const STDERR = 2;
/** What may wait for a reader of the pipe; past it lines are dropped, not kept. */
const WAITING = 1 << 20;
const GOODBYE = 1_000;

export interface LineWriter {
  write(line: string): void;
  /** Resolves when all is written, or when nobody reads it. */
  close(): Promise<void>;
}

/** stderr that neither stops the loop nor holds up the end: a full disk, a full pipe, a reader that is gone. */
export function openStderr(): LineWriter {
  const stat = fstatSync(STDERR);
  return stat.isFIFO() || stat.isSocket() ? throughSocket() : throughFile();
}

function throughFile(): LineWriter {
  const write = (line: string) => {
    try {
      writeSync(STDERR, line);
    } catch {
      // ENOSPC, EIO: there is no other place to say so.
    }
  };
  return { write, close: async () => {} };
}

function throughSocket(): LineWriter {
  const socket = new Socket({ fd: STDERR, readable: false, writable: true });
  socket.on('error', () => {});
  socket.unref();
  return {
    write: (line) => {
      if (!socket.destroyed && socket.writableLength < WAITING) socket.write(line);
    },
    close: () => drained(socket),
  };
}

async function drained(socket: Socket): Promise<void> {
  if (socket.destroyed || socket.writableLength === 0) return;
  await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), pause(GOODBYE)]);
}
