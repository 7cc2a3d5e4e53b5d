import { situationsOn } from '../situations/suite.ts';

situationsOn('1.18.0');
