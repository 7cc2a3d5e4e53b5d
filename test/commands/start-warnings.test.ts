import { expect, test } from 'vitest';
import { startWarnings, unknownVariables } from '../../src/commands/start-warnings.ts';
import { tempDir } from '../support/temp-dir.ts';

const at = tempDir();

test('a variable that is no option is told with the nearest one', () => {
  const env = {
    POSIDLE_QUITE: '30s',
    POSIDLE_BANNER: 'x',
    POSIDLE_QUIET: '30s',
    POSIDLE_STATE: 'behind',
    POSIDLE_DIR: '/posidle',
    PATH: '',
  };
  expect(unknownVariables(env)).toEqual([
    'POSIDLE_QUITE: no option has this name. Did you mean POSIDLE_QUIET?',
    'POSIDLE_BANNER: no option has this name',
  ]);
});

test('the variables that Kubernetes makes for Services are no mistakes', () => {
  const ofServices = ['POSIDLE', 'POSIDLE_METRICS'].flatMap((service) => [
    `${service}_SERVICE_HOST`,
    `${service}_SERVICE_PORT`,
    `${service}_SERVICE_PORT_HTTP`,
    `${service}_PORT`,
    `${service}_PORT_8080_TCP`,
    `${service}_PORT_8080_TCP_PROTO`,
    `${service}_PORT_8080_TCP_PORT`,
    `${service}_PORT_53_UDP_ADDR`,
  ]);
  expect(unknownVariables(Object.fromEntries(ofServices.map((name) => [name, 'x'])))).toEqual([]);
});

test.each(['doneFile', 'heartbeatFile'])(
  'the directory of %s that is not there is told; a file that only has still to come is not',
  (option) => {
    expect(startWarnings({ [option]: at('done') }, {})).toEqual([]);
    expect(startWarnings({ [option]: at('no/done') }, {})).toEqual([
      `\`${option}\`: the directory ${at('no')} doesn't exist yet. Is its volume mounted here?`,
    ]);
  },
);
