import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the heap small in processes that live as long as the Pod. By default V8 lets the young generation grow to 3 × 16 MiB, and the
 * old one to three times its live data: 33,000 pos file entries (60 MB alive) took over 200 MB.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--optimize-for-size');
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=20');
}
