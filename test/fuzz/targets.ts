import { readFileSync } from 'node:fs';
import { fluentConf } from '../../src/core/fluent-conf/fluent-conf.ts';
import { parseConf } from '../../src/core/fluent-conf/syntax.ts';
import { decodePath } from '../../src/core/pos-file/path-bytes.ts';
import { type PositionEntry, parsePosFile } from '../../src/core/pos-file/pos-file.ts';
import { textsIn, WORDS } from '../support/mutations.ts';

export interface Target {
  readonly seeds: readonly string[];
  /** What is put into them. */
  readonly words: readonly string[];
  /** Throws where something is wrong; false: there was nothing in it. */
  read(bytes: Buffer): boolean;
}

const CONFS = [...textsIn('fixtures/conf', /\.conf$/), readFileSync('fluent.conf.example', 'latin1')];
const ruby = { env: { HOME: '/root' }, hostname: 'host' };

/** One section of a configuration after the other: small ones are read more often. */
export const SECTIONS: readonly string[] = CONFS.flatMap((conf) => conf.split(/(?<=^<\/\w+>\r?\n)/m));

/** Also blanks that are none, and where lines, comments and includes begin and end. */
export const CONF_WORDS: readonly string[] = [
  ...WORDS,
  ...['#', '# c\n', ' #', '\\\n', '\r', '\f', '\v', '\xc2\xa0', 'k v\n', '\n'],
  ...[
    'include ',
    '@include',
    '@',
    '</buffer>\n',
    '<buffer time>\n',
    '{"a":1}',
    '["a"]',
    '1.50',
    "'x'",
    '"x"',
  ],
];

export const TARGETS: Readonly<Record<'pos' | 'conf', Target>> = {
  pos: { seeds: textsIn('fixtures/pos', /\.pos$/), words: WORDS, read: readPosFile },
  conf: {
    seeds: [...CONFS, ...SECTIONS],
    words: CONF_WORDS,
    read: (bytes) => {
      const { root, problems } = parseConf(decodePath(bytes), 'f');
      fluentConf(root, ruby);
      return root.items.length > 0 && problems.length === 0;
    },
  },
};

/** The reader agrees with Fluentd's own pattern on each line that is no longer than any path. */
function readPosFile(bytes: Buffer): boolean {
  const { entries, unparsable } = parsePosFile(bytes);
  const expected = entriesOf(bytes);
  if (unparsable.some(({ merged }) => merged)) {
    if (entries.length <= expected.length) throw new Error('a merged line has one entry');
  } else {
    for (const [index, entry] of expected.entries()) expectSame(entries[index], entry);
    if (entries.length !== expected.length)
      throw new Error(`${entries.length} entries, not ${expected.length}`);
  }
  return entries.length > 0;
}

function expectSame(ours: PositionEntry | undefined, expected: PositionEntry): void {
  const isSame =
    ours?.path === expected.path && ours.position === expected.position && ours.inode === expected.inode;
  if (!isSame) throw new Error(`${JSON.stringify(ours)}, not ${JSON.stringify(expected)}`);
}

/** POSITION_FILE_ENTRY_REGEX in lib/fluent/plugin/in_tail/position_file.rb, and the lengths that posidle allows. */
const ENTRY = /^([^\t]{1,8191})\t([0-9a-fA-F]{1,1024})\t([0-9a-fA-F]{1,1024})(?![0-9a-fA-F])/;

function entriesOf(bytes: Buffer): PositionEntry[] {
  const lines = bytes.toString('latin1').split('\n').slice(0, -1);
  return lines.flatMap((line) => {
    const [, path = '', position = '', inode = ''] = ENTRY.exec(line) ?? [];
    return path === ''
      ? []
      : [{ path: decodePath(Buffer.from(path, 'latin1')), ...valuesOf(position, inode) }];
  });
}

function valuesOf(position: string, inode: string): Omit<PositionEntry, 'path'> {
  const value = BigInt(`0x${position}`);
  const largest = Number.MAX_SAFE_INTEGER;
  const read = value === 2n ** 64n - 1n ? null : Math.min(Number(value), largest);
  return { position: read, inode: String(BigInt(`0x${inode}`)) };
}
