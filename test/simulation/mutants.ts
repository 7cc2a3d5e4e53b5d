// Planted bugs: npm run mutants [-- SEEDS [FILE]]. Each is one change to the core; the simulation should find it.
import { killedBy, MUTANTS } from './planted-bugs.ts';

const [seeds = '1500', file = ''] = process.argv.slice(2);
const mutants = MUTANTS.filter(([name]) => name.includes(file));
let killed = 0;
for (const mutant of mutants) {
  const why = await killedBy(mutant, seeds);
  killed += why === undefined ? 0 : 1;
  console.log(
    `${why === undefined ? 'ALIVE ' : 'killed'} ${mutant.join(' | ').replaceAll('\n', ' ')}${why === undefined ? '' : ` — ${why}`}`,
  );
}
console.log(`${killed} of ${mutants.length} planted bugs killed by ${seeds} lifetimes each`);
