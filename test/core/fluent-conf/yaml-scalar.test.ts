import { describe, expect, it } from 'vitest';
import { yamlScalar } from '../../../src/core/fluent-conf/yaml-scalar.ts';

describe('an unquoted YAML scalar', () => {
  it.each([
    ['', 'null'],
    ['~', 'null'],
    ['NULL', 'null'],
    ['yes', 'true'],
    ['oN', 'true'],
    ['No', 'false'],
    ['y', 'y'],
    ['24224', '24224'],
    ['-0', '0'],
    ['1_000', '1000'],
    ['1,000', '1000'],
    ['0644', '420'],
    ['-0x1F', '-31'],
    ['0b11', '3'],
    ['0o10', '0o10'],
    ['08', '08'],
    ['12345678901234567890', '12345678901234567890'],
    ['1:30', '5400'],
    ['1:12:30', '4350'],
    ['1.0', '1.0'],
    ['.5', '0.5'],
    ['1,000.50', '1000.5'],
    ['.', '.'],
    ['1e3', '1e3'],
    ['1.10.0', '1.10.0'],
    ['60s', '60s'],
    ['2024-01-02', '2024-01-02'],
    [':name', 'name'],
    [':"a name"', 'a name'],
    ['127.0.0.1:24444', '127.0.0.1:24444'],
  ])('%j is %s, as in Ruby', (text, shown) => {
    expect(String(yamlScalar(text))).toBe(shown);
  });

  it('is a number to JSON', () => {
    expect(JSON.stringify([yamlScalar('1.50'), yamlScalar('0644')])).toBe('[1.5,420]');
  });
});
