/** The parts of a manifest, which may be anything. */
export type Fields = Readonly<Record<string, unknown>>;

export function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !(value instanceof String) ? (value as Fields) : {};
}

export function list(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}

export function text(value: unknown): string {
  return typeof value === 'object' && !(value instanceof String) ? '' : String(value ?? '');
}
