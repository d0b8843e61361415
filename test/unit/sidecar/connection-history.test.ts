/** The connections that a sidecar reports: which are one record, what is sent again, and how many it remembers. */
import { expect, test } from 'vitest';

import { CLOSE_REASONS as SHOWN } from '../../../edge/admin/feeds/connections.ts';
import { createConnectionHistory } from '../../../sidecar/connection-history.ts';
import { CLOSE_REASONS } from '../../../sidecar/metrics.ts';

const MINUTE = 60_000;
/** The beginning of a quarter of an hour. */
const BEGIN = 900_000 * 2_000_000;

function setUp(isTls = false) {
  const clock = { now: BEGIN };
  const history = createConnectionHistory(isTls, () => clock.now);
  /** Reports, and the edge stores it. */
  const stored = () => {
    const { report, sent } = history.report();
    sent();
    return report;
  };
  return { clock, history, stored };
}

test('open connections of a source are one record, since the oldest', () => {
  const { clock, history, stored } = setUp(true);
  const first = history.open({ address: '10.0.0.1', tlsSubject: 'CN=lab' });
  clock.now += MINUTE;
  history.open({ address: '10.0.0.1', tlsSubject: 'CN=lab' }).sentFor('key');
  history.open({ address: '10.0.0.2' });
  expect(stored().open).toMatchObject([
    { src: '10.0.0.1', isTls: true, tls: 'CN=lab', connections: 2, openedAt: BEGIN, closedAt: null, senders: ['key'] },
    { src: '10.0.0.2', connections: 1, openedAt: BEGIN + MINUTE },
  ]);
  first.close('sender-closed');
  first.close('connection-lost');
  const { open, closed } = stored();
  expect(open[0]).toMatchObject({ connections: 1, openedAt: BEGIN + MINUTE });
  expect(closed).toMatchObject([{ src: '10.0.0.1', openedAt: BEGIN, connections: 1, reason: 'sender-closed' }]);
});

test('connections that close alike within a quarter of an hour are one record, which is sent again when it grows', () => {
  const { clock, history, stored } = setUp();
  const once = (reason: (typeof CLOSE_REASONS)[number]) => {
    const connection = history.open({ address: '10.0.0.1' });
    connection.sentFor('key');
    connection.close(reason);
  };
  for (let n = 0; n < 3; n += 1) once('sender-closed');
  once('idle-timeout');
  const first = stored().closed;
  expect(first.map(({ reason, connections }) => [reason, connections])).toEqual([
    ['sender-closed', 3],
    ['idle-timeout', 1],
  ]);
  expect(stored().closed).toEqual([]);
  expect(history.report().hasNews).toBe(false);
  once('sender-closed');
  expect(stored().closed).toMatchObject([{ id: first[0]?.id, connections: 4 }]);
  clock.now += 15 * MINUTE;
  once('sender-closed');
  expect(stored().closed).toMatchObject([{ connections: 1 }]);
});

test('a report that the edge did not store is sent again, and a record that grows meanwhile too', () => {
  const { history } = setUp();
  history.refused('10.0.0.1', 'tls-handshake');
  const { report, sent } = history.report();
  history.refused('10.0.0.1', 'tls-handshake');
  sent();
  expect(history.report().report.closed).toMatchObject([{ id: report.closed[0]?.id, connections: 2 }]);
});

test('strangers do not displace the records of senders', () => {
  const { history } = setUp();
  for (let n = 0; n < 3_000; n += 1) history.refused(`10.1.${n >> 8}.${n & 255}`, 'address-not-allowed');
  const connection = history.open({ address: '10.0.0.1' });
  connection.sentFor('key');
  connection.close('sender-closed');
  const reported: string[] = [];
  for (let n = 0; n < 9; n += 1) {
    const { report, sent } = history.report();
    sent();
    reported.push(...report.closed.map(({ src }) => src));
  }
  expect(reported).toHaveLength(501);
  expect(reported).toContain('10.0.0.1');
});

test('the console has a text for each reason, and for no other', () => {
  const concluded = ['sidecar-stopped', 'sidecar-silent'];
  expect(Object.keys(SHOWN).toSorted()).toEqual([...CLOSE_REASONS, ...concluded].toSorted());
});
