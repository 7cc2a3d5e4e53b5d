import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { requireFluentd } from '../support/real-fluentd.ts';

/** An `@include` stands among the sections, with its path as the argument. */
export interface Tree {
  readonly name: string;
  readonly arg: string;
  readonly params: Readonly<Record<string, string | null>>;
  readonly sections: readonly Tree[];
}

/** Replaces `#{ruby}`, which is not evaluated. */
export const markOf = (ruby: string): string => `RUBY${Buffer.from(ruby).toString('hex')}`;

/** Fluentd's reader hangs where a comment behind a JSON value ends with the file (`scan_json` in lib/fluent/config/literal_parser.rb). */
const PROGRAM = `
require 'json'
require 'socket'
require 'timeout'
require 'fluent/log'
require 'fluent/config'
require 'fluent/config/v1_parser'
class Fluent::Config::LiteralParser
  def eval_embedded_code(code)
    'RUBY' + code[3..-3].unpack1('H*')
  end
end
class Fluent::Config::V1Parser
  def eval_include(attrs, elems, uri)
    URI.parse(uri.tr(' ', '+'))
    elems << Fluent::Config::Element.new('@include', uri, {}, [])
  end
end
def tree(e)
  params = e.map { |k, v| [k.to_s, v.nil? || v == :default ? nil : v.to_s] }.to_h
  { name: e.name.to_s, arg: e.arg.to_s, params: params, sections: e.elements.map { |s| tree(s) } }
end
def answer(text)
  data = text.unpack1('m').force_encoding('UTF-8')
  JSON.dump(Timeout.timeout(2) { tree(Fluent::Config::V1Parser.parse(data, 'f', '/', Kernel.binding)) })
rescue StandardError, SystemStackError
  'null'
end
STDOUT.sync = true
STDIN.each_line { |line| puts answer(line) }`;

/** Fluentd's own reader of fluent.conf, in one process for all. */
export class FluentdReader {
  readonly #process: ChildProcess;
  readonly #answers: Interface;
  readonly #ended: Promise<never>;

  constructor(version: string) {
    const { ruby, env } = requireFluentd(version);
    this.#process = spawn(ruby, ['-W0', '-Eutf-8:utf-8', '-e', PROGRAM], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#answers = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream });
    this.#ended = once(this.#process, 'exit').then(([code]) => {
      throw new Error(`Fluentd's reader ended with ${code}`);
    });
    this.#ended.catch(() => undefined);
  }

  /** null: Fluentd refuses it. */
  async read(text: Buffer): Promise<Tree | null> {
    this.#process.stdin?.write(`${text.toString('base64')}\n`);
    const [line] = await Promise.race([once(this.#answers, 'line'), this.#ended]);
    return JSON.parse(line);
  }

  end(): void {
    this.#process.stdin?.end();
  }
}
