import { testRows } from './row.ts';
import { TROUBLES } from './rows.ts';

testRows('posidle asleep behind Fluentd, when something goes wrong', TROUBLES);
