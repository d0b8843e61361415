/** Compares senders with their usual activity, and checks the sentence about all feeds. */
import { describe, expect, test } from 'vitest';

import { judge } from '../../../../edge/admin/feeds/judge.ts';
import { viewFeeds } from '../../../../edge/admin/feeds/view.ts';
import type { AlertRow } from '../../../../edge/store/admin-alert.ts';
import type { FeedRow } from '../../../../edge/store/admin-feed.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const before = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();

const ROW: FeedRow = {
  client_id: 'svc-lab',
  name: 'LAB',
  status: 'active',
  protocols: ['hl7-mllp'],
  watched: false,
  surface: 'mllp',
  application: 'LAB',
  facility: 'HOSP',
  first_at: '2026-01-01T00:00:00.000Z',
  last_at: before(4),
  accepted: 209,
  refused: 2,
  rejected: 1,
  hour: 30,
  late_refused: 0,
  weeks_hour: '{28,30,33,31}',
  days_hour: '{30,30,30,30,30,30,30}',
  weeks_gap: '{0,0,0,0}',
  days_gap: '{0,0,0,0,0,0,0}',
  refusals: 0,
  fault_reason: null,
  fault_code: null,
  fault_surface: null,
  fault_at: null,
};

describe('a sender', () => {
  test.each<[string, Partial<FeedRow>, boolean | undefined, string]>([
    ['that sends as in the weeks before', {}, undefined, 'usual'],
    ['that sends nothing at an hour with usual messages', { hour: 0, weeks_gap: '{30,28,33,31}' }, undefined, 'silent'],
    [
      'that sends only at night, during the day',
      { hour: 0, weeks_hour: '{0,0,0,0}', weeks_gap: '{0,0,0,0}' },
      undefined,
      'usual',
    ],
    [
      'that sent on one Sunday of four',
      { hour: 0, weeks_hour: '{0,40,0,0}', weeks_gap: '{0,60,0,0}' },
      undefined,
      'usual',
    ],
    [
      'that sends two an hour, after one hour without',
      { hour: 0, weeks_hour: '{2,1,3,2}', weeks_gap: '{2,3,1,2}' },
      undefined,
      'usual',
    ],
    [
      'that sends two an hour, after a day without',
      { hour: 0, weeks_hour: '{2,1,3,2}', weeks_gap: '{12,9,10,14}' },
      undefined,
      'silent',
    ],
    ['that sends much less', { hour: 9 }, undefined, 'fewer'],
    ['that sends a little less than few', { hour: 1, weeks_hour: '{4,5,6,4}' }, undefined, 'usual'],
    ['that sends much more', { hour: 90 }, undefined, 'more'],
    ['that sends ten times more than one', { hour: 10, weeks_hour: '{1,1,1,1}' }, undefined, 'usual'],
    [
      'that is new',
      {
        hour: 0,
        weeks_hour: '{NULL,NULL,NULL,NULL}',
        days_hour: '{5,NULL,NULL,NULL,NULL,NULL,NULL}',
        weeks_gap: '{NULL,NULL,NULL,NULL}',
        days_gap: '{9,NULL,NULL,NULL,NULL,NULL,NULL}',
      },
      undefined,
      'too-new',
    ],
    [
      'known for a week, silent at an hour of each day',
      { hour: 0, weeks_hour: '{5,NULL,NULL,NULL}', weeks_gap: '{9,NULL,NULL,NULL}', days_gap: '{9,9,9,9,9,9,9}' },
      undefined,
      'silent',
    ],
    [
      'known for a week, silent on its first Sunday',
      {
        hour: 0,
        weeks_hour: '{5,NULL,NULL,NULL}',
        weeks_gap: '{9,NULL,NULL,NULL}',
        days_gap: '{9,9,9,9,9,0,0}',
        days_hour: '{9,9,9,9,9,0,0}',
      },
      undefined,
      'usual',
    ],
    ['whose rule for silence has not alerted', { hour: 0, weeks_gap: '{30,28,33,31}' }, false, 'fewer'],
    ['whose rule for silence has alerted', {}, true, 'silent'],
  ])('%s', (_, row, isAlerted, verdict) => {
    expect(judge({ ...ROW, ...row }, isAlerted)).toBe(verdict);
  });
});

const sentence = (...rows: Partial<FeedRow>[]): string =>
  viewFeeds(
    rows.map((row) => ({ ...ROW, ...row })),
    [],
    [],
    NOW,
    true,
  ).health.sentence;
const SILENT = { hour: 0, weeks_gap: '{30,28,33,31}' };

describe('the sentence about all feeds', () => {
  test.each<[string, Partial<FeedRow>[], string]>([
    ['usual feeds', [{}], 'All feeds are as usual'],
    ['no keys', [], 'Nothing is connected yet'],
    ['a silent feed', [{ ...SILENT, last_at: before(47) }], 'LAB has been silent for 47 min'],
    ['one rejected message', [{ late_refused: 1 }], '1 message of LAB was rejected in the last hour'],
    [
      'the worst problem first',
      [
        { client_id: 'svc-adt', name: 'ADT', late_refused: 3 },
        { ...SILENT, last_at: before(47) },
      ],
      'LAB has been silent for 47 min; 3 messages of ADT were rejected in the last hour',
    ],
    [
      'rejected FHIR requests',
      [{ surface: 'fhir', application: '', facility: '', late_refused: 1_234 }],
      '1,234 requests of LAB were rejected in the last hour',
    ],
    [
      'several senders of one key',
      [{ application: 'ADT' }, { ...SILENT, last_at: before(300) }],
      'LAB (LAB / HOSP) has been silent for 5 h',
    ],
    [
      'a disabled key whose sender still sends',
      [{ status: 'disabled', refusals: 7 }],
      'LAB is disabled and still sends',
    ],
    [
      'many problems',
      Array.from({ length: 9 }, (_, n) => ({ client_id: `svc-${n}`, name: `S${n}`, late_refused: 1 })),
      '1 message of S0 was rejected in the last hour; 1 message of S1 was rejected in the last hour; 1 message of S2 was rejected in the last hour; 1 message of S3 was rejected in the last hour; and 5 more',
    ],
    [
      'more keys than are checked',
      Array.from({ length: 301 }, (_, n) => ({ client_id: `svc-${n}`, name: `S${n}` })),
      'All feeds are as usual, among the first 300 API keys by name',
    ],
    ['only new senders', [{ weeks_hour: null, days_hour: null, weeks_gap: null, days_gap: null }], 'No known problems'],
  ])('%s', (_, rows, expected) => {
    expect(sentence(...rows)).toBe(expected);
  });

  test('a silent sidecar is listed before the silent feeds that it causes', () => {
    const sidecar = {
      issuer: 'ward',
      first_seen: before(9_000),
      last_seen: before(12),
      clock_seconds: 0,
      version: '1.2.3',
      connections: 4,
    };
    const { health, sidecars } = viewFeeds([{ ...ROW, ...SILENT, last_at: before(47) }], [], [sidecar], NOW, true);
    expect(health.sentence).toBe(
      'The sidecar ward has not called for 12 min, messages over MLLP wait at their senders; LAB has been silent for 47 min',
    );
    expect(sidecars).toEqual([
      { issuer: 'ward', lastSeenAt: before(12), isLate: true, clockSeconds: 0, version: '1.2.3', connections: 4 },
    ]);
  });

  test('a key with a rule is silent while its alert fires', () => {
    const alert: AlertRow = {
      alert_id: '0192f0c1-0000-7000-8000-000000000000',
      kind: 'feed-silent',
      subject: 'svc-lab',
      key_name: 'LAB',
      firing_since: before(1),
      place: before(1),
      clear_since: null,
      resolved_at: null,
      times: 1,
      acknowledged_at: null,
      acknowledged_by: null,
      is_silenced: false,
      silenced_until: null,
      silenced_by: null,
      last_answer: null,
      attempts: null,
      delivered_at: null,
      given_up_at: null,
      numbers: null,
    };
    const verdict = (...alerts: AlertRow[]) =>
      viewFeeds([{ ...ROW, watched: true }], alerts, [], NOW, true).feeds[0]?.senders[0]?.verdict;
    expect([verdict(alert), verdict({ ...alert, clear_since: before(0) }), verdict()]).toEqual([
      'silent',
      'usual',
      'usual',
    ]);
    // A sender that sent once is not silent, unless the key has no other sender.
    const once: FeedRow = { ...ROW, watched: true, application: 'RAD', first_at: before(60), last_at: before(60) };
    const verdicts = (...rows: FeedRow[]) =>
      viewFeeds(rows, [alert], [], NOW, true).feeds[0]?.senders.map(({ isSingle, verdict: own }) => [isSingle, own]);
    expect(verdicts({ ...ROW, watched: true }, once)).toEqual([
      [false, 'silent'],
      [true, 'too-new'],
    ]);
    expect(verdicts(once)).toEqual([[true, 'silent']]);
  });
});

test('without the permission for requests, the count is shown but not the reason', () => {
  const fault = {
    refusals: 3,
    fault_reason: 'PID-3 missing',
    fault_code: '101',
    fault_surface: 'mllp',
    fault_at: before(1),
  } as const;
  const feed = (may: boolean) => viewFeeds([{ ...ROW, ...fault }], [], [], NOW, may).feeds[0];
  expect([feed(true)?.fault?.reason, feed(false)?.fault, feed(false)?.refusals]).toEqual(['PID-3 missing', null, 3]);
});
