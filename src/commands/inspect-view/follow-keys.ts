import { SORT_KEYS, type SortKey } from '../../core/inspect/order.ts';

/** What the user has made of the live view. */
export interface Wishes {
  readonly sort: SortKey;
  readonly reversed: boolean;
  readonly paused: boolean;
  /** The first row that is shown, and the one that enter opens. */
  readonly top: number;
  readonly chosen: number;
  /** Only files whose name holds it are shown. */
  readonly filter: string;
  /** `filter`: it is being typed. */
  readonly shows: 'files' | 'filter' | 'help' | 'file';
}

export const NO_WISHES: Wishes = {
  sort: 'lag',
  reversed: false,
  paused: false,
  top: 0,
  chosen: 0,
  filter: '',
  shows: 'files',
};

export const HELP: readonly string[] = [
  '↑ ↓ j k     choose a file',
  'enter       open the file',
  '/           filter by name; esc shows all',
  's           sort by the next column',
  'r           reverse the order',
  'space       pause, and go on',
  '?           this help',
  'q           quit',
];

const ESCAPE = '\x1b';
const ENTER = /^[\r\n]$/;
const STEPS: Readonly<Record<string, number>> = { '\x1b[A': -1, k: -1, '\x1b[B': 1, j: 1 };
const PAGES: Readonly<Record<string, number>> = { '\x1b[5~': -1, '\x1b[6~': 1 };

export function isQuit(key: string, { shows }: Wishes): boolean {
  return key === '\x03' || key === '\x04' || (shows !== 'filter' && /^q$/i.test(key));
}

/** `page`: so many rows are shown. */
export function afterKey(wishes: Wishes, key: string, page: number): Wishes {
  if (wishes.shows === 'filter') return afterTyping(wishes, key);
  if (wishes.shows !== 'files') return { ...wishes, shows: 'files' };
  if (ENTER.test(key)) return { ...wishes, shows: 'file' };
  switch (key) {
    case '/':
      return { ...wishes, shows: 'filter', filter: '', chosen: 0 };
    case ESCAPE:
      return { ...wishes, filter: '' };
    case '?':
      return { ...wishes, shows: 'help' };
    case 'r':
      return { ...wishes, reversed: !wishes.reversed };
    case 's':
      return { ...wishes, sort: after(wishes.sort) };
    case ' ':
      return { ...wishes, paused: !wishes.paused };
    default: {
      const on = (PAGES[key] ?? 0) * Math.max(1, page);
      const chosen = Math.max(0, wishes.chosen + on + (STEPS[key] ?? 0));
      return { ...wishes, chosen, top: Math.max(0, wishes.top + on) };
    }
  }
}

function afterTyping(wishes: Wishes, key: string): Wishes {
  if (ENTER.test(key)) return { ...wishes, shows: 'files' };
  if (key === ESCAPE) return { ...wishes, shows: 'files', filter: '' };
  const { filter } = wishes;
  if (key === '\x7f' || key === '\b') return { ...wishes, filter: filter.slice(0, -1) };
  return /^\P{C}$/u.test(key) ? { ...wishes, filter: filter + key } : wishes;
}

function after(key: SortKey): SortKey {
  return SORT_KEYS[(SORT_KEYS.indexOf(key) + 1) % SORT_KEYS.length] ?? 'lag';
}
