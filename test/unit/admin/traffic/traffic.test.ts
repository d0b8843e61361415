/** The graphs of the counts: steps on the site's clocks, percentiles of a complete span, and the span before. */
import { describe, expect, test } from 'vitest';

import { toTraffic } from '../../../../edge/admin/traffic/charts.ts';
import { latencyText, percentile } from '../../../../edge/admin/traffic/latency.ts';
import { linksOf } from '../../../../edge/admin/traffic/links.ts';
import { comparedOf, endOf, stepsOf } from '../../../../edge/admin/traffic/span.ts';
import type { Config } from '../../../../edge/config.ts';
import { LATENCY_BOUNDS_MS, type UsageRow } from '../../../../edge/store/usage.ts';

const histogram = (...counts: number[]) => [
  ...counts,
  ...Array<number>(LATENCY_BOUNDS_MS.length + 1 - counts.length).fill(0),
];
const literal = (...counts: number[]) => `{${histogram(...counts).join(',')}}`;
const OPEN = [...Array<number>(LATENCY_BOUNDS_MS.length).fill(0), 3];

describe('the duration of answers', () => {
  test.each([
    [histogram(), 0.5, null, 'none'],
    [histogram(1), 0.5, 2, 'up to 2 ms'],
    [histogram(9, 1), 0.5, 2, 'up to 2 ms'],
    [histogram(9, 0, 0, 0, 1), 0.95, 50, 'up to 50 ms'],
    [histogram(0, 0, 0, 0, 0, 0, 0, 0, 1), 0.95, 1000, 'up to 1 s'],
    // The upper limit is unknown: a bound of the last bucket would be false.
    [OPEN, 0.5, 5001, 'over 5 s'],
  ])('the percentile of %j at %d is %s', (counts, share, expected, words) => {
    expect(percentile(counts, share)).toBe(expected);
    expect(latencyText(expected)).toBe(words);
  });
});

describe('steps', () => {
  const at = (...time: [number, number, number, number, number]) => Date.UTC(...time) / 1000;
  const now = Date.UTC(2026, 10, 21, 12, 7);

  test('are quarters of an hour for an hour and a day', () => {
    expect(stepsOf('1h', now, 'UTC')).toEqual([11.25, 11.5, 11.75, 12].map((hour) => at(2026, 10, 21, 0, hour * 60)));
    const day = stepsOf('24h', now, 'Asia/Kolkata');
    expect([day.length, day.at(-1)]).toEqual([96, at(2026, 10, 21, 12, 0)]);
    expect(endOf(now)).toBe(at(2026, 10, 21, 12, 15));
  });

  test('are hours of the site’s clocks for a week', () => {
    const week = stepsOf('7d', now, 'Asia/Kolkata');
    expect([week.length, week.at(-1)]).toEqual([168, at(2026, 10, 21, 11, 30)]);
  });

  test('are days in the site’s time zone for a month, with 25 hours at the end of summer time', () => {
    const month = stepsOf('30d', Date.UTC(2026, 9, 31, 23, 30), 'Europe/Berlin');
    expect(month).toHaveLength(30);
    expect(month.at(-1)).toBe(at(2026, 9, 31, 23, 0));
    const hours = month.slice(1).map((begin, i) => (begin - (month[i] ?? 0)) / 3600);
    expect(hours.filter((length) => length !== 24)).toEqual([25]);
  });

  test('are compared in whole quarters of an hour', () => {
    expect(comparedOf('1h', now)).toEqual({
      steps: [at(2026, 10, 21, 10, 0), at(2026, 10, 21, 11, 0)],
      end: at(2026, 10, 21, 12, 0),
    });
  });
});

describe('traffic', () => {
  const asked = { span: '1h', times: [0, 900, 1800, 2700], end: 3600 } as const;
  const row = (step: number, of: Partial<UsageRow>): UsageRow => ({
    step,
    surface: 'fhir',
    outcome: 'ok',
    requests: 0,
    latency: literal(),
    ...of,
  });

  test('has a value for every step, even without requests', () => {
    const { charts } = toTraffic(asked, [row(2, { requests: 4, latency: literal(0, 4) })], []);
    const [answered, refused, slow] = charts;
    expect(answered?.series.map(({ label }) => label)).toEqual(['Tokens', 'FHIR', 'HL7 over HTTP', 'HL7 over MLLP']);
    expect(answered?.series[1]?.values).toEqual([0, 0, 4, 0]);
    expect(refused?.series.every(({ values }) => values.every((value) => value === 0))).toBe(true);
    expect(slow?.series[0]?.values).toEqual([null, null, 5, null]);
  });

  test('has the percentiles of the span, and not of its worst step', () => {
    const { charts, figures } = toTraffic(
      asked,
      [
        row(0, { requests: 99, latency: literal(99) }),
        row(3, { surface: 'hl7', outcome: 'refused', requests: 1, latency: literal(0, 0, 0, 0, 0, 0, 0, 1) }),
      ],
      [],
    );
    expect(charts[2]?.series[1]?.values).toEqual([2, null, null, 500]);
    expect(figures.at(-1)).toMatchObject({ surface: null, answered: 99, refused: 1, failed: 0, median: 2, p95: 2 });
    expect(figures.find(({ surface }) => surface === 'hl7')).toMatchObject({ refused: 1, p95: 500 });
    expect(figures.find(({ surface }) => surface === 'mllp')).toMatchObject({ answered: 0, p95: null });
  });

  test('adds up the histograms of all steps before it takes a percentile', () => {
    const quick = [0, 1, 2].map((step) => row(step, { requests: 20, latency: literal(0, 20) }));
    const slow = row(3, { requests: 3, latency: literal(0, 0, 0, 0, 0, 0, 0, 3) });
    expect(toTraffic(asked, [...quick, slow], []).figures.at(-1)).toMatchObject({ median: 5, p95: 5 });
  });

  test('is compared by surface with the time before', () => {
    const { figures } = toTraffic(asked, [], [row(0, { requests: 5 }), row(1, { requests: 7, outcome: 'failed' })]);
    expect(figures.find(({ surface }) => surface === 'fhir')?.compared).toMatchObject({
      before: { answered: 5, failed: 0 },
      now: { answered: 0, failed: 7 },
    });
    expect(figures.at(-1)?.compared.before.answered).toBe(5);
  });
});

test('the requests behind a figure are linked only for users who may see them', () => {
  const config = { ADMIN_PUBLIC_BASE_URL: 'https://console.test/gateway' } as Config;
  const between = { from: 0, to: 900 };
  const times = 'from=1970-01-01T00%3A00%3A00.000Z&to=1970-01-01T00%3A15%3A00.000Z';
  const all = linksOf(config, new Set(['site.messages.read', 'site.api_keys.read', 'site.audit.read']));
  expect(all.answered('mllp', between)).toBe(`/gateway/admin/messages?outcome=AA&${times}`);
  expect(all.answered('fhir', between)).toBe(`/gateway/admin/audit?${times}`);
  expect(all.answered('token', between)).toBeUndefined();
  expect(all.refused('fhir', between)).toContain('surface=fhir');
  const none = linksOf(config, new Set());
  expect([none.answered('mllp', between), none.refused(null, between)]).toEqual([undefined, undefined]);
});
