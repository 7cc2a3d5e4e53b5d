import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startWarnings, unknownVariables } from '../../src/commands/start-warnings.ts';
import { tempDir } from '../support/temp-dir.ts';

const at = tempDir();
const withToken = (tokenFile: string) => startWarnings({ 'quit-token': tokenFile }, {});

test('a variable that is no option is told with the nearest one', () => {
  const known = { POSIDLE_QUIET: '30s', POSIDLE_STATE: 'behind', POSIDLE_DIR: '/posidle', PATH: '' };
  const env = { POSIDLE_QUITE: '30s', POSIDLE_BANNER: 'x', ...known };
  expect(unknownVariables(env)).toEqual([
    'POSIDLE_QUITE: no option has this name. Did you mean POSIDLE_QUIET?',
    'POSIDLE_BANNER: no option has this name',
  ]);
});

test('the variables that Kubernetes makes for Services are no mistakes', () => {
  const ofService = ['SERVICE_HOST', 'SERVICE_PORT', 'SERVICE_PORT_HTTP', 'PORT', 'PORT_8080_TCP'];
  const ofPort = ['PORT_8080_TCP_PROTO', 'PORT_8080_TCP_PORT', 'PORT_53_UDP_ADDR'];
  const ofServices = [...ofService, ...ofPort].flatMap((name) => [
    `POSIDLE_${name}`,
    `POSIDLE_METRICS_${name}`,
  ]);
  expect(unknownVariables(Object.fromEntries(ofServices.map((name) => [name, 'x'])))).toEqual([]);
});

const FILES = ['done-file', 'heartbeat-file'];
test.each(FILES)(
  'the directory of --%s that is missing is told; a file that is to come is not',
  async (option) => {
    const told = `--${option}: the directory ${at('no')} doesn't exist yet. Is its volume mounted here?`;
    expect(await startWarnings({ [option]: at('done') }, {})).toEqual([]);
    expect(await startWarnings({ [option]: at('no/done') }, {})).toEqual([told]);
  },
);

test('a token file without a token is told, with the reason', async () => {
  const consequence = 'Until that changes, every POST is refused';
  writeFileSync(at('token'), 'secret\n');
  writeFileSync(at('empty'), '\n');
  expect(await withToken(at('token'))).toEqual([]);
  for (const [file, why] of [
    ['missing', 'there is no such file'],
    ['empty', 'it is empty'],
    ['', 'it is a directory'],
  ] as const)
    expect(await withToken(at(file))).toEqual([`--quit-token: ${at(file)}: ${why}. ${consequence}`]);
});
