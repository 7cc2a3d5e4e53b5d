/** Where in a tag a match may go on: bit n stands for its character n. All ways go at once, so none is tried twice. */
type Positions = number;
type Part = (from: Positions, tag: string) => Positions;

/** Bits are few. */
const LONGEST_TAG = 30;
/** Far more than people write. */
const LONGEST_PATTERN = 1_000;
const MOST_PATTERNS = 1_000;

/** Whether a short tag falls under one of the patterns of a `<match>` (`lib/fluent/match.rb`, `lib/fluent/event_router.rb`). */
export function tagMatches(patterns: string, tag: string): boolean {
  return patterns.split(/\s+/, MOST_PATTERNS).some((pattern) => {
    if (pattern.length > LONGEST_PATTERN || tag.length > LONGEST_TAG) return false;
    const regexp = /^\/(.*)\/$/.exec(pattern)?.[1];
    if (regexp !== undefined) return isTame(regexp) && regexpOf(regexp).test(tag);
    const parts = partsOf(pattern);
    return parts !== undefined && inOrder(parts)(1, tag) >> tag.length === 1;
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

/** undefined: a brace is never closed, which Fluentd takes for other text than is written. */
function partsOf(pattern: string): Part[] | undefined {
  const open: { readonly alternatives: Part[][]; readonly before: Part[] }[] = [];
  let parts: Part[] = [];
  for (const match of pattern.matchAll(/\\(.?)|(\.?)\*\*(\.?)|./gs)) {
    const [token, escaped, before, after] = match;
    const group = open.at(-1);
    if (escaped !== undefined) parts.push(...[...escaped].map(char));
    else if (before !== undefined) parts.push(...(before ? [endOfName] : []), after ? names : anything);
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
      parts.push((from, tag) => all.reduce((found, part) => found | part(from, tag), 0));
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

function where(wanted: string, tag: string): Positions {
  return [...tag].reduce((found, char, at) => (char === wanted ? found | (1 << at) : found), 0);
}

function char(wanted: string): Part {
  return (from, tag) => (from & where(wanted, tag)) << 1;
}

/** `**` */
const anything: Part = (from, tag) => (from | -from) & ((2 << tag.length) - 1);

/** `**.`, where `**.a` also takes `a`. */
const names: Part = (from, tag) => (from & 1) | ((anything(from, tag) & where('.', tag)) << 1);

/** `*`: up to the next dot at most. */
const restOfName: Part = (from, tag) =>
  [...tag].reduce(
    (reached, char, at) => (char === '.' ? reached : reached | ((reached & (1 << at)) << 1)),
    from,
  );

/** The dot of `a.**`, which also takes `a`. */
const endOfName: Part = (from, tag) => from & (where('.', tag) | (1 << tag.length));
