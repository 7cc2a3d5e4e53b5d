import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { noNamespace, skipFor } from '../support/needs.ts';
import { ALONE, startPosidle } from '../support/posidle.ts';

const NO_FLUENTD = 'watch -p /tmp/no-such.pos --start-timeout 100ms'.split(' ');
const NONE = 'nothing warns';
const ONLY_CALLS = 'quiet is off: only a call or a signal begins the drain';

/** The given options, the triggers in the start line, and the warnings. */
const STARTS: readonly (readonly [options: string, begins: string, warning: string])[] = [
  ['', 'nothing has moved for 60 s, or when SIGTERM comes', NONE],
  [
    '--listen PORT --quit-token none',
    'POST /quitquitquit comes to 127.0.0.1:PORT, or when SIGTERM comes',
    ONLY_CALLS,
  ],
  [
    '--listen PORT --quit-token none --done-file /tmp/no-such-file',
    '/tmp/no-such-file exists, or when POST /quitquitquit comes to 127.0.0.1:PORT, or when SIGTERM comes',
    NONE,
  ],
];

skipFor(noNamespace());

test.concurrent.each(STARTS)(
  'posidle watch %s: the drain begins when %s; %s',
  async (options, begins, warning) => {
    const port = String(await freePort());
    const words = options.replace('PORT', port).split(' ').filter(Boolean);
    const run = startPosidle([...NO_FLUENTD, ...words], { wrapper: ALONE });
    expect(await run.exited).toBe(4);
    expect(run.stderr()).toMatch(/^\{"level":"info","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",/);
    const [start] = run.log();
    expect(start?.msg).toBe(
      `posidle watches /tmp/no-such.pos; the drain begins when ${begins.replace('PORT', port)}`,
    );
    const warnings = run.log().filter(({ level }) => level === 'warn');
    const told = warnings.filter(({ msg }) => msg.startsWith(ONLY_CALLS));
    expect(told).toHaveLength(warning === ONLY_CALLS ? 1 : 0);
  },
);

test('a token file that is not there is warned of', async () => {
  const words = ['--listen', String(await freePort()), '--quit-token', '/tmp/no-such-file'];
  const run = startPosidle([...NO_FLUENTD, ...words], { wrapper: ALONE });
  await run.exited;
  const warnings = run.log().flatMap(({ level, msg }) => (level === 'warn' ? [msg] : []));
  expect(warnings).toContain(
    '--quit-token: posidle sees no file /tmp/no-such-file. Without it no POST begins the drain',
  );
});

test.each([
  ['watch', NO_FLUENTD.join(' '), 4, 'exit code 4 after'],
  ['run', 'run -p /tmp/no-such.pos -- false', 1, 'exit code 1 after'],
])(
  '%s that finds no Fluentd says in its last line how it ended, and after how long',
  async (_, words, code, said) => {
    const run = startPosidle(words.split(' '), { wrapper: ALONE });
    expect(await run.exited).toBe(code);
    const { level, msg } = run.log().at(-1) ?? {};
    expect(msg).toContain(said);
    if (words.startsWith('watch')) expect(level).toBe('error');
  },
);
