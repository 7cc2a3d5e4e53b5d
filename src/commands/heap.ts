import { setFlagsFromString } from 'node:v8';

// V8 lets its young generation grow to 3 × 16 MiB, and a sidecar pays for that: without growth the process stays 30 MB smaller.
setFlagsFromString('--semi-space-growth-factor=1');
