/** Whether a sender does what it usually does, and one sentence for all of them. */
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
    ['that sends as it did in the weeks before', {}, undefined, 'usual'],
    ['that sends nothing where it always sent', { hour: 0, weeks_gap: '{30,28,33,31}' }, undefined, 'silent'],
    [
      'that sends at night only, by day',
      { hour: 0, weeks_hour: '{0,0,0,0}', weeks_gap: '{0,0,0,0}' },
      undefined,
      'usual',
    ],
    [
      'that rests on Sundays, of which one was busy',
      { hour: 0, weeks_hour: '{0,40,0,0}', weeks_gap: '{0,60,0,0}' },
      undefined,
      'usual',
    ],
    [
      'that sends two an hour and has sent none for once',
      { hour: 0, weeks_hour: '{2,1,3,2}', weeks_gap: '{2,3,1,2}' },
      undefined,
      'usual',
    ],
    [
      'that sends two an hour and has sent none all day',
      { hour: 0, weeks_hour: '{2,1,3,2}', weeks_gap: '{12,9,10,14}' },
      undefined,
      'silent',
    ],
    ['that sends less', { hour: 9 }, undefined, 'fewer'],
    ['that sends a little less of little', { hour: 1, weeks_hour: '{4,5,6,4}' }, undefined, 'usual'],
    ['that sends more', { hour: 90 }, undefined, 'more'],
    ['that sends ten times more of next to nothing', { hour: 10, weeks_hour: '{1,1,1,1}' }, undefined, 'usual'],
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
      'known for a week, silent where it sent on each day',
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
    ['whose rule has not alerted, whatever is usual', { hour: 0, weeks_gap: '{30,28,33,31}' }, false, 'fewer'],
    ['whose rule has alerted', {}, true, 'silent'],
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

describe('the sentence for all', () => {
  test.each<[string, Partial<FeedRow>[], string]>([
    ['all is well', [{}], 'All feeds are as usual'],
    ['nothing is there', [], 'Nothing is connected yet'],
    ['silence', [{ ...SILENT, last_at: before(47) }], 'LAB has been silent for 47 min'],
    ['one message', [{ late_refused: 1 }], '1 message of LAB was refused'],
    [
      'what is worst is first',
      [
        { client_id: 'svc-adt', name: 'ADT', late_refused: 3 },
        { ...SILENT, last_at: before(47) },
      ],
      'LAB has been silent for 47 min; 3 messages of ADT were refused',
    ],
    [
      'FHIR',
      [{ surface: 'fhir', application: '', facility: '', late_refused: 1_234 }],
      '1,234 requests of LAB were refused',
    ],
    [
      'senders of one key',
      [{ application: 'ADT' }, { ...SILENT, last_at: before(300) }],
      'LAB (LAB / HOSP) has been silent for 5 h',
    ],
    [
      'a key that somebody has disabled and its sender does not know',
      [{ status: 'disabled', refusals: 7 }],
      'LAB is disabled and still tries',
    ],
    [
      'many',
      Array.from({ length: 9 }, (_, n) => ({ client_id: `svc-${n}`, name: `S${n}`, late_refused: 1 })),
      '1 message of S0 was refused; 1 message of S1 was refused; 1 message of S2 was refused; 1 message of S3 was refused; and 5 more',
    ],
    [
      'more keys than are looked at',
      Array.from({ length: 301 }, (_, n) => ({ client_id: `svc-${n}`, name: `S${n}` })),
      'All feeds are as usual, among the first 300 API keys by name',
    ],
    [
      'nothing but what is new',
      [{ weeks_hour: null, days_hour: null, weeks_gap: null, days_gap: null }],
      'Nothing is wrong that is known of',
    ],
  ])('%s', (_, rows, expected) => {
    expect(sentence(...rows)).toBe(expected);
  });

  test('a sidecar that does not call comes before the silence that it explains', () => {
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

  test('the alert of a key with a rule is its silence, until a message has come', () => {
    const alert: AlertRow = {
      alert_id: '0192f0c1-0000-7000-8000-000000000000',
      kind: 'feed-silent',
      subject: 'svc-lab',
      key_name: 'LAB',
      opened_at: before(1),
      place: before(1),
      clear_since: null,
      resolved_at: null,
      times: 1,
      acknowledged_at: null,
      acknowledged_by: null,
      is_muted: false,
      muted_until: null,
      muted_by: null,
      last_answer: null,
      attempts: null,
      delivered_at: null,
      given_up_at: null,
    };
    const verdict = (...alerts: AlertRow[]) =>
      viewFeeds([{ ...ROW, watched: true }], alerts, [], NOW, true).feeds[0]?.senders[0]?.verdict;
    expect([verdict(alert), verdict({ ...alert, clear_since: before(0) }), verdict()]).toEqual([
      'silent',
      'usual',
      'usual',
    ]);
  });
});

test('whoever may not see the log of requests is told how many, not why', () => {
  const fault = {
    refusals: 3,
    fault_reason: 'PID-3 missing',
    fault_code: '101',
    fault_surface: 'mllp',
    fault_at: before(1),
  } as const;
  const told = (may: boolean) => viewFeeds([{ ...ROW, ...fault }], [], [], NOW, may).feeds[0];
  expect([told(true)?.fault?.reason, told(false)?.fault, told(false)?.refusals]).toEqual(['PID-3 missing', null, 3]);
});
