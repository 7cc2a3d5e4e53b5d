import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fluentdArguments } from '../../src/node/processes/command-line.ts';
import { skipFor } from '../support/needs.ts';
import { missingFluentd, OLDEST_AND_NEWEST, requireFluentd } from '../support/real-fluentd.ts';
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
for (const version of OLDEST_AND_NEWEST.filter((one) => one !== '1.14.6')) {
  describe(`the command line of Fluentd ${version}`, () => {
    skipFor(missingFluentd(version));
    it('is read as Fluentd reads it', () => {
      const fluentd = requireFluentd(version);
      const { env } = fluentd;
      const gem = join(String(env.GEM_HOME), 'gems', `fluentd-${version}`);
      const commands = fc.sample(fc.array(word, { maxLength: 5 }), { numRuns: 4_000, seed: 7 });
      const file = join(gem, 'lib/fluent/command/fluentd.rb');
      const theirs = askRuby(PARSE, { file, commands }, env) as ([string[], Parsed] | null)[];
      let compared = 0;
      for (const [index, command] of commands.entries()) {
        const [rest, parsed] = theirs[index] ?? [['refused'], {}];
        if (rest.length > 0) continue;
        compared += 1;
        const { workers, ...ours } = fluentdArguments(['fluentd', ...command]);
        const needed = {
          config: ours.config,
          'config-file-type': ours['config-file-type'],
          'inline-config': ours['inline-config'],
          // Ruby's to_i.
          workers: workers === undefined ? undefined : Number.parseInt(workers, 10) || 0,
          daemon: ours.daemon,
        };
        expect.soft(needed, command.join(' ')).toEqual({
          config: parsed.config_path,
          'config-file-type': parsed.config_file_type,
          'inline-config': parsed.inline_config,
          workers: parsed.workers,
          daemon: parsed.daemonize,
        });
      }
      expect(compared).toBeGreaterThan(500);
    });
  });
}
