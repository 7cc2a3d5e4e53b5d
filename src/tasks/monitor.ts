import type { ConfFacts } from '../core/fluent-conf/facts.ts';
import type { MonitorAgent } from '../core/fluent-conf/fluent-conf.ts';
import { buffersWithoutAgent } from '../core/fluentd/buffer-contents.ts';
import { fluentdArguments, withInlineConfig } from '../core/fluentd/command-line.ts';
import { freePorts } from '../node/network/network.ts';

const LOOPBACK = '127.0.0.1';

/** A command with a monitor_agent added to its Fluentd, and where the agent of each worker will answer. */
export interface Monitored {
  readonly command: readonly string[];
  readonly agents: readonly MonitorAgent[];
}

/**
 * Adds a monitor_agent by `-i`, where it shows buffers that posidle would not see; undefined where it would not, or cannot be added:
 * the command hands no arguments to a Fluentd, or the configuration is none in the v1 syntax, which alone takes an inline part.
 */
export async function withMonitor(
  command: readonly string[],
  conf: ConfFacts | undefined,
  confPath: string | undefined,
): Promise<Monitored | undefined> {
  const { useV0, configFileType, withoutSource } = fluentdArguments(command);
  const isYaml = configFileType === 'yaml' || /\.ya?ml$/.test(confPath ?? '');
  const isBlind = conf !== undefined && (!conf.complete || buffersWithoutAgent(conf).length > 0);
  if (!isBlind || useV0 || isYaml || withoutSource) return undefined;
  const ports = await freePorts(conf.workers, LOOPBACK);
  const [port] = ports;
  // Each worker adds its number to the port (in_monitor_agent.rb).
  const source = [
    '<source>',
    '@type monitor_agent',
    `bind ${LOOPBACK}`,
    `port ${port}`,
    'include_retry true',
    '</source>',
  ];
  const monitored = port === undefined ? undefined : withInlineConfig(command, source.join('\n'));
  if (monitored === undefined) return undefined;
  const agents = ports.map((at, worker) => ({ bind: LOOPBACK, port: at, worker, isAdded: true }));
  return { command: monitored, agents };
}
