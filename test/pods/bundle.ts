import { resolve } from 'node:path';
import { configMap } from './kustomize.ts';

/** posidle in one file, as test/support/build.ts makes it before the tests. */
export const BUNDLE = resolve('dist/posidle.cjs');

/** The ConfigMap posidle that the placements need. */
export const program = () => configMap('posidle', [BUNDLE, 'docker/image/asleep']);
