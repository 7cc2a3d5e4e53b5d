import { testRows } from './row.ts';
import { SET_UPS } from './rows.ts';

testRows('posidle asleep behind Fluentd', SET_UPS);
