/** When something is an alert, whom it is told, and when not: hours by the clock of the site, flapping, breaks of our own. */
import { describe, expect, test } from 'vitest';

import { type Facts, firing } from '../../../edge/alerts/facts.ts';
import { type Hours, isWatched, patienceMs } from '../../../edge/alerts/hours.ts';
import { decide } from '../../../edge/alerts/transition.ts';

const MINUTE = 60_000;
const at = (instant: string): number => Date.parse(instant);

const OFFICE: Hours = { hours: '08:00-18:00', days: ['Mo', 'Tu', 'We', 'Th', 'Fr'], zone: 'Europe/Berlin' };
const NIGHT: Hours = { hours: '22:00-06:00', days: ['Fr'], zone: 'Europe/Berlin' };
const ALWAYS: Hours = { hours: null, days: [], zone: null };
const WEEKDAYS: Hours = { hours: null, days: ['Mo', 'Tu', 'We', 'Th', 'Fr'], zone: 'Europe/Berlin' };

describe('hours', () => {
  // 20 November 2026 is a Friday; Berlin is an hour ahead of UTC, in summer two.
  test.each([
    ['within the office’s hours', OFFICE, '2026-11-20T07:00:00Z', '2026-11-20T08:00:00Z', true],
    ['a minute too early', OFFICE, '2026-11-20T06:59:00Z', '2026-11-20T08:00:00Z', false],
    ['a minute too late', OFFICE, '2026-11-20T16:30:00Z', '2026-11-20T17:01:00Z', false],
    ['over the night', OFFICE, '2026-11-19T16:30:00Z', '2026-11-20T07:30:00Z', false],
    ['on a Saturday', OFFICE, '2026-11-21T09:00:00Z', '2026-11-21T10:00:00Z', false],
    ['a night that belongs to the day on which it begins', NIGHT, '2026-11-20T22:00:00Z', '2026-11-21T04:30:00Z', true],
    ['the night after', NIGHT, '2026-11-21T22:00:00Z', '2026-11-21T23:00:00Z', false],
    ['over midnight, day after day', WEEKDAYS, '2026-11-19T20:00:00Z', '2026-11-20T09:00:00Z', true],
    ['from Friday into the weekend', WEEKDAYS, '2026-11-20T20:00:00Z', '2026-11-21T09:00:00Z', false],
    ['always', ALWAYS, '2026-11-14T00:00:00Z', '2026-11-21T00:00:00Z', true],
    // The clock goes from 02:00 to 03:00 on 29 March, and from 03:00 to 02:00 on 25 October.
    ['in summer the office begins at 6 UTC', OFFICE, '2026-03-30T06:00:00Z', '2026-03-30T07:00:00Z', true],
    ['and not at 7', OFFICE, '2026-10-23T05:59:00Z', '2026-10-23T07:00:00Z', false],
    ['a night that is an hour short', { ...NIGHT, days: ['Sa'] }, '2026-03-28T21:00:00Z', '2026-03-29T04:00:00Z', true],
    ['and is over then', { ...NIGHT, days: ['Sa'] }, '2026-03-29T03:30:00Z', '2026-03-29T04:30:00Z', false],
    ['a night that is an hour long', { ...NIGHT, days: ['Sa'] }, '2026-10-24T20:00:00Z', '2026-10-25T05:00:00Z', true],
    [
      'from an hour that is skipped',
      { hours: '02:30-06:00', days: [], zone: 'Europe/Berlin' },
      '2026-03-29T01:30:00Z',
      '2026-03-29T04:00:00Z',
      true,
    ],
  ])('%s', (_, hours, from, to, expected) => {
    expect(isWatched(at(from), at(to), hours)).toBe(expected);
  });

  test('nothing is waited for longer than the hours of a day', () => {
    expect(patienceMs(90, OFFICE)).toBe(90 * MINUTE);
    expect(patienceMs(10_080, OFFICE)).toBe(597 * MINUTE);
    expect(patienceMs(10_080, ALWAYS)).toBe(10_080 * MINUTE);
  });
});

const site = 'site-1';
const NOTHING: Facts = {
  now: 0,
  watches: [],
  errors: [],
  sidecars: [],
  signingKeys: [],
  jwks: [],
  failed: [],
  alerts: [],
  mutes: [],
  sites: [{ site, hasWebhook: true }],
};

/** Without a break from the beginning, and the provider answers. */
const LOOKING = { since: 0, providerFailures: 0 };

/** A minute after the other, as the work in the background does it; what is wrong is told by `facts` for each. */
function simulate(
  from: string,
  minutes: number,
  facts: (now: number) => Partial<Facts>,
  { since = at(from), sites = NOTHING.sites }: { since?: number; sites?: Facts['sites'] } = {},
) {
  const alerts = new Map<string, Facts['alerts'][number]>();
  const told: string[] = [];
  let ids = 0;
  for (let now = at(from); now <= at(from) + minutes * MINUTE; now += MINUTE) {
    const recent = [...alerts.values()].filter(
      ({ resolvedAt }) => resolvedAt === null || resolvedAt > now - 60 * MINUTE,
    );
    const all: Facts = { ...NOTHING, now, alerts: recent, sites, ...facts(now) };
    const decided = decide(all, firing(all, { since, providerFailures: 0 }), () => `id-${(ids += 1)}`);
    for (const alert of decided.alerts) {
      const known = alerts.get(alert.id);
      const isAcknowledged = known?.times === alert.times && known.isAcknowledged;
      alerts.set(alert.id, { ...alert, isAcknowledged });
    }
    for (const notice of decided.notices) told.push(`${new Date(notice.at).toISOString().slice(5, 16)} ${notice.told}`);
  }
  return { told, alerts };
}

const watch = (hours: Hours, afterMinutes: number, messages: readonly string[]) => (now: number) => {
  const lastAt = Math.max(...messages.map(at).filter((time) => time <= now), 0);
  const watches = [
    { site, subject: 'svc-lab', afterMinutes, ...hours, since: lastAt, lastAt: lastAt === 0 ? null : lastAt },
  ];
  return { watches };
};

describe('a feed', () => {
  test('that is used on weekdays only is not silent over the weekend, and is on Monday', () => {
    // The last message on Friday at 17:50 in Berlin, the next one on Monday at 11:00.
    const messages = ['2026-11-20T16:50:00Z', '2026-11-23T10:00:00Z'];
    const { told } = simulate('2026-11-20T16:50:00Z', 4 * 1440, watch(OFFICE, 60, messages), { since: 0 });
    expect(told.slice(0, 2)).toEqual(['11-23T08:00 open', '11-23T10:10 resolved']);
  });

  test('stays silent when its hours end, and is told once', () => {
    const { told, alerts } = simulate('2026-11-20T12:00:00Z', 1200, watch(OFFICE, 60, ['2026-11-20T12:00:00Z']));
    expect(told).toEqual(['11-20T13:00 open']);
    expect([...alerts.values()].map(({ resolvedAt }) => resolvedAt)).toEqual([null]);
  });

  test('is watched by the clock of the site on the night in which it changes', () => {
    const all = { hours: '00:00-06:00', days: [], zone: 'Europe/Berlin' };
    // 01:30 in winter time; the hour between 2 and 3 is not there, and half past three is an hour later.
    const { told } = simulate('2026-03-29T00:00:00Z', 180, watch(all, 60, ['2026-03-29T00:30:00Z']));
    expect(told).toEqual(['03-29T01:30 open']);
  });

  test('that could not send while the gateway was away is waited for anew', () => {
    const lastNight = ['2026-11-20T20:00:00Z'];
    const since = at('2026-11-21T06:00:00Z');
    expect(simulate('2026-11-21T06:00:00Z', 59, watch(ALWAYS, 60, lastNight), { since }).told).toEqual([]);
    expect(simulate('2026-11-21T06:00:00Z', 61, watch(ALWAYS, 60, lastNight), { since }).told).toEqual([
      '11-21T07:00 open',
    ]);
  });

  test('that has never sent is silent too, once it should have', () => {
    const never = {
      watches: [
        { site, subject: 'svc-new', afterMinutes: 30, ...ALWAYS, since: at('2026-11-20T12:00:00Z'), lastAt: null },
      ],
    };
    const { told } = simulate('2026-11-20T12:00:00Z', 120, () => never);
    expect(told).toEqual(['11-20T12:30 open']);
  });
});

test('a sidecar that is started anew is no alert, one that is gone is', () => {
  const start = at('2026-11-20T12:00:00Z');
  const restarted = (now: number) => {
    const minute = (now - start) / MINUTE;
    const lastAt = minute >= 10 && minute < 13 ? start + 9 * MINUTE : now;
    return { sidecars: [{ site, subject: 'ward', lastAt }] };
  };
  expect(simulate('2026-11-20T12:00:00Z', 60, restarted).told).toEqual([]);
  const gone = () => ({ sidecars: [{ site, subject: 'ward', lastAt: start }] });
  expect(simulate('2026-11-20T12:00:00Z', 60, gone).told).toEqual(['11-20T12:06 open']);
});

test('an alert that flaps is told seldom, and its last state always', () => {
  // Every other minute a third of the requests fails, for an hour.
  const start = at('2026-11-20T12:00:00Z');
  const flapping = (now: number) => {
    const minute = (now - start) / MINUTE;
    const errors = minute < 60 && minute % 2 === 0 ? 40 : 0;
    return { errors: [{ site, subject: 'fhir', percent: 25, requests: 100, errors }] };
  };
  expect(simulate('2026-11-20T12:00:00Z', 120, flapping).told).toEqual(['11-20T12:00 open', '11-20T13:09 resolved']);
  // A quarter of an hour wrong, a quarter well: four times.
  const slowly = (now: number) => {
    const minute = (now - start) / MINUTE;
    const errors = minute < 120 && Math.floor(minute / 15) % 2 === 0 ? 40 : 0;
    return { errors: [{ site, subject: 'fhir', percent: 25, requests: 100, errors }] };
  };
  const { told, alerts } = simulate('2026-11-20T12:00:00Z', 240, slowly);
  expect([told.length, told.at(0), told.at(-1)?.slice(-8)]).toEqual([8, '11-20T12:00 open', 'resolved']);
  expect([...alerts.values()].map(({ times }) => times)).toEqual([4]);
});

test('one that is well for just long enough is told every quarter of an hour at most', () => {
  const start = at('2026-11-20T12:00:00Z');
  const briefly = (now: number) => {
    const minute = (now - start) / MINUTE;
    return { failed: minute < 60 && minute % 12 === 0 ? [{ site, messages: 1 }] : [] };
  };
  expect(simulate('2026-11-20T12:00:00Z', 120, briefly).told).toEqual([
    '11-20T12:00 open',
    '11-20T12:23 resolved',
    '11-20T12:38 open',
    '11-20T12:59 resolved',
  ]);
});

test.each([
  ['a few requests are no rate', 19, 19, []],
  ['at the limit', 100, 25, []],
  ['above it', 100, 26, ['error-rate']],
])('%s', (_, requests, errors, expected) => {
  const facts = { ...NOTHING, errors: [{ site, subject: 'fhir', percent: 25, requests, errors }] };
  expect(firing(facts, LOOKING).map(({ kind }) => kind)).toEqual(expected);
});

test.each([
  ['a kid that says when it was made', '2025-11-01-abcdef12', '2026-11-20T00:00:00Z', ['signing-key-old']],
  ['one that was made this year', '2026-01-01-abcdef12', '2026-11-20T00:00:00Z', []],
  ['one that says nothing and was seen a year ago', 'prod-1', '2025-11-01T00:00:00Z', ['signing-key-old']],
  ['one that says nothing and is new here', 'prod-1', '2026-11-19T00:00:00Z', []],
  ['one that says it is from the future', '2031-01-01-x', '2025-11-01T00:00:00Z', ['signing-key-old']],
])('a signing key: %s', (_, subject, firstSeen, expected) => {
  const now = at('2026-11-20T12:00:00Z');
  const facts = { ...NOTHING, now, signingKeys: [{ subject, firstSeen: at(firstSeen) }] };
  expect(firing(facts, LOOKING).map(({ kind }) => kind)).toEqual(expected);
});

test('a provider that failed once may be starting anew; one that stays away concerns the staff of every site', () => {
  const sites = ['a', 'b'].map((each) => ({ site: each, hasWebhook: false }));
  const away = (providerFailures: number) => firing({ ...NOTHING, sites }, { since: 0, providerFailures });
  expect([away(0), away(1)]).toEqual([[], []]);
  expect(away(2)).toEqual(['a', 'b'].map((each) => ({ site: each, kind: 'provider-away', subject: '' })));
});

test('one failed fetch of a JWKS is none, three are; messages that wait are one alert of the site', () => {
  const jwks = (refusals: number) => firing({ ...NOTHING, jwks: [{ site, subject: 'svc-a', refusals }] }, LOOKING);
  expect([jwks(2), jwks(3)]).toEqual([[], [{ site, kind: 'jwks-uri-failing', subject: 'svc-a' }]]);
  expect(firing({ ...NOTHING, failed: [{ site, messages: 3 }] }, LOOKING)).toEqual([
    { site, kind: 'replay-needed', subject: '' },
  ]);
});

describe('telling', () => {
  const failed = { failed: [{ site, messages: 1 }] };
  const key = { site, kind: 'replay-needed', subject: '' };

  test('nobody where there is no webhook, and of what is muted; when that ends, what still holds', () => {
    const none = simulate('2026-11-20T12:00:00Z', 30, () => failed, { sites: [{ site, hasWebhook: false }] });
    expect([none.told, none.alerts.size]).toEqual([[], 1]);
    const until = at('2026-11-20T12:20:00Z');
    const muted = simulate('2026-11-20T12:00:00Z', 30, (now) => ({ ...failed, mutes: now < until ? [key] : [] }));
    expect(muted.told).toEqual(['11-20T12:20 open']);
  });

  test('nothing of what came and went while it was muted', () => {
    const start = at('2026-11-20T12:00:00Z');
    const passed = simulate('2026-11-20T12:00:00Z', 90, (now) =>
      now < start + 5 * MINUTE ? { ...failed, mutes: [key] } : { mutes: now < start + 30 * MINUTE ? [key] : [] },
    );
    expect(passed.told).toEqual([]);
  });

  test('what was acknowledged is told when it is resolved, and again when it comes back', () => {
    const known = {
      ...key,
      id: 'a',
      times: 1,
      told: 'resolved',
      openedAt: 0,
      clearSince: null,
      resolvedAt: null,
      toldAt: 0,
      isAcknowledged: true,
    } as const;
    const now = 60 * MINUTE;
    const decideOf = (more: Partial<Facts['alerts'][number]>, wrong: Partial<Facts>) => {
      const facts: Facts = { ...NOTHING, now, alerts: [{ ...known, ...more }], ...wrong };
      return decide(facts, firing(facts, LOOKING), () => 'n').notices.map(({ told }) => told);
    };
    expect(decideOf({}, failed)).toEqual([]);
    expect(decideOf({ told: 'open', clearSince: now - 10 * MINUTE }, {})).toEqual(['resolved']);
    expect(decideOf({ resolvedAt: now - 20 * MINUTE }, failed)).toEqual(['open']);
  });
});
