import { describe, expect, it } from 'vitest';
import { expandDates } from '../../../src/core/in-tail/path-dates.ts';

const INSTANT = Date.UTC(2026, 0, 1, 20, 4, 5, 123);

describe('dates in a path', () => {
  it.each([
    ['/logs/app-%Y%m%d.log', 'UTC', '/logs/app-20260101.log'],
    ['/logs/app-%Y%m%d.log', 'Asia/Tokyo', '/logs/app-20260102.log'],
    ['/logs/app-%Y%m%d-%H.log', '+09:00', '/logs/app-20260102-05.log'],
    ['/logs/%H%M', '-0330', '/logs/1634'],
    ['/logs/%-m.%e.%j.%L.%y', '+00', '/logs/1. 1.001.123.26'],
    ['/logs/100%%', 'UTC', '/logs/100%'],
    ['/logs/%q %E.log', 'UTC', '/logs/%q %E.log'],
    ['/logs/*.log', 'UTC', '/logs/*.log'],
    ['/%H', 'No/Such_Zone', '/20'],
  ])('are filled in: %s in %s', (pattern, zone, path) => {
    expect(expandDates(pattern, INSTANT, zone)).toBe(path);
  });
});
