import { expect } from 'vitest';
import { type FluentConf, fluentConf } from '../../../src/core/fluent-conf/fluent-conf.ts';
import type { RubyContext } from '../../../src/core/fluent-conf/ruby.ts';
import { parseConf } from '../../../src/core/fluent-conf/syntax.ts';

export const RUBY: RubyContext = { env: { SET: 'set' }, hostname: 'pod-1' };

/** Parses a text without mistakes. */
export function read(text: string, context = RUBY): FluentConf {
  const parsed = parseConf(text, 'f.conf');
  expect(parsed.problems).toEqual([]);
  return fluentConf(parsed, context);
}

export const section = (name: string, params: string) => `<${name}>\n${params}\n</${name.split(' ')[0]}>\n`;
export const tail = (params: string) => section('source', `@type tail\n${params}`);
export const match = (params: string) => section('match app', params);
export const buffer = (params: string) => section('buffer', params);
