import { situationsOn } from '../situations/suite.ts';

situationsOn('1.14.6');
