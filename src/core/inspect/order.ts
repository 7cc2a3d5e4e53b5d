import type { FileState } from '../look/file-state.ts';
import { sortByBytes } from '../pos-file/row-sort.ts';
import type { Millis } from '../text/units.ts';
import type { Overview, Place } from './overview.ts';
import { type InspectedRows, STATES } from './rows.ts';

export const SORT_KEYS = ['lag', 'file', 'state', 'read', 'size', 'position', 'age'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** What is worse comes first. */
const GRAVITY: readonly FileState[] = [
  'blocked',
  'truncated',
  'missing',
  'rotated',
  'undiscovered',
  'behind',
  'partial-line',
  'caught-up',
  'unwatched',
];
const RANK = new Map<FileState | null, number>(
  STATES.map((state) => [state, GRAVITY.length - GRAVITY.indexOf(state)]),
);

/** The rows of a pos file to be shown, in order. */
export function rowsOf(entries: InspectedRows, which: Which): Uint32Array {
  const { states, sort } = which;
  const all = entries.order();
  const rows = states === undefined ? all : all.filter((row) => isOneOf(entries.state(row), states));
  return sort === undefined ? rows : sorted(rows, entries, sort);
}

export interface Which {
  /** Only these states; undefined: all. */
  readonly states: readonly FileState[] | undefined;
  /** undefined: as in the file. */
  readonly sort: SortKey | undefined;
}

/** The files without an entry, where their state is asked for. */
export function undiscoveredOf({ undiscovered }: Overview, { states }: Which): Overview['undiscovered'] {
  return states === undefined || states.includes('undiscovered') ? undiscovered : [];
}

/** The rows of all pos files as one list. */
export function placesOf({ posFiles }: Overview, which: Which): readonly Place[] {
  const { sort } = which;
  const all = posFiles.flatMap((posFile) =>
    Array.from(rowsOf(posFile.entries, which), (row) => ({ posFile, row })),
  );
  if (sort === undefined || posFiles.length < 2) return all;
  if (sort === 'file') {
    const order = Uint32Array.from(all.keys());
    sortByBytes(order, (index, depth) => pathByte(all[index] as Place, depth));
    return Array.from(order, (index) => all[index] as Place);
  }
  return all.sort(
    (a, b) => weightOf(b.posFile.entries, b.row, sort) - weightOf(a.posFile.entries, a.row, sort),
  );
}

/** For so long a live view keeps its order: rows that change place at each look cannot be read. */
const KEEP_ORDER: Millis = 10_000;

/** The order of a live view. What is new comes last until it is sorted anew. */
export class SteadyOrder {
  #sort: SortKey | undefined;
  #sortedAt = Number.NEGATIVE_INFINITY;
  /** By pos file, the place of each of its rows. */
  #ranks = new Map<string, Float64Array>();

  places(found: Overview, which: Which, at: Millis): readonly Place[] {
    const isDue = which.sort !== this.#sort || at - this.#sortedAt >= KEEP_ORDER || this.#isRewritten(found);
    const places = placesOf(found, isDue ? which : { ...which, sort: undefined });
    if (!isDue) return places.toSorted((a, b) => this.#rankOf(a) - this.#rankOf(b));
    this.#sort = which.sort;
    this.#sortedAt = at;
    this.#ranks = new Map(
      found.posFiles.map(({ path, entries }) => [path, new Float64Array(entries.rows.count).fill(LAST)]),
    );
    for (const [rank, { posFile, row }] of places.entries()) {
      const ranks = this.#ranks.get(posFile.path);
      if (ranks !== undefined) ranks[row] = rank;
    }
    return places;
  }

  /** Fluentd has left out lines: its rows are others now. */
  #isRewritten({ posFiles }: Overview): boolean {
    return posFiles.some(({ path, entries }) => entries.rows.count < (this.#ranks.get(path)?.length ?? 0));
  }

  #rankOf({ posFile, row }: Place): number {
    return this.#ranks.get(posFile.path)?.[row] ?? LAST;
  }
}

const LAST = Number.MAX_VALUE;

/** Share that is read; 1 for an empty file. */
export function shareRead(size: number, lag: number): number {
  return size === 0 ? 1 : Math.max(0, 1 - lag / size);
}

function pathByte({ posFile, row }: Place, depth: number): number {
  return posFile.entries.rows.pathByte(row, depth);
}

function isOneOf(state: FileState | null, states: readonly FileState[]): boolean {
  return state !== null && states.includes(state);
}

function sorted(rows: Uint32Array, entries: InspectedRows, sort: SortKey): Uint32Array {
  if (sort === 'file') return sortByBytes(rows, (row, depth) => entries.rows.pathByte(row, depth));
  const values = new Float64Array(entries.rows.count);
  for (const row of rows) values[row] = weightOf(entries, row, sort);
  return rows.sort((a, b) => (values[b] as number) - (values[a] as number) || a - b);
}

/** The largest comes first; what is not known comes before all that is. */
function weightOf(entries: InspectedRows, row: number, sort: Exclude<SortKey, 'file'>): number {
  switch (sort) {
    case 'lag':
      return unlessKnown(entries.lag(row));
    case 'state':
      return RANK.get(entries.state(row)) ?? 0;
    case 'read':
      return unlessKnown(1 - shareRead(entries.size(row), entries.lag(row)));
    case 'size':
      return unlessKnown(entries.size(row));
    case 'position':
      return entries.rows.position(row) ?? -1;
    case 'age':
      return unlessKnown(entries.age(row));
  }
}

function unlessKnown(value: number): number {
  return Number.isNaN(value) ? Number.MAX_VALUE : value;
}
