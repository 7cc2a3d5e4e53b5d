export { parsePosFile } from './core/pos-file.ts';
