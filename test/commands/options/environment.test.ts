import { expect, test } from 'vitest';
import { unknownVariables } from '../../../src/commands/options/environment.ts';

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
