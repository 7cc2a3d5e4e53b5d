/**
 * What posidle asks a witness. Each is a look. `find`: in_tail also turns at once to the files that it does not follow yet. `finish`: main has
 * ended, so in_tail also delivers a last line without its newline, and the record that a multiline source keeps.
 */
export type Question = 'look' | 'find' | 'finish';
