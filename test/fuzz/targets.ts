import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fluentConf } from '../../src/core/fluent-conf/fluent-conf.ts';
import { parseConf } from '../../src/core/fluent-conf/syntax.ts';
import { isFluentd, isWorker } from '../../src/core/fluentd/processes.ts';
import { nameMatcher, parseGlob } from '../../src/core/in-tail/path-glob.ts';
import { decodePath } from '../../src/core/pos-file/path-bytes.ts';
import { parsePosFile } from '../../src/core/pos-file/pos-file.ts';
import { printable, printableJson } from '../../src/core/text/printable.ts';
import { parseReport } from '../../src/core/witness/answer.ts';
import { progressFromWitnesses } from '../../src/core/witness/reports.ts';
import { listChunks } from '../../src/node/files/chunks.ts';
import { listFollowed } from '../../src/node/files/walk.ts';
import { startHttpServer } from '../../src/node/network/http-server.ts';
import { fluentdArguments } from '../../src/node/processes/command-line.ts';
import { listProc } from '../../src/node/processes/proc.ts';
import { answer, holding, sight } from '../support/said.ts';
import { textsIn, WORDS } from './mutated.ts';

export interface Target {
  readonly seeds: readonly string[];
  /** What is put into them. */
  readonly words?: readonly string[];
  /** Throws where something is wrong. */
  read(bytes: Buffer): unknown;
}

const CONFS = [...textsIn('fixtures/conf', /\.conf$/), readFileSync('fluent.conf.example', 'latin1')];
const ruby = { env: { HOME: '/root' }, hostname: 'host' };

/** One section of a configuration after the other: small ones are read more often. */
export const SECTIONS: readonly string[] = CONFS.flatMap((conf) => conf.split(/(?<=^<\/\w+>\r?\n)/m));

/** Also blanks that are none, and where lines, comments and includes begin and end. */
export const CONF_WORDS: readonly string[] = [
  ...WORDS,
  ...['#', '# c\n', ' #', '\\\n', '\r', '\f', '\v', '\xc2\xa0', 'k v\n', '\n'],
  ...['include ', '</buffer>\n', '<buffer time>\n', ...`@include @ {"a":1} ["a"] 1.50 'x' "x"`.split(' ')],
];

const utf8 = (bytes: Buffer) => bytes.toString('utf8');
let dir = '';
/** Below it files are put. */
const work = () => {
  if (dir === '') {
    dir = mkdtempSync(join(tmpdir(), 'posidle-fuzz-'));
    process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
    for (const name of ['1', 'names']) mkdirSync(join(dir, name));
  }
  return dir;
};

/** Every port of entry: what is read there may come from anybody. */
export const TARGETS = {
  'pos file': { seeds: textsIn('fixtures/pos', /\.pos$/), read: parsePosFile },
  'fluent.conf': {
    seeds: [...CONFS, ...SECTIONS],
    words: CONF_WORDS,
    read: (bytes) => {
      fluentConf(parseConf(decodePath(bytes), 'f'), ruby);
    },
  },
  'command line': {
    seeds: [
      'ruby /usr/bin/fluentd -c f.conf -i "<source>" --workers 3',
      'supervisor:x',
      'fluentd --under-supervisor',
    ],
    read: (bytes) => {
      // No more is kept of one (proc.ts).
      const argv = utf8(bytes.subarray(0, 4_096)).split(' ');
      isFluentd(argv);
      isWorker(argv);
      fluentdArguments(argv);
    },
  },
  'answer of a witness, and its last report': {
    seeds: [
      JSON.stringify(answer({ files: [sight()], outputs: [holding('a')] })),
      JSON.stringify({ v: 1, pid: 12, final: true, closed: [sight()] }),
    ],
    read: (bytes) => {
      const report = parseReport(utf8(bytes));
      if ('notBelieved' in report) return;
      const witnesses = (['alive', 'gone'] as const).map((kind) => ({ worker: '1-1.sock', kind, report }));
      printableJson(progressFromWitnesses({ at: 0, witnesses }).doubts);
    },
  },
  '/proc/PID/stat and cmdline': {
    seeds: [`${readFileSync('/proc/self/stat', 'latin1')}fluentd\0-c\0f.conf`],
    read: async (bytes) => {
      const cut = bytes.indexOf('\n') + 1;
      writeFileSync(join(work(), '1/stat'), bytes.subarray(0, cut));
      writeFileSync(join(dir, '1/cmdline'), bytes.subarray(cut));
      await listProc(dir);
    },
  },
  'pattern, which is refused or matches in linear time': {
    seeds: ['/var/log/**/{a,b}[0-9]*.log', '/a/\\*?-*-*'],
    read: (bytes) => {
      const pattern = utf8(bytes);
      nameMatcher(pattern.slice(0, 4_096))('a-'.repeat(128));
      try {
        parseGlob(pattern);
      } catch (error) {
        if (!/^a pattern has more than/.test((error as Error).message)) throw error;
      }
    },
  },
  'name of a log file, which is found and shown without harm': {
    seeds: [
      'app.log/app-2026.log/\xff\xfe.log/\xe6\x97\xa5.log',
      '/var/log/containers/a_b_c-0.log',
      ' \u009b31m/\x7f',
    ],
    read: (bytes) =>
      withNames(bytes, '', async (names) => {
        const paths = [`${dir}/names/*`, `${dir}/**/*.log`];
        const clock = { instant: 0, minutesEast: 0 };
        const rules = { paths, excludePaths: [], globPolicy: 'backward_compatible' as const };
        const { files, unknown } = await listFollowed(rules, clock);
        if (unknown !== undefined) throw new Error(unknown);
        for (const { path } of files)
          if (/[\p{Cc}\p{Cs}]/u.test(printable(path))) throw new Error(`${path} is not printable`);
        const seen = files.filter(({ path }) => path.startsWith(`${dir}/names/`)).length;
        const hidden = names.filter((name) => name.startsWith('.')).length;
        if (seen !== names.length - hidden) throw new Error(`${seen} of ${names.length} names were found`);
      }),
  },
  'name of a chunk': {
    seeds: ['b5f0d1e4c8a0b1c2d3e4f5a6b7c8d9e0f.log', 'q5f0d1e4c8a0b1c2d3e4f5a6b7c8d9e0f.log.meta'],
    read: (bytes) =>
      withNames(bytes, 'buffer.', async () => {
        const { isThere } = await listChunks([`${dir}/names/buffer.*`], (path) => path);
        if (!isThere) throw new Error('the buffer is not found');
      }),
  },
  'request by HTTP': {
    seeds: [
      'GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n',
      'POST /quit HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer none\r\ncontent-length: 3\r\n\r\nabc',
      'POST /quit HTTP/1.1\r\nhost: [::1]\r\norigin: http://[::1]\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      'GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: h2c\r\nexpect: 100-continue\r\n\r\n',
    ],
    words: [
      ...WORDS,
      ...'\r\n|\r\n\r\n|: |HTTP/1.1|HTTP/1.0|content-length: |host: |POST |GET /metrics'.split('|'),
    ],
    read: askServer,
  },
} as const satisfies Readonly<Record<string, Target>>;

/** One directory may hold so many; a name has 255 bytes at most. */
const MOST_NAMES = 12;

async function withNames(
  bytes: Buffer,
  start: string,
  look: (names: readonly string[]) => Promise<void>,
): Promise<void> {
  const place = join(work(), 'names');
  const parts = bytes.toString('latin1').replaceAll('\0', '').split('/').slice(0, MOST_NAMES);
  const names = [...new Set(parts.map((part) => (start + part).slice(0, 255)))].filter(
    (name) => !/^\.{0,2}$/.test(name),
  );
  const pathOf = (name: string) => Buffer.from(`${place}/${name}`, 'latin1');
  for (const name of names) writeFileSync(pathOf(name), 'line\n');
  try {
    await look(names);
  } finally {
    for (const name of names) rmSync(pathOf(name));
  }
}

let server: Promise<Server> | undefined;

/** The server answers the request or cuts it off, and serves the next client. */
async function askServer(bytes: Buffer): Promise<void> {
  const told = () => ({ body: 'x'.repeat(100_000), type: 'text/plain', isWell: true });
  const routes = { get: { '/metrics': told }, post: { '/quit': () => {} }, tokenFile: undefined };
  server ??= startHttpServer({ host: '127.0.0.1', port: 0 }, routes);
  const { port } = (await server).address() as AddressInfo;
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes));
    socket.on('error', () => {}).once('close', () => resolve());
    socket.resume();
  });
}
