import { readFileSync } from 'node:fs';

interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** `faultsIn` lists the places where a value breaks the schema. It knows only the JSON Schema keywords that ours use. */
export function schemaIn(file: string) {
  const whole = JSON.parse(readFileSync(file, 'utf8')) as Schema;

  function faultsIn(value: unknown, given: Schema = whole, at = ''): readonly string[] {
    const schema =
      given.$ref === undefined ? given : (whole.$defs?.[given.$ref.split('/').at(-1) ?? ''] ?? {});
    const types = [schema.type ?? []].flat();
    const isWrong =
      (schema.const !== undefined && value !== schema.const) ||
      (schema.enum !== undefined && !schema.enum.includes(value)) ||
      (types.length > 0 && !types.some((type) => typesOf(value).includes(type)));
    if (isWrong) return [`${at}: ${JSON.stringify(value)}`];
    if (Array.isArray(value)) return value.flatMap((item) => faultsIn(item, schema.items ?? {}, `${at}[]`));
    if (typeof value !== 'object' || value === null) return [];
    const placeOf = (name: string) => (at === '' ? name : `${at}.${name}`);
    const missing = (schema.required ?? []).filter((name) => !(name in value));
    const fields = Object.entries(value).flatMap(([name, field]) => {
      const known = schema.properties?.[name] ?? schema.additionalProperties ?? {};
      return known === false ? [`${placeOf(name)}: unknown`] : faultsIn(field, known, placeOf(name));
    });
    return [...missing.map((name) => `${placeOf(name)}: missing`), ...fields];
  }

  return { schema: whole, faultsIn };
}

function typesOf(value: unknown): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}
