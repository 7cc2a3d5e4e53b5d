import type { Millis } from '../text/units.ts';

/** The kinds of requests from outside to begin the drain, each with its text. */
export const DRAIN_REQUESTS = {
  SIGTERM: 'posidle got SIGTERM',
  SIGINT: 'posidle got SIGINT',
  SIGQUIT: 'posidle got SIGQUIT',
  'done-file': 'the done file is there',
  heartbeat: 'main no longer refreshes its heartbeat file',
  http: 'POST /quitquitquit came',
  'main-ended': 'main has ended',
  drain: 'posidle drain was called, and main may still run',
} as const;

/** A request from outside to begin the drain. Unlike quiet it is certain. Only main takes one back, when it refreshes its file again. */
export interface DrainRequest {
  readonly by: keyof typeof DRAIN_REQUESTS;
  readonly at: Millis;
}
