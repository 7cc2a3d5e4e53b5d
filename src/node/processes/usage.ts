/** Percent of one core, and bytes of memory. Only for display. */
export interface Usage {
  readonly cpu: number;
  readonly memory: number;
}

/** undefined if it is unknown or the process is gone. */
export async function usageOf(pid: number): Promise<Usage | undefined> {
  // Without getconf pidusage complains on stderr, unless this is set before its first call.
  process.env.PIDUSAGE_SILENT = '1';
  const { default: pidusage } = await import('pidusage');
  try {
    const { cpu, memory } = await pidusage(pid);
    return { cpu, memory };
  } catch {
    // pidusage keeps answering ESRCH for a reused pid until its history is cleared.
    pidusage.clear();
    return undefined;
  }
}
