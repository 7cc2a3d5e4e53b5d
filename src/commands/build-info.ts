import { renderMetrics } from '../core/metrics/metrics.ts';

/** docker/bundle.mjs defines it. */
declare const BUILD: { readonly version: string; readonly bugs?: string };

export const VERSION = typeof BUILD === 'undefined' ? 'unbundled' : BUILD.version;
export const BUGS = typeof BUILD === 'undefined' ? undefined : BUILD.bugs;

export function buildInfo(): string {
  return renderMetrics({ posidle_build_info: [[{ version: VERSION }, 1]] });
}
