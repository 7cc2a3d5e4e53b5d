import type { Usage } from '../../core/metrics/metrics.ts';

/** undefined if it is unknown or the process is gone. */
export async function usageOf(pid: number): Promise<Usage | undefined> {
  // Without getconf pidusage complains on stderr, unless this is set before its first call.
  process.env.PIDUSAGE_SILENT = '1';
  const { default: pidusage } = await import('pidusage');
  try {
    const { cpu, ctime: cpuTime, memory } = await pidusage(pid);
    return { cpu, cpuTime, memory };
  } catch {
    // pidusage keeps answering ESRCH for a reused pid until its history is cleared.
    pidusage.clear();
    return undefined;
  }
}
