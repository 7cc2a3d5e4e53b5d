// The costs of the witness for a Fluentd that starts as in production, without compiled files: npm run bench:witness -- --help
import { spawnSync } from 'node:child_process';
import { fluentdVersions, TESTED_VERSIONS } from '../support/real-fluentd.ts';

for (const { version, command, env } of fluentdVersions()) {
  if (!TESTED_VERSIONS.includes(version)) continue;
  const { status } = spawnSync('ruby', ['test/bench/witness.rb', ...process.argv.slice(2)], {
    env: {
      ...process.env,
      FLUENTD: command,
      FLUENTD_GEMS: env.GEM_HOME,
      FLUENTD_VERSION: version,
      COMPILE_ANEW: 'yes',
    },
    stdio: 'inherit',
  });
  process.exitCode ||= status ?? 1;
}
