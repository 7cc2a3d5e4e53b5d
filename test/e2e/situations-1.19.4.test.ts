import { situationsOn } from '../situations/suite.ts';

situationsOn('1.19.4');
