/** What the lifetimes have reached, and how often. */
export class Coverage {
  readonly #counts = new Map<string, number>();

  reached(kind: string, what: string): void {
    const key = `${kind}: ${what}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  get lines(): readonly string[] {
    return [...this.#counts].sort().map(([what, count]) => `${String(count).padStart(9)}  ${what}`);
  }

  has(kind: string, what: string): boolean {
    return this.#counts.has(`${kind}: ${what}`);
  }
}
