import type { Random } from '../simulation/random.ts';
import type { Site } from '../support/delivery-site.ts';
import {
  fileBuffer,
  memoryBuffer,
  type Params,
  type Section,
  tail,
  toHttp,
} from '../support/fluentd-conf.ts';

/** Settings by which in_tail and an output differ in what they lose. */
export function sectionsOf(site: Site, random: Random): readonly Section[] {
  return [
    { name: 'system', params: { root_dir: `${site.dir}/root` } },
    source(site, random),
    destination(site, random),
  ];
}

function source(site: Site, random: Random): Section {
  const byInode = random.chance(0.3);
  const path = byInode ? '*.log*' : random.pick(['*.log', '**/*.log']);
  return tail(site.log(path), site.pos, {
    refresh_interval: random.pick(['0.2s', '0.5s', '1s', '3s']),
    rotate_wait: random.pick(['0s', '1s', '2s', '5s']),
    ...(byInode && { follow_inodes: true }),
    ...some(random, 0.4, { enable_stat_watcher: false }),
    ...some(random, 0.15, { open_on_every_update: true }),
    ...some(random, 0.2, { read_bytes_limit_per_second: random.pick([8_192, 20_000]) }),
    ...some(random, 0.2, { read_lines_limit: random.pick([1, 10]) }),
    ...some(random, 0.1, { skip_refresh_on_startup: true }),
    ...some(random, 0.1, { limit_recently_modified: '1h' }),
  });
}

function destination(site: Site, random: Random): Section {
  const params: Params = {
    ...(random.chance(0.5)
      ? { flush_mode: 'immediate' }
      : { flush_interval: random.pick(['0.5s', '1s', '60s']) }),
    ...some(random, 0.5, { retry_wait: '0.1s', retry_max_interval: '1s' }),
    ...some(random, 0.3, { retry_max_times: random.pick([0, 1, 3]) }),
    ...some(random, 0.5, { overflow_action: random.pick(['block', 'drop_oldest_chunk', 'throw_exception']) }),
    ...some(random, 0.3, { total_limit_size: '20k', chunk_limit_size: '8k' }),
    ...some(random, 0.3, { flush_thread_count: 4 }),
    ...some(random, 0.3, { flush_at_shutdown: false }),
    ...some(random, 0.3, { compress: 'gzip' }),
  };
  return toHttp(site.sink.port, random.chance(0.5) ? memoryBuffer(params) : fileBuffer(site.buffer, params));
}

function some(random: Random, probability: number, params: Params): Params {
  return random.chance(probability) ? params : {};
}
