import type { Millis } from '../text/units.ts';
import type { Place } from './element.ts';
import type { Params } from './params.ts';

/** A plugin that makes one record of several lines, and holds it until the next one begins. */
export interface Multiline {
  readonly place: Place;
  /** For people: `a multiline source`. */
  readonly name: string;
  /** The parameter that lets the last record go. */
  readonly setting: string;
  /** Its value; undefined: the record goes when Fluentd stops. */
  readonly flushInterval: Millis | undefined;
}

const SETTING = 'multiline_flush_interval';

/** Of the sources, outputs and filters of one scope. */
export function multilineIn(scope: Params): Multiline[] {
  const those = (kind: string, type: string) =>
    scope
      .sections(kind)
      .flatMap((section) => [section, ...section.sections('store')])
      .filter((section) => section.aside().text('@type', 'type') === type);
  return [
    ...those('source', 'tail')
      .filter(isMultiline)
      .map((source) => multiline(source, 'a multiline source', SETTING)),
    ...those('match', 'detect_exceptions').map((match) => multiline(match, 'detect_exceptions', SETTING)),
    ...those('filter', 'concat')
      .filter(hasLabel)
      .map((filter) => multiline(filter, 'filter concat', 'flush_interval')),
  ];
}

function multiline(params: Params, name: string, setting: string): Multiline {
  const flushInterval = params.aside().time(setting) || undefined;
  return { place: params.element.place, name, setting, flushInterval };
}

function isMultiline(source: Params): boolean {
  const [parse] = source.sections('parse');
  const type = parse === undefined ? source.text('format') : parse.text('@type', 'type');
  return type !== undefined && !type.startsWith('/') && type.includes('multiline');
}

/** For fluent-plugin-concat the last record is an error where it has no label for it (`handle_timeout_error`). */
function hasLabel(filter: Params): boolean {
  return filter.written('timeout_label') !== undefined;
}
