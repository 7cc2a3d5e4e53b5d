import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fluentdArguments } from '../../src/node/processes/command-line.ts';
import { NEWEST, requireFluentd } from '../support/real-fluentd.ts';
import { askRuby } from '../support/ruby-oracle.ts';

/** Fluentd's own definition of its options, without what it then does. */
const PARSE = `
require 'fluent/version'
module Fluent
  DEFAULT_CONFIG_PATH = '/c'
  def self.windows? = false
  module Supervisor
    def self.default_options = { plugin_dirs: [], log_level: 2 }
  end
  class Log
    LEVEL_TRACE = 0
    LEVEL_ERROR = 4
    LOG_ROTATE_AGE = []
  end
end
SOURCE = File.read(INPUT['file'])[/^default_opts.*?(?=^singleton_class)/m].sub(/^op = .*/, '')
eval <<~RUBY
  def parse(argv)
    op = OptionParser.new
    op.version = '1'
    #{SOURCE}
    [op.parse(argv), cmd_opts]
  rescue StandardError
    nil
  end
RUBY
require 'optparse'
puts JSON.dump(INPUT['commands'].map { |argv| parse(argv) })`;

interface Parsed {
  readonly config_path?: string;
  readonly config_file_type?: string;
  readonly inline_config?: string;
  readonly workers?: number;
  readonly daemonize?: string;
}

const word = fc.constantFrom(
  ...'-c --config --config= --config=f -cf -vqc -qq -v -i -ix --inline-config=y --workers --workers=2 3'.split(
    ' ',
  ),
  ...'--without-source --with-source-only -d -dp --daemon=q -vdx -p -Ilib -r x yaml --config-file-type'.split(
    ' ',
  ),
  ...'--config-file-type=yml --use-v0-config --no-supervisor --log -g -G - -o --dry-run'.split(' '),
);

// Earlier versions lack some of the options.
test(`a command line is read as Fluentd ${NEWEST} reads it`, (context) => {
  const { env } = requireFluentd(NEWEST, context);
  const file = join(String(env.GEM_HOME), 'gems', `fluentd-${NEWEST}`, 'lib/fluent/command/fluentd.rb');
  const commands = fc.sample(fc.array(word, { maxLength: 5 }), { numRuns: 2_000, seed: 7 });
  const answers = askRuby(PARSE, { file, commands }, env) as ([string[], Parsed] | null)[];
  const accepted = commands.flatMap((command, index) => {
    const [rest = ['refused'], theirs = {}] = answers[index] ?? [];
    return rest.length > 0 ? [] : [{ command, theirs }];
  });
  const ours = accepted.map(({ command }) => {
    const { config, daemon, workers, ...given } = fluentdArguments(['fluentd', ...command]);
    const [type, inline] = [given['config-file-type'], given['inline-config']];
    // Ruby's to_i.
    return [command, config, type, inline, workers && (Number.parseInt(workers, 10) || 0), daemon];
  });
  const wanted = accepted.map(({ command, theirs }) => [
    ...[command, theirs.config_path, theirs.config_file_type, theirs.inline_config],
    ...[theirs.workers, theirs.daemonize],
  ]);
  expect(ours).toEqual(wanted);
  expect(ours.length).toBeGreaterThan(500);
});
