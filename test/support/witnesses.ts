import { parseReport, type Report } from '../../src/core/witness/answer.ts';
import type { Witness } from '../../src/core/witness/reports.ts';
import { answer, sight } from './said.ts';

const WORKER = '1-12.sock';

/** A witness whose worker has read its one file and holds nothing. */
export function alive(changed: object = {}, worker = WORKER): Witness {
  const report = parseReport(JSON.stringify(answer({ files: [sight()], ...changed }))) as Report;
  return { worker, kind: 'alive', report };
}

/** The last report of a worker that ended well. */
export function gone(changed: object = {}, worker = WORKER): Witness {
  const word = { v: 1, pid: 12, final: true, ready: true, closed: [sight()], ...changed };
  return { worker, kind: 'gone', report: parseReport(JSON.stringify(word)) as Report };
}

export const SILENT: Witness = {
  worker: WORKER,
  kind: 'silent',
  why: 'its witness did not answer within 2 s',
  isBusy: true,
};

export const NOT_BELIEVED: Witness = {
  worker: WORKER,
  kind: 'silent',
  why: 'posidle does not believe its witness',
  isBusy: false,
};
