import { expect, test } from 'vitest';
import { startWarnings, unknownVariables } from '../../src/commands/start-warnings.ts';
import { tempDir } from '../support/temp-dir.ts';

const at = tempDir();

test('a variable that is no option is reported with the nearest name', () => {
  const known = {
    POSIDLE_QUIET: '30s',
    POSIDLE_MAX_LAG: '0',
    POSIDLE_DIR: '/posidle',
    POSIDLE_FIND: 'no',
    PATH: '',
  };
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

test.each([
  ['done-file', 'doneFile'],
  ['heartbeat-file', 'heartbeatFile'],
])(
  'the directory of --%s that is not there is told; a file that only has still to come is not',
  (flag, option) => {
    expect(startWarnings({ [option]: at('done') }, {})).toEqual([]);
    expect(startWarnings({ [option]: at('no/done') }, {})).toEqual([
      `--${flag}: the directory ${at('no')} doesn't exist yet. Is its volume mounted here?`,
    ]);
  },
);
