import { filter, type Section } from '../../support/fluentd-conf.ts';
import { READ } from '../sections.ts';
import type { Situation } from '../situation.ts';

const LIST = [...READ, ['write text', 'app.log', '[]\n'], ['until', 'all is read']] as const;
const JSON_PARSER: Section = { name: 'parse', params: { '@type': 'json' } };

export const PARSED: readonly Situation[] = [
  {
    name: 'no-parser',
    what: 'no parser can read the lines',
    setup: { parse: { '@type': 'regexp', expression: '/^(?<never>never)$/' } },
    deeds: READ,
    outcome: 'unproven',
    told: '20 lines gave no record',
    lost: 20,
    on: 'newest',
    since: 'fef4ce2',
  },
  {
    name: 'parser-passes-over',
    what: 'a parser passes over a line in silence (1.14.6 makes a record of it)',
    setup: { parse: { '@type': 'json' } },
    deeds: [
      ['write text', 'app.log', '{"message":"a"}\n'],
      ['until', 'all is read'],
      ['write text', 'app.log', '[]\n'],
      ['until', 'all is read'],
    ],
    outcome: 'unproven',
    told: '1 line gave no record',
    on: 'not the oldest',
    since: '77b5973',
    once: 'drained',
  },
  {
    name: 'filter-passes-over',
    what: 'filter_parser passes over a value in silence (1.14.6 makes a record of it)',
    setup: { between: [filter('parser', { key_name: 'message' }, [JSON_PARSER])] },
    deeds: LIST,
    outcome: 'unproven',
    told: '21 lines gave no record',
    lost: 20,
    on: 'newest',
    since: '77b5973',
    once: 'drained',
  },
  {
    name: 'filter-drops',
    what: 'filter_parser drops each line that it cannot parse, as it is told to',
    setup: {
      between: [
        filter('parser', { key_name: 'message', emit_invalid_record_to_error: false }, [JSON_PARSER]),
      ],
    },
    deeds: READ,
    outcome: 'unproven',
    told: '20 lines gave no record',
    lost: 20,
    on: 'newest',
    since: 'fef4ce2',
    once: 'drained',
  },
  {
    name: 'filter-fails',
    what: 'a filter raises an error for each line',
    setup: {
      between: [
        filter('record_transformer', { enable_ruby: true }, [
          // biome-ignore lint/suspicious/noTemplateCurlyInString: Ruby that Fluentd evaluates
          { name: 'record', params: { x: '${raise "no"}' } },
        ]),
      ],
    },
    deeds: READ,
    outcome: 'unproven',
    told: 'logged',
    lost: 20,
    on: 'newest',
    since: '229de46',
  },
];
