import type { ConfElement } from './element.ts';
import type { Params } from './params.ts';

const OWN_TAGS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level) => `fluent.${level}`);
const OWN_LABEL = '@FLUENT_LOG';
/** Far longer than people write. */
const LONGEST_PATTERN = 1_000;

/** Whether a `<match>` takes an event. */
type Taking = 'surely' | 'perhaps';

/** Where Fluentd's own log events go. */
export interface OwnEvents {
  /** The `<match>` sections that they can reach. */
  readonly takers: ReadonlyMap<ConfElement, Taking>;
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
  const takers = new Map<ConfElement, Taking>();
  for (const tag of OWN_TAGS)
    for (const [taker, taking] of takersOf(tag, own ?? roots, labels))
      if (takers.get(taker) !== 'surely') takers.set(taker, taking);
  return { takers, haveLabel: own !== undefined };
}

function takersOf(tag: string, start: readonly Params[], labels: Labels): [ConfElement, Taking][] {
  const takers: [ConfElement, Taking][] = [];
  const ways = new Set([start]);
  // A Set's iteration also visits what the loop adds.
  for (const scopes of ways) {
    for (const match of scopes.flatMap((scope) => scope.sections('match'))) {
      const taking = takes(match.arg() || '**', tag);
      if (taking === undefined) continue;
      takers.push([match.element, taking]);
      for (const label of relabelsOf(match)) ways.add(labels.get(label) ?? []);
      if (taking === 'surely') break;
    }
  }
  return takers;
}

function takes(patterns: string, tag: string): Taking | undefined {
  const takings = patterns.split(/\s+/).map((pattern): Taking | undefined => {
    // posidle does not read braces, escapes, regular expressions and three stars in a row.
    if (/[{/\\]|\*{3}/.test(pattern) || pattern.length > LONGEST_PATTERN) return 'perhaps';
    return regexpOf(pattern).test(tag) ? 'surely' : undefined;
  });
  return takings.find((taking) => taking === 'surely') ?? takings.find((taking) => taking === 'perhaps');
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
