/** The directory of the witness in all manifests. */
export const SHARED_DIR = '/posidle';

/** The RUBYOPT that loads the witness. If the directory is missing, Ruby loads nothing (enumerator.rb) and Fluentd starts normally. */
export function rubyOption(dir: string): string {
  return `-I${dir}/ruby -renumerator`;
}
