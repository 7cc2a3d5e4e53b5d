import type { Word } from '../../src/core/drain/outcome.ts';
import type { Params, Section } from '../support/fluentd-conf.ts';
import type { SinkPhase } from '../support/http-sink.ts';

/** The way of a line. A situation stands where the line is in danger. */
export type Stage = 'found' | 'read' | 'parsed' | 'kept' | 'buffered' | 'sent' | 'stopped';

/** What can be waited for. A player that cannot see it waits for some seconds. */
export type Condition =
  | 'all is read'
  | 'all is seen'
  | 'a file is closed'
  | 'a file is unfound or read'
  | 'lines are refused'
  | 'a send was tried'
  | 'all has arrived'
  | 'another worker runs'
  | { readonly fluentdSays: string };

/** What a player that cannot see a condition waits for instead, in seconds: in_tail's refresh_interval here, and more. */
export const BLIND_WAIT = 3;

/** What main, the destination or somebody else does. A file is a name below the directory of the logs. */
export type Deed =
  /**
   * So many lines of 100 bytes at the end of a file, which is made if it is not there: `id=0000000007 xxx…`. A line has arrived when its id
   * has, in whatever it is. So one in JSON is `{"a":"` by 'write text', 'write unended', and `"}\n` by 'write text'.
   */
  | readonly ['write', file: string, lines: number]
  /** A line without its newline. */
  | readonly ['write unended', file: string]
  /** This text, which is no line that is counted. */
  | readonly ['write text', file: string, text: string]
  /** The same file from its beginning, with as many other lines. */
  | readonly ['write anew', file: string, lines: number]
  /** The file as it is now is held open, and written to later, wherever it is then. */
  | readonly ['open', file: string]
  | readonly ['write on', file: string, lines: number]
  | readonly ['rename' | 'copy', file: string, to: string]
  /** `compress`: by gzip, into FILE.gz. */
  | readonly ['truncate' | 'remove' | 'compress' | 'set an old date', file: string]
  | readonly ['link' | 'link hard', to: string, file: string]
  | readonly ['destination', is: SinkPhase]
  | readonly ['each answer takes', millis: number]
  | readonly ['signal', to: 'worker' | 'supervisor', name: NodeJS.Signals]
  /** Fluentd reads its configuration again, which begins each output anew. */
  | readonly ['reload']
  | readonly ['until', what: Condition]
  | readonly ['pause', seconds: number]
  /** What stands before it happens before Fluentd starts. Without it, Fluentd is there from the beginning. */
  | readonly ['Fluentd starts']
  /** What follows happens while posidle drains. Without it, main ends with the last deed. */
  | readonly ['main ends'];

/** Fluentd's configuration. In a value, `{dir}` is the directory of all, `{port}` the port of the destination, and `{rpc}` a free one. */
export interface Setup {
  /**
   * Parameters of the in_tail, which else reads `{dir}/logs/*.log` with the pos file `{dir}/app.pos` and the tag `app`, and looks for new
   * files each second. Another one is `tail(…)` of fluentd-conf.ts, in `before` or `between`.
   */
  readonly tail?: Params;
  /** Of <system>. */
  readonly system?: Params;
  /** Its <parse>, and sections beside it. */
  readonly parse?: Params;
  readonly inTail?: readonly Section[];
  /** Before the source, between it and the output, and after that. */
  readonly before?: readonly Section[];
  readonly between?: readonly Section[];
  readonly after?: readonly Section[];
  /** By default out_http to the destination. */
  readonly output?: Section;
  /** Of out_http. By default in memory, and flushed each second. */
  readonly buffer?: Params;
}

export type Road = 'run' | 'watch' | 'drain';

export interface Situation {
  /** Completes "npm run situation -- …". */
  readonly name: string;
  /** A sentence of what happens, from main's or Fluentd's side. */
  readonly what: string;
  readonly setup?: Setup;
  /** Nobody looks into Fluentd. There is no road `drain` then. */
  readonly witness?: false;
  readonly deeds: readonly Deed[];
  /** Without it: drained. `drained or told`: the moment decides whether lines are lost, which is then told. */
  readonly outcome?: Word | 'drained or told';
  /** In what is left or doubted. */
  readonly told?: string;
  /** Lines that are lost with posidle; `some`: at least one, and how many depends on the moment. */
  readonly lost?: number | 'some';
  /** Seconds from main's end to posidle's: what is waited for, and no more. */
  readonly within?: readonly [least: number, most: number];
  /** posidle's options in `run` and `watch`. */
  readonly args?: readonly string[];
  /** Without it: the newest, and in turn one of the older versions. `newest` where they do not differ. */
  readonly on?: 'newest' | 'oldest and newest' | 'not the oldest';
  /** Where it matters; without it: each. */
  readonly roads?: readonly Road[];
  /** The commit since which a test holds the outcome. */
  readonly since: string;
  /** What posidle said before, where it was wrong. */
  readonly once?: string;
}

/** A situation, and the stage that it stands at. */
export interface Entry extends Situation {
  readonly stage: Stage;
}
