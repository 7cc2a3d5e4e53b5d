import { setFlagsFromString } from 'node:v8';

/** For what runs as long as the Pod: V8 lets its young generation grow to 3 × 16 MiB, and without growth the process stays 30 MB smaller. */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
