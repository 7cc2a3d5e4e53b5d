/** Where manifests mount the witness. */
export const SHARED_DIR = '/posidle';

/** What makes a Ruby load the witness. Where the directory is missing, Ruby loads nothing (enumerator.rb), and Fluentd starts as ever. */
export function rubyOption(dir: string): string {
  return `-I${dir}/ruby -renumerator`;
}
