/** What the lifetimes have reached, and how often. */
export class Coverage {
  /** By `kind: what`. */
  readonly counts = new Map<string, number>();

  reached(kind: string, what: string): void {
    this.#add(`${kind}: ${what}`, 1);
  }

  addAll(counts: ReadonlyMap<string, number>): void {
    for (const [what, count] of counts) this.#add(what, count);
  }

  get lines(): readonly string[] {
    return [...this.counts].sort().map(([what, count]) => `${String(count).padStart(9)}  ${what}`);
  }

  has(kind: string, what: string): boolean {
    return this.counts.has(`${kind}: ${what}`);
  }

  #add(what: string, count: number): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }
}
