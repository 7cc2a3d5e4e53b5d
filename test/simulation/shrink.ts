import { play } from './lifetime.ts';
import { type Deed, PLAIN, type Plan, type Settings } from './plan.ts';

/** The least plan that breaks the same promise: deeds are left out, settings made plain, as long as it does. */
export async function shrink(plan: Plan, broken: string): Promise<Plan> {
  for (const smaller of smallerPlans(plan)) if (await breaks(smaller, broken)) return shrink(smaller, broken);
  return plan;
}

export async function breaks(plan: Plan, broken: string): Promise<boolean> {
  const played = await play(plan);
  return played.broken !== undefined && kindOf(played.broken) === kindOf(broken);
}

/** A violation without its numbers. */
function kindOf(broken: string): string {
  return broken.replace(/\d+/g, 'N').slice(0, 60);
}

function* smallerPlans(plan: Plan): Generator<Plan> {
  const triggers = plan.deeds.filter((deed) => deed.do === 'trigger');
  for (const deed of plan.deeds)
    if (triggers.length > 1 || deed !== triggers[0])
      yield { ...plan, deeds: plan.deeds.filter((other) => other !== deed) };
  for (const name of Object.keys(PLAIN) as (keyof Settings)[])
    if (plan.settings[name] !== PLAIN[name])
      yield { ...plan, settings: { ...plan.settings, [name]: PLAIN[name] } };
  const instead = (deed: Deed, plain: Deed) => ({
    ...plan,
    deeds: plan.deeds.map((other) => (other === deed ? plain : other)),
  });
  for (const deed of plan.deeds) {
    if (deed.do === 'write' && deed.lines > 1) yield instead(deed, { ...deed, lines: 1 });
    if (deed.do === 'trigger' && deed.by !== 'done-file') yield instead(deed, { ...deed, by: 'done-file' });
  }
}

/** The unusual parts of a plan, in one line. */
export function describePlan({ settings, deeds }: Plan): string {
  const special = Object.entries(settings).filter(([name, value]) => PLAIN[name as keyof Settings] !== value);
  const choices = special.map(([name, value]) => `${name} ${value}`);
  return `${deeds.length} deeds, ${choices.length === 0 ? 'nothing special' : choices.join(', ')}`;
}
