/** Where in the tag a match may stand. */
type Positions = ReadonlySet<number>;

/** One part of a pattern: where a match may stand behind it. All positions go at once, so nothing is tried twice. */
type Part = (from: Positions, tag: string) => Positions;

/** Far longer than any that people write. */
const MAX_LENGTH = 1_000;
const MAX_WORDS = 1_000;

/** Whether a tag falls under one of the patterns of a `<match>` (`lib/fluent/match.rb`, `lib/fluent/event_router.rb`). */
export function tagMatches(patterns: string, tag: string): boolean {
  return patterns.split(/\s+/, MAX_WORDS).some((pattern) => {
    if (pattern.length > MAX_LENGTH) return false;
    const regexp = /^\/(.*)\/$/.exec(pattern)?.[1];
    if (regexp !== undefined) return isTame(regexp) && regexpOf(regexp).test(tag);
    const parts = partsOf(pattern);
    return parts !== undefined && inOrder(parts)(new Set([0]), tag).has(tag.length);
  });
}

/** With few quantifiers, none of them around others, JavaScript's backtracking stays short. */
function isTame(regexp: string): boolean {
  return !/\)[*+{]/.test(regexp) && (regexp.match(/[*+?{]/g) ?? []).length <= 5;
}

function regexpOf(text: string): RegExp {
  try {
    return new RegExp(`^${text}$`);
  } catch {
    return /(?!)/;
  }
}

interface Group {
  readonly alternatives: Part[][];
  readonly before: Part[];
}

/** undefined: a brace is never closed, which Fluentd takes for other text than is written. */
function partsOf(pattern: string): Part[] | undefined {
  const open: Group[] = [];
  let parts: Part[] = [];
  for (const match of pattern.matchAll(/\\(.?)|(\.?)\*\*(\.?)|./gs)) {
    const [token, escaped, before, after] = match;
    const group = open.at(-1);
    if (escaped !== undefined) parts.push(...[...escaped].map(char));
    else if (before !== undefined)
      parts.push(...(before ? [endOfName] : []), after ? namesWithDot : anything);
    else if (token === '*') parts.push(restOfName);
    else if (token === '{') {
      open.push({ alternatives: [], before: parts });
      parts = [];
    } else if (token === ',' && group !== undefined) {
      group.alternatives.push(parts);
      parts = [];
    } else if (token === '}' && group !== undefined) {
      const all = [...group.alternatives, parts].map(inOrder);
      parts = group.before;
      parts.push((from, tag) => union(all.map((part) => part(from, tag))));
      open.pop();
    }
    // Fluentd forgets a dot at the very end.
    else if (token !== '.' || match.index < pattern.length - 1) parts.push(char(token));
  }
  return open.length === 0 ? parts : undefined;
}

function inOrder(parts: readonly Part[]): Part {
  return (from, tag) => parts.reduce((positions, part) => part(positions, tag), from);
}

function char(wanted: string): Part {
  return (from, tag) => new Set([...from].filter((at) => tag[at] === wanted).map((at) => at + 1));
}

function upTo(stop: string): Part {
  return (from, tag) => {
    const reached = new Set(from);
    // A Set's iteration also takes what is added to it on the way.
    for (const at of reached) if (at < tag.length && tag[at] !== stop) reached.add(at + 1);
    return reached;
  };
}

/** `*` */
const restOfName = upTo('.');

/** `**` */
const anything = upTo('');

/** The dot of `a.**`, which also takes `a`. */
const endOfName: Part = (from, tag) =>
  new Set([...from].filter((at) => at === tag.length || tag[at] === '.'));

/** `**.`, where `**.a` also takes `a`. */
const namesWithDot: Part = (from, tag) => {
  const first = Math.min(...from);
  const afterDot = [...anything(from, tag)].filter((at) => at > first && tag[at - 1] === '.');
  return new Set([...(from.has(0) ? [0] : []), ...afterDot]);
};

function union(all: readonly Positions[]): Positions {
  return new Set(all.flatMap((positions) => [...positions]));
}
