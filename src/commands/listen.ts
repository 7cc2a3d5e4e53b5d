import type { Millis } from '../core/text/units.ts';
import { inWords } from '../node/files/in-words.ts';
import {
  type Answer,
  type Endpoint,
  type Routes,
  startHttpServer,
  TEXT_TYPE,
} from '../node/network/http-server.ts';
import { UsageError } from '../tasks/usage-error.ts';

const LOW_PORT = 'permission denied: ports below 1024 need the capability NET_BIND_SERVICE';

export async function listen(endpoint: Endpoint, routes: Routes): Promise<void> {
  try {
    await startHttpServer(endpoint, routes);
  } catch (error) {
    const { host, port } = endpoint;
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EACCES' ? LOW_PORT : inWords(error as NodeJS.ErrnoException);
    throw new UsageError(`--listen: cannot listen on ${host}:${port}: ${why}`);
  }
}

/** Answers HTTP requests from the last look. It renders each content type at most once per look, and all clients get the same Buffer. */
export class LastLook<Look> {
  readonly #now: () => Millis;
  readonly #staleAfter: Millis;
  readonly #answers = new Map<string, Answer>();
  #last: Look | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** `staleAfter`: health is bad when the last look is older than this. */
  constructor(now: () => Millis, staleAfter: Millis) {
    this.#now = now;
    this.#staleAfter = staleAfter;
  }

  get look(): Look | undefined {
    return this.#last;
  }

  /** `hangs`: the look is overdue, and `look` repeats the one before. */
  looked(look: Look, hangs = false): void {
    this.#last = look;
    this.#answers.clear();
    if (!hangs) this.#lookedAt = this.#now();
  }

  health(): Answer {
    if (this.#last === undefined) return textAnswer(false, 'no look yet');
    const isWell = this.#now() - this.#lookedAt <= this.#staleAfter;
    return textAnswer(isWell, isWell ? 'ok' : 'the last look is too long ago');
  }

  answer(type: string, render: (last: Look) => string): Answer {
    if (this.#last === undefined) return this.health();
    const answer = this.#answers.get(type) ?? { body: Buffer.from(render(this.#last)), type, isWell: true };
    this.#answers.set(type, answer);
    return answer;
  }
}

export function textAnswer(isWell: boolean, word: string): Answer {
  return { body: `${word}\n`, type: TEXT_TYPE, isWell };
}
