import { expect, test } from 'vitest';
import { openTriggers } from '../../src/tasks/arm-triggers.ts';
import type { WatchOptions } from '../../src/tasks/watch-options.ts';
import { policy } from '../support/builders.ts';
import { tempDir } from '../support/temp-dir.ts';

const at = tempDir();

test.each([
  ['done-file', 'doneFile'],
  ['heartbeat-file', 'heartbeatFile'],
])(
  'the directory of --%s that is not there is told; a file that only has still to come is not',
  (flag, option) => {
    expect(warningsOf({ [option]: at('done') })).toEqual([]);
    expect(warningsOf({ [option]: at('no/done') })).toEqual([
      `--${flag}: the directory ${at('no')} doesn't exist yet. Is its volume mounted here?`,
    ]);
  },
);

function warningsOf(options: WatchOptions): readonly string[] {
  const warnings: string[] = [];
  openTriggers(options, policy(), (text) => warnings.push(text));
  return warnings;
}
