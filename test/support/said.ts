const LISTS = [
  ...['readers', 'files', 'closed', 'cuts', 'starts', 'lost', 'unfound', 'denied', 'siblings', 'kept'],
  ...['plugins', 'messages', 'aside', 'ends', 'resumed'],
];

/** The answer of a healthy worker's witness. */
export function answer(changed: object = {}): Record<string, unknown> {
  const known = { v: 1, pid: 12, pod: 0, ready: true, error: null, gap: 0.3 };
  const none = Object.fromEntries(LISTS.map((name) => [name, []]));
  return { ...known, ...none, outputs: [output()], lines: 0, again: 0, more: 0, ...changed };
}

/** A file that is read to its end. */
export function sight(changed: object = {}): object {
  return { path: '/log/a.log', inode: 7, pos: 100, size: 100, at: 5_000, ...changed };
}

/** An output whose buffer is empty. */
export function output(changed: object = {}): object {
  const none = { retry: false, settings: {}, n: 0, bytes: 0, chunks: [] };
  return { id: 'out', class: 'Fluent::Plugin::HTTPOutput', ...none, ...changed };
}

/** The same with so many chunks staged, each with an id. */
export function holding(...ids: readonly string[]): object {
  return output({ n: ids.length, bytes: 10 * ids.length, chunks: ids });
}
