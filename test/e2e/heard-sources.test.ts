import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { judgeHeard } from '../../src/core/witness/messages.ts';
import { type LogCall, logCallsIn } from '../support/log-calls.ts';
import { missingFluentd, requireFluentd, TESTED_VERSIONS } from '../support/real-fluentd.ts';

/** Sources that no row needs to know. */
const NOT_LOOKED_AT: readonly [RegExp, string][] = [
  [/^fluent\/command\//, 'not in a worker'],
  [/^fluent\/test\//, 'not in a worker'],
  [/^fluent\/(daemonizer|winsvc|process)\.rb$/, 'not in a worker'],
  [
    /^kafka\/(consumer|fetcher|async_producer|transaction|client|interceptors|sasl)/,
    'no output sends through it',
  ],
  [/^fluent\/plugin\/(s3_extractor_|filter_systemd_entry)/, 'of inputs'],
];
/** A variable is logged, so no row can know the text: an unknown message, and so a doubt that quotes it. */
const ONLY_A_VARIABLE: readonly [string, RegExp, string][] = [
  ['fluent/plugin/in_tail', /warn \{/, 'of a block the witness reads the line'],
  ['fluent/plugin/in_tail', /error (e|error|\$!)\.to_s/, 'an error inside in_tail'],
  ['fluent/engine.rb', /message$/, 'its texts stand some lines above'],
  ['fluent/plugin/output.rb', / msg\b|\(msg\b/, 'its texts stand some lines above'],
  ['fluent/supervisor.rb', /e\.message/, 'Fluentd does not start'],
  ['fluent/plugin/in_tail', /"#\{e\}"/, 'Permission denied'],
  ['fluent/plugin/parser_json.rb', /ex\.message/, 'of configure'],
  ['fluent/plugin/filter_geoip.rb', /message, error: e/, 'of configure'],
  ['fluent/plugin/out_cloudwatch_logs.rb', /rejected_log_events_info/, 'the empty text'],
  ['fluent/plugin/elasticsearch_index_template.rb', /message$/, 'its text stands some lines above'],
  ['fluent/plugin/opensearch_index_template.rb', /message$/, 'its text stands some lines above'],
  ['fluent/plugin/out_kafka', /log\.error e$/, 'of the start'],
  ['fluent/plugin/kubernetes_metadata_watch_', /\(message, e\)/, 'its text stands some lines above'],
  ['fluent/plugin/out_gelf.rb', /sprintf/, 'its text stands some lines below'],
  ['fluent/plugin/formatter_gelf.rb', /sprintf/, 'its text stands some lines below'],
];
/** Gems of plugins, unpacked: `PLUGIN_GEMS=dir`, where dir holds what `gem unpack` makes. */
const GEMS = process.env.PLUGIN_GEMS;

describe.each(TESTED_VERSIONS)('Fluentd %s', (version) => {
  test.skipIf(missingFluentd(version) !== undefined)('each message that it logs is known', () => {
    const { env } = requireFluentd(version);
    const calls = logCallsIn(join(`${env.GEM_HOME}`, 'gems', `fluentd-${version}`, 'lib'));
    expect(calls.length).toBeGreaterThan(100);
    expect(unknownOf(calls)).toEqual([]);
  });
});

if (GEMS !== undefined)
  test('each message of the plugins in PLUGIN_GEMS is known', () => {
    const libs = readdirSync(`${GEMS}`).map((gem) => join(`${GEMS}`, gem, 'lib'));
    expect(libs.filter((lib) => existsSync(lib)).flatMap((lib) => unknownOf(logCallsIn(lib)))).toEqual([]);
  });

function unknownOf(calls: readonly LogCall[]): readonly string[] {
  const unknown = calls.filter((call) => isLookedAt(call) && !isKnown(call));
  return unknown.map(({ file, line, code }) => `${file}:${line} ${code}`);
}

function isLookedAt({ file }: LogCall): boolean {
  return !NOT_LOOKED_AT.some(([pattern]) => pattern.test(file));
}

function isKnown({ file, code, texts }: LogCall): boolean {
  if (ONLY_A_VARIABLE.some(([begin, pattern]) => file.startsWith(begin) && pattern.test(code))) return true;
  const heard = { level: 'warn', file, error: null, tag: null, during: null, n: 1 };
  const said = texts.length === 0 ? ['(only a variable)'] : texts;
  return said.some((text) => judgeHeard({ ...heard, text }, []) !== 'unknown');
}
