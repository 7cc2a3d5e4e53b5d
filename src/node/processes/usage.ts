/** What a process takes: percent of one core, bytes of memory. For people only: nothing is decided by it. */
export interface Usage {
  readonly cpu: number;
  readonly memory: number;
}

/** undefined: it cannot be told, or the process is gone. */
export async function usageOf(pid: number): Promise<Usage | undefined> {
  // pidusage complains on stderr where there is no getconf, unless told before its first call.
  process.env.PIDUSAGE_SILENT = '1';
  const { default: pidusage } = await import('pidusage');
  try {
    const { cpu, memory } = await pidusage(pid);
    return { cpu, memory };
  } catch {
    // pidusage answers ESRCH for a recycled pid for as long as it is asked, until it is told to forget.
    pidusage.clear();
    return undefined;
  }
}
