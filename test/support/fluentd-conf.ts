export type Params = Record<string, string | number | boolean>;

export interface Section {
  name: string;
  arg?: string;
  params?: Params;
  sections?: readonly Section[];
}

export function renderConf(sections: readonly Section[]): string {
  return `${sections.map((section) => render(section, '')).join('\n')}\n`;
}

function render({ name, arg, params = {}, sections = [] }: Section, indent: string): string {
  const inner = `${indent}  `;
  return [
    `${indent}<${arg === undefined ? name : `${name} ${arg}`}>`,
    ...Object.entries(params).map(([key, value]) => `${inner}${key} ${value}`),
    ...sections.map((section) => render(section, inner)),
    `${indent}</${name}>`,
  ].join('\n');
}

/** An in_tail that takes lines as they are (parser none), tagged `app`. */
export function tail(
  path: string,
  posFile: string | undefined,
  params: Params = {},
  sections: Section[] = [],
): Section {
  const parse: Section = { name: 'parse', params: { '@type': 'none' } };
  return {
    name: 'source',
    params: {
      ...{ '@type': 'tail', path, tag: 'app', read_from_head: true },
      ...(posFile !== undefined && { pos_file: posFile }),
      ...params,
    },
    sections: [parse, ...sections],
  };
}

export function output(type: string, params: Params = {}, sections: Section[] = []): Section {
  // Not `**`: that would catch Fluentd's own events too, and its buffer would never be empty.
  return { name: 'match', arg: 'app', params: { '@type': type, ...params }, sections };
}

export function filter(type: string, params: Params = {}, sections: Section[] = []): Section {
  return { name: 'filter', arg: 'app', params: { '@type': type, ...params }, sections };
}

/** Unbuffered: in_tail's position moves on when the lines stand on stdout. */
export const toStdout = (): Section => output('stdout');

export function toHttp(port: number, buffer: Section): Section {
  const params = { endpoint: `http://127.0.0.1:${port}/`, retryable_response_codes: '503', open_timeout: 5 };
  return output('http', params, [buffer]);
}

export const toFile = (path: string, buffer: Section): Section => output('file', { path }, [buffer]);

export const fileBuffer = (path: string, params: Params = {}): Section => ({
  name: 'buffer',
  params: { '@type': 'file', path, ...params },
});

export const memoryBuffer = (params: Params = {}): Section => ({
  name: 'buffer',
  params: { '@type': 'memory', ...params },
});
