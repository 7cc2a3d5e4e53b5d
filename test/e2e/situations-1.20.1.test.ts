import { situationsOn } from '../situations/suite.ts';

situationsOn('1.20.1');
