import { witnessCases } from '../support/witness-cases.ts';

witnessCases('life');
