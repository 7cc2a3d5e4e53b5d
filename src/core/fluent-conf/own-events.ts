import type { ConfElement } from './element.ts';
import type { Params } from './params.ts';

const OWN_TAGS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level) => `fluent.${level}`);
const OWN_LABEL = '@FLUENT_LOG';
/** Far longer than people write. */
const LONGEST_PATTERN = 1_000;

/** Where Fluentd's own log events go. */
export interface OwnEvents {
  /** The `<match>` sections that take them. */
  readonly takers: ReadonlySet<ConfElement>;
  /** `<label @FLUENT_LOG>` takes them all. */
  readonly haveLabel: boolean;
}

type Labels = ReadonlyMap<string | undefined, readonly Params[]>;

/** They go to the first match that takes them, and on by `@type relabel` (`lib/fluent/fluent_log_event_router.rb`). */
export function ownEvents(scopes: readonly Params[]): OwnEvents {
  const roots = scopes.map((scope) => scope.aside());
  const labels = new Map<string | undefined, Params[]>();
  for (const label of roots.flatMap((root) => root.sections('label'))) {
    const name = label.arg();
    labels.set(name, [...(labels.get(name) ?? []), label]);
  }
  const own = labels.get(OWN_LABEL);
  const takers = OWN_TAGS.flatMap((tag) => takersOf(tag, own ?? roots, labels));
  return { takers: new Set(takers), haveLabel: own !== undefined };
}

function takersOf(tag: string, start: readonly Params[], labels: Labels): ConfElement[] {
  const takers: ConfElement[] = [];
  const ways = new Set([start]);
  // A Set's iteration also visits what the loop adds.
  for (const scopes of ways) {
    const matches = scopes.flatMap((scope) => scope.sections('match'));
    const taker = matches.find((match) => takes(match.arg() || '**', tag));
    if (taker === undefined) continue;
    takers.push(taker.element);
    for (const label of relabelsOf(taker)) ways.add(labels.get(label) ?? []);
  }
  return takers;
}

/** posidle does not read braces, escapes, regular expressions and three stars in a row: they count as no match. */
function takes(patterns: string, tag: string): boolean {
  return patterns
    .split(/\s+/)
    .some(
      (pattern) =>
        pattern.length <= LONGEST_PATTERN && !/[{/\\]|\*{3}/.test(pattern) && regexpOf(pattern).test(tag),
    );
}

/** `lib/fluent/match.rb`: `a.**` also takes `a`, and `**.a` does, too. Fluentd forgets a dot at the end. */
function regexpOf(pattern: string): RegExp {
  const parts = pattern.replace(
    /(\.?)\*\*(\.?)|\W/g,
    (token, before?: string, after?: string, at?: number) => {
      if (before !== undefined) return (before && '(?![^.])') + (after ? '(?:.*\\.|^)' : '.*');
      if (token === '*') return '[^.]*';
      return at === pattern.length - 1 && token === '.' ? '' : `\\${token}`;
    },
  );
  return new RegExp(`^${parts}$`);
}

function relabelsOf(output: Params): (string | undefined)[] {
  const stores = output.sections('store');
  if (stores.length > 0) return stores.flatMap(relabelsOf);
  return output.text('@type', 'type') === 'relabel' ? [output.text('@label')] : [];
}
