import { nonEmpty } from './coercions.ts';
import { HOW, named, parsed } from './option-parts.ts';

/** What `posidle inject` takes. */
export const injectOptions = named({
  image: parsed(
    'REF',
    'the image posidle, as the nodes can pull it; by default posidle with the version of this command',
    HOW,
    nonEmpty,
  ),
} as const);
