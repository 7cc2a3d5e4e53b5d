import { witnessCases } from '../support/witness-cases.ts';

witnessCases('receipts');
