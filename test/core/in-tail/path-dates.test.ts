import { describe, expect, it } from 'vitest';
import { expandDates, otherDirectives } from '../../../src/core/in-tail/path-dates.ts';

const INSTANT = Date.UTC(2026, 0, 1, 20, 4, 5, 123);

describe('dates in a path', () => {
  it.each([
    ['/logs/app-%Y%m%d.log', 'UTC', '/logs/app-20260101.log'],
    ['/logs/%q %E.log 5%', 'UTC', '/logs/%q %E.log 5%'],
    ['/logs/*.log', 'UTC', '/logs/*.log'],
  ])('are filled in: %s in %s', (pattern, zone, path) => {
    expect(expandDates(pattern, INSTANT, zone)).toBe(path);
  });

  it.each([
    [0, '+00:00', '20:04'],
    [330, '+05:30', '01:34'],
    [-210, '-03:30', '16:34'],
    [-30, '-00:30', '19:34'],
  ])('are those of a zone %i minutes east', (minutesEast, zone, time) => {
    for (const east of [minutesEast, zone]) expect(expandDates('%H:%M', INSTANT, east)).toBe(time);
  });

  it.each([
    ['/logs/%Y/%-m/%d-%H%M%S.%j.%a.%b.%B.%F.%T.%y.log 100%% 5% %', []],
    ['/logs/%Q-%I%p', ['%Q', '%I', '%p']],
    ['/logs/%02d-%^a-%-a-%::z', ['%02d', '%^a', '%-a', '%::z']],
    [`/logs/%${'0'.repeat(100_000)}`, []],
  ])('that are not filled in are named: %s', (pattern, directives) => {
    expect(otherDirectives(pattern)).toEqual(directives);
  });
});
