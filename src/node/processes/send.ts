/** kill(2): 0 only asks whether that could be done; a negative number means the process group. */
export function send(pid: number, signal: NodeJS.Signals | 0): 'sent' | 'gone' | 'not-permitted' {
  try {
    process.kill(pid, signal);
    return 'sent';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'not-permitted' : 'gone';
  }
}
