/** When alerts fire and resolve, and which notices they cause: watched hours, flapping, breaks of the gateway. */
import { describe, expect, test } from 'vitest';

import { ALERT_KINDS } from '../../../edge/alert-kinds.ts';
import { type AlertFacts, firingAlerts } from '../../../edge/alerts/facts.ts';
import { type Hours, isWatched, patienceMs } from '../../../edge/members/watched-hours.ts';
import { type Alert, changeAlerts } from '../../../edge/alerts/transition.ts';

const MINUTE = 60_000;
const at = (instant: string): number => Date.parse(instant);

const OFFICE: Hours = { hours: '08:00-18:00', days: ['Mo', 'Tu', 'We', 'Th', 'Fr'], zone: 'Europe/Berlin' };
const NIGHT: Hours = { hours: '22:00-06:00', days: ['Fr'], zone: 'Europe/Berlin' };
const ALWAYS: Hours = { hours: null, days: [], zone: null };
const WEEKDAYS: Hours = { hours: null, days: ['Mo', 'Tu', 'We', 'Th', 'Fr'], zone: 'Europe/Berlin' };

describe('hours', () => {
  // 20 November 2026 is a Friday; Berlin is an hour ahead of UTC, in summer two.
  test.each([
    ['within the hours', OFFICE, '2026-11-20T07:00:00Z', '2026-11-20T08:00:00Z', true],
    ['from a minute before the hours', OFFICE, '2026-11-20T06:59:00Z', '2026-11-20T08:00:00Z', false],
    ['to a minute after the hours', OFFICE, '2026-11-20T16:30:00Z', '2026-11-20T17:01:00Z', false],
    ['over the night', OFFICE, '2026-11-19T16:30:00Z', '2026-11-20T07:30:00Z', false],
    ['on a Saturday', OFFICE, '2026-11-21T09:00:00Z', '2026-11-21T10:00:00Z', false],
    ['a night that begins on a watched day', NIGHT, '2026-11-20T22:00:00Z', '2026-11-21T04:30:00Z', true],
    ['a night that begins on the day after', NIGHT, '2026-11-21T22:00:00Z', '2026-11-21T23:00:00Z', false],
    ['over midnight, day after day', WEEKDAYS, '2026-11-19T20:00:00Z', '2026-11-20T09:00:00Z', true],
    ['from Friday into the weekend', WEEKDAYS, '2026-11-20T20:00:00Z', '2026-11-21T09:00:00Z', false],
    ['without hours and days', ALWAYS, '2026-11-14T00:00:00Z', '2026-11-21T00:00:00Z', true],
    // The clock changes from 02:00 to 03:00 on 29 March, and from 03:00 to 02:00 on 25 October.
    ['from 6 UTC in summer', OFFICE, '2026-03-30T06:00:00Z', '2026-03-30T07:00:00Z', true],
    ['from a minute before 6 UTC in summer', OFFICE, '2026-10-23T05:59:00Z', '2026-10-23T07:00:00Z', false],
    [
      'a night that the change of the clock makes shorter',
      { ...NIGHT, days: ['Sa'] },
      '2026-03-28T21:00:00Z',
      '2026-03-29T04:00:00Z',
      true,
    ],
    ['and after its end', { ...NIGHT, days: ['Sa'] }, '2026-03-29T03:30:00Z', '2026-03-29T04:30:00Z', false],
    [
      'a night that the change of the clock makes longer',
      { ...NIGHT, days: ['Sa'] },
      '2026-10-24T20:00:00Z',
      '2026-10-25T05:00:00Z',
      true,
    ],
    [
      'from an hour that the clock skips',
      { hours: '02:30-06:00', days: [], zone: 'Europe/Berlin' },
      '2026-03-29T01:30:00Z',
      '2026-03-29T04:00:00Z',
      true,
    ],
  ])('%s', (_, hours, from, to, expected) => {
    expect(isWatched(at(from), at(to), hours)).toBe(expected);
  });

  test('the patience is at most the hours of one day', () => {
    expect(patienceMs(90, OFFICE)).toBe(90 * MINUTE);
    expect(patienceMs(10_080, OFFICE)).toBe(597 * MINUTE);
    expect(patienceMs(10_080, ALWAYS)).toBe(10_080 * MINUTE);
  });
});

const site = 'site-1';
const NOTHING: AlertFacts = {
  now: 0,
  kinds: {
    'feed-silent': [],
    'error-rate': [],
    'sidecar-silent': [],
    'signing-key-old': [],
    'jwks-uri-failing': [],
    'replay-needed': [],
    'messages-ignored': [],
    'changes-stalled': [],
    'subscription-failing': [],
  },
  alerts: [],
  silences: [],
  sites: [{ site, hasWebhook: true }],
};

const factsOf = (kind: string, ...facts: readonly object[]): Pick<AlertFacts, 'kinds'> => ({
  kinds: { ...NOTHING.kinds, [kind]: facts },
});

/** Checked from the beginning without a break, and the provider answers. */
const CHECKED = { checkedSince: 0, providerFailures: 0 };

/** Checks alerts minute by minute, as the job does. @param facts of each minute */
function simulate(
  from: string,
  minutes: number,
  facts: (now: number) => Partial<AlertFacts>,
  { since = at(from), sites = NOTHING.sites }: { since?: number; sites?: AlertFacts['sites'] } = {},
) {
  const alerts = new Map<string, AlertFacts['alerts'][number] & Pick<Alert, 'numbers'>>();
  const notices: string[] = [];
  let ids = 0;
  for (let now = at(from); now <= at(from) + minutes * MINUTE; now += MINUTE) {
    const recent = [...alerts.values()].filter(
      ({ resolvedAt }) => resolvedAt === null || resolvedAt > now - 60 * MINUTE,
    );
    const all: AlertFacts = { ...NOTHING, now, alerts: recent, sites, ...facts(now) };
    const decided = changeAlerts(
      all,
      firingAlerts(all, { checkedSince: since, providerFailures: 0 }),
      () => `id-${(ids += 1)}`,
    );
    for (const alert of decided.alerts) {
      const known = alerts.get(alert.id);
      const isAcknowledged = known?.times === alert.times && known.isAcknowledged;
      const numbers = alert.numbers ?? known?.numbers;
      alerts.set(alert.id, { ...alert, isAcknowledged, ...(numbers === undefined ? {} : { numbers }) });
    }
    for (const { at: time, state } of decided.notices)
      notices.push(`${new Date(time).toISOString().slice(5, 16)} ${state}`);
  }
  return { notices, alerts };
}

const watch = (hours: Hours, afterMinutes: number, messages: readonly string[]) => (now: number) => {
  const lastAt = Math.max(...messages.map(at).filter((time) => time <= now), 0);
  const feed = {
    site,
    subject: 'svc-lab',
    afterMinutes,
    ...hours,
    since: lastAt,
    lastAt: lastAt === 0 ? null : lastAt,
  };
  return factsOf('feed-silent', feed);
};

describe('a feed', () => {
  test('watched on weekdays is not silent over the weekend, and is silent on Monday', () => {
    // The last message on Friday at 17:50 in Berlin, the next one on Monday at 11:00.
    const messages = ['2026-11-20T16:50:00Z', '2026-11-23T10:00:00Z'];
    const { notices } = simulate('2026-11-20T16:50:00Z', 4 * 1440, watch(OFFICE, 60, messages), { since: 0 });
    expect(notices.slice(0, 2)).toEqual(['11-23T08:00 firing', '11-23T10:10 resolved']);
  });

  test('stays silent after its hours end, with one notice', () => {
    const { notices, alerts } = simulate('2026-11-20T12:00:00Z', 1200, watch(OFFICE, 60, ['2026-11-20T12:00:00Z']));
    expect(notices).toEqual(['11-20T13:00 firing']);
    expect([...alerts.values()].map(({ resolvedAt }) => resolvedAt)).toEqual([null]);
  });

  test('is watched by the clock of the site in the night of the change', () => {
    const all = { hours: '00:00-06:00', days: [], zone: 'Europe/Berlin' };
    // 01:30 in winter time; the hour between 2 and 3 is not there, and half past three is an hour later.
    const { notices } = simulate('2026-03-29T00:00:00Z', 180, watch(all, 60, ['2026-03-29T00:30:00Z']));
    expect(notices).toEqual(['03-29T01:30 firing']);
  });

  test('that could not reach the gateway is not silent yet after the break', () => {
    const lastNight = ['2026-11-20T20:00:00Z'];
    const since = at('2026-11-21T06:00:00Z');
    expect(simulate('2026-11-21T06:00:00Z', 59, watch(ALWAYS, 60, lastNight), { since }).notices).toEqual([]);
    expect(simulate('2026-11-21T06:00:00Z', 61, watch(ALWAYS, 60, lastNight), { since }).notices).toEqual([
      '11-21T07:00 firing',
    ]);
  });

  test('that has never sent is silent after its patience', () => {
    const feed = {
      site,
      subject: 'svc-new',
      afterMinutes: 30,
      ...ALWAYS,
      since: at('2026-11-20T12:00:00Z'),
      lastAt: null,
    };
    const { notices } = simulate('2026-11-20T12:00:00Z', 120, () => factsOf('feed-silent', feed));
    expect(notices).toEqual(['11-20T12:30 firing']);
  });
});

test('a restart of a sidecar raises no alert, five minutes without a call do', () => {
  const start = at('2026-11-20T12:00:00Z');
  const restarted = (now: number) => {
    const minute = (now - start) / MINUTE;
    const lastAt = minute >= 10 && minute < 13 ? start + 9 * MINUTE : now;
    return factsOf('sidecar-silent', { site, subject: 'ward', lastAt });
  };
  expect(simulate('2026-11-20T12:00:00Z', 60, restarted).notices).toEqual([]);
  const gone = () => factsOf('sidecar-silent', { site, subject: 'ward', lastAt: start });
  expect(simulate('2026-11-20T12:00:00Z', 60, gone).notices).toEqual(['11-20T12:06 firing']);
});

test('an alert that flaps causes few notices, and one for its last state', () => {
  // For an hour, 40 % of the requests fail in every other minute.
  const start = at('2026-11-20T12:00:00Z');
  const flapping = (now: number) => {
    const minute = (now - start) / MINUTE;
    const errors = minute < 60 && minute % 2 === 0 ? 40 : 0;
    return factsOf('error-rate', { site, subject: 'fhir', percent: 25, requests: 100, errors });
  };
  expect(simulate('2026-11-20T12:00:00Z', 120, flapping).notices).toEqual([
    '11-20T12:00 firing',
    '11-20T13:09 resolved',
  ]);
  // Four times 15 minutes with errors and 15 minutes without.
  const slowly = (now: number) => {
    const minute = (now - start) / MINUTE;
    const errors = minute < 120 && Math.floor(minute / 15) % 2 === 0 ? 40 : 0;
    return factsOf('error-rate', { site, subject: 'fhir', percent: 25, requests: 100, errors });
  };
  const { notices, alerts } = simulate('2026-11-20T12:00:00Z', 240, slowly);
  expect([notices.length, notices.at(0), notices.at(-1)?.slice(-8)]).toEqual([8, '11-20T12:00 firing', 'resolved']);
  expect([...alerts.values()].map(({ times }) => times)).toEqual([4]);
});

test('two notices of one alert are at least 15 minutes apart', () => {
  const start = at('2026-11-20T12:00:00Z');
  const briefly = (now: number) => {
    const minute = (now - start) / MINUTE;
    return factsOf('replay-needed', ...(minute < 60 && minute % 12 === 0 ? [{ site, subject: '', messages: 1 }] : []));
  };
  expect(simulate('2026-11-20T12:00:00Z', 120, briefly).notices).toEqual([
    '11-20T12:00 firing',
    '11-20T12:23 resolved',
    '11-20T12:38 firing',
    '11-20T12:59 resolved',
  ]);
});

test.each([
  ['fewer than 20 requests raise no error-rate alert', 19, 19, []],
  ['a share at the limit raises none', 100, 25, []],
  ['a share above the limit raises one', 100, 26, ['error-rate']],
])('%s', (_, requests, errors, expected) => {
  const facts = { ...NOTHING, ...factsOf('error-rate', { site, subject: 'fhir', percent: 25, requests, errors }) };
  expect(firingAlerts(facts, CHECKED).map(({ kind }) => kind)).toEqual(expected);
});

test.each([
  ['fewer than 20 messages raise no alert of ignored ones', 19, 19, []],
  ['half of them raise none', 40, 20, []],
  ['more than half raise one', 40, 21, ['messages-ignored']],
])('%s', (_, messages, ignored, expected) => {
  const facts = { ...NOTHING, ...factsOf('messages-ignored', { site, subject: 'svc-a', messages, ignored }) };
  expect(firingAlerts(facts, CHECKED).map(({ kind }) => kind)).toEqual(expected);
});

test.each([
  ['older than a year by the date in its kid', '2025-11-01-abcdef12', '2026-11-20T00:00:00Z', ['signing-key-old']],
  ['younger than a year by the date in its kid', '2026-01-01-abcdef12', '2026-11-20T00:00:00Z', []],
  ['first seen a year ago', 'prod-1', '2025-11-01T00:00:00Z', ['signing-key-old']],
  ['first seen yesterday', 'prod-1', '2026-11-19T00:00:00Z', []],
  [
    'first seen a year ago, with a date in the future in its kid',
    '2031-01-01-x',
    '2025-11-01T00:00:00Z',
    ['signing-key-old'],
  ],
])('a signing key: %s', (_, subject, firstSeen, expected) => {
  const now = at('2026-11-20T12:00:00Z');
  const facts = { ...NOTHING, now, ...factsOf('signing-key-old', { subject, firstSeen: at(firstSeen) }) };
  expect(firingAlerts(facts, CHECKED).map(({ kind }) => kind)).toEqual(expected);
});

test('the second failed check of the provider raises an alert at every site', () => {
  const sites = ['a', 'b'].map((each) => ({ site: each, hasWebhook: false }));
  const away = (providerFailures: number) => firingAlerts({ ...NOTHING, sites }, { checkedSince: 0, providerFailures });
  expect([away(0), away(1)]).toEqual([[], []]);
  expect(away(2)).toEqual(
    ['a', 'b'].map((each) => ({ site: each, kind: 'provider-away', subject: '', numbers: { failures: 2 } })),
  );
});

test('a change that waits for more than three minutes raises an alert of the site, after a break of the checks later', () => {
  const now = at('2026-11-20T12:00:00Z');
  const fired = (minutes: number, checkedSince = 0) =>
    firingAlerts(
      { ...NOTHING, now, ...factsOf('changes-stalled', { site, subject: '', since: now - minutes * MINUTE }) },
      { checkedSince, providerFailures: 0 },
    );
  expect(fired(3)).toEqual([]);
  expect(fired(4)).toEqual([{ site, kind: 'changes-stalled', subject: '', numbers: { since: now - 4 * MINUTE } }]);
  expect(fired(40, now - MINUTE)).toEqual([]);
});

test('three failures of a JWKS URI raise an alert of the key; failed messages raise one alert of the site', () => {
  const fired = (kind: string, fact: object) => firingAlerts({ ...NOTHING, ...factsOf(kind, fact) }, CHECKED);
  const jwks = (failures: number) => fired('jwks-uri-failing', { site, subject: 'svc-a', failures });
  expect([jwks(2), jwks(3)]).toEqual([
    [],
    [{ site, kind: 'jwks-uri-failing', subject: 'svc-a', numbers: { failures: 3 } }],
  ]);
  expect(fired('replay-needed', { site, subject: '', messages: 2 })).toEqual([
    { site, kind: 'replay-needed', subject: '', numbers: { messages: 2 } },
  ]);
});

describe('a notice', () => {
  const failed = factsOf('replay-needed', { site, subject: '', messages: 1 });
  const key = { site, kind: 'replay-needed', subject: '' };

  test('is not posted without a webhook or while silenced, and is posted after the silence if the alert is still firing', () => {
    const none = simulate('2026-11-20T12:00:00Z', 30, () => failed, { sites: [{ site, hasWebhook: false }] });
    expect([none.notices, none.alerts.size]).toEqual([[], 1]);
    const until = at('2026-11-20T12:20:00Z');
    const silenced = simulate('2026-11-20T12:00:00Z', 30, (now) => ({ ...failed, silences: now < until ? [key] : [] }));
    expect(silenced.notices).toEqual(['11-20T12:20 firing']);
  });

  test('is not posted for an alert that fired and resolved while silenced', () => {
    const start = at('2026-11-20T12:00:00Z');
    const silenced = simulate('2026-11-20T12:00:00Z', 90, (now) =>
      now < start + 5 * MINUTE ? { ...failed, silences: [key] } : { silences: now < start + 30 * MINUTE ? [key] : [] },
    );
    expect(silenced.notices).toEqual([]);
  });

  test('is posted when an acknowledged alert resolves, and when it fires again', () => {
    const known = {
      ...key,
      id: 'a',
      times: 1,
      notified: 'resolved',
      firingSince: 0,
      clearSince: null,
      resolvedAt: null,
      notifiedAt: 0,
      isAcknowledged: true,
    } as const;
    const now = 60 * MINUTE;
    const statesPosted = (more: Partial<AlertFacts['alerts'][number]>, wrong: Partial<AlertFacts>) => {
      const facts: AlertFacts = { ...NOTHING, now, alerts: [{ ...known, ...more }], ...wrong };
      return changeAlerts(facts, firingAlerts(facts, CHECKED), () => 'n').notices.map(({ state }) => state);
    };
    expect(statesPosted({}, failed)).toEqual([]);
    expect(statesPosted({ notified: 'firing', clearSince: now - 10 * MINUTE }, {})).toEqual(['resolved']);
    expect(statesPosted({ resolvedAt: now - 20 * MINUTE }, failed)).toEqual(['firing']);
  });
});

describe('the numbers of an alert', () => {
  test('are those of its cause when it fired, and stay while it fires', () => {
    const rate = (errors: number) =>
      factsOf('error-rate', { site, subject: 'fhir', percent: 25, requests: 40, errors });
    const from = at('2026-11-20T07:00:00Z');
    const { alerts } = simulate('2026-11-20T07:00:00Z', 2, (now) => rate(now === from ? 27 : 12));
    expect([...alerts.values()].map(({ numbers }) => numbers)).toEqual([{ percent: 25, requests: 40, errors: 27 }]);
  });

  test.each([
    ['feed-silent', { lastAt: 0, afterMinutes: 60 }, 'No message for 63 min. The limit is 60 min.'],
    ['feed-silent', { afterMinutes: 1440 }, 'No message yet. The limit is 24 h.'],
    [
      'error-rate',
      { requests: 40, errors: 27, percent: 25 },
      '27 of 40 requests (68%) in the 15 to 30 minutes before. The limit is 25%.',
    ],
    ['sidecar-silent', { lastAt: 57 * MINUTE }, 'No call for 6 min. The limit is 5 min.'],
    ['provider-away', { failures: 2 }, '2 checks in a row failed.'],
    ['jwks-uri-failing', { failures: 1200 }, '1,200 token requests failed in half an hour.'],
    ['replay-needed', { messages: 1 }, 'One message waits.'],
    ['replay-needed', { messages: 1000 }, '1,000 or more messages wait.'],
    [
      'messages-ignored',
      { messages: 1000, ignored: 501 },
      '501 of the 1,000 newest messages of the last half hour. The limit is 50%.',
    ],
    ['changes-stalled', { since: 43 * MINUTE }, 'The oldest change has waited for 20 min.'],
    ['subscription-failing', { subscriptions: 1, since: 0 }, '1 subscription, the first one for 63 min.'],
    ['subscription-failing', { subscriptions: 3, since: 0 }, '3 subscriptions, the first one for 63 min.'],
  ] as const)('%s %j', (kind, numbers, said) => {
    expect(ALERT_KINDS[kind].measured(numbers, 63 * MINUTE)).toBe(said);
  });
});
