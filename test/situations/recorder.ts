import { askWitnesses } from '../../src/node/witness/ask-witnesses.ts';
import type { Ended } from '../support/deliver.ts';
import type { Site } from '../support/delivery-site.ts';
import { witnessIn } from '../support/real-fluentd.ts';
import { type Moment, pictureOf, type Sample } from './picture.ts';

const EVERY = 100;

/** Asks ten times a second how far the lines have come. */
export class Recorder {
  readonly #site: Site;
  readonly #samples: Sample[] = [];
  readonly #began = Date.now();
  readonly #timer: NodeJS.Timeout;

  constructor(site: Site) {
    this.#site = site;
    this.#timer = setInterval(() => void this.#sample().catch(() => undefined), EVERY);
  }

  async #sample(): Promise<void> {
    const at = Date.now() - this.#began;
    const { witnesses } = await askWitnesses(witnessIn(this.#site.dir), 'look');
    const reports = witnesses.flatMap((one) =>
      one.kind === 'silent' || one.report === undefined ? [] : [one.report],
    );
    const sum = (values: readonly (number | undefined)[]) =>
      values.reduce<number>((all, one) => all + (one ?? 0), 0);
    const counts = {
      written: this.#site.lines.written,
      found: sum(reports.map(({ files, closed }) => files.length + closed.length)),
      read: sum(reports.map(({ lines }) => lines)),
      buffered: sum(reports.flatMap(({ outputs }) => outputs.map(({ receipt }) => receipt.held))),
      arrived: this.#site.delivered(),
    };
    this.#samples.push({ at, counts });
  }

  /** A row for each count, and what posidle did. */
  end({ log }: Ended): readonly string[] {
    clearInterval(this.#timer);
    const moments = log
      .filter(({ msg }) => /→|^told|drained|gone/.test(msg))
      .map(({ time, msg }): Moment => ({ at: time - this.#began, what: msg.split('\n')[0] ?? '' }));
    return pictureOf(this.#samples, moments);
  }
}
