/**
 * The connections of each source, as the sidecar reports them to the edge (shared/mllp-contract.ts). Closed connections that
 * are alike count as one record in each quarter of an hour. So a sender with a connection for each message needs few records.
 */
import { randomUUID } from 'node:crypto';

import {
  MAX_CONNECTION_RECORDS,
  MAX_SENDER_LENGTH,
  MAX_SENDERS,
  type ConnectionRecord,
  type ConnectionReport,
} from '../shared/mllp-contract.ts';
import type { CloseReason } from './metrics.ts';
import type { PeerIdentity } from './token.ts';

/** An open connection. */
export interface Recorded {
  /** Records which key the edge selected for a message. @param sender the edge's `MLLP_SENDER_HEADER` */
  sentFor(sender: string): void;
  close(reason: CloseReason): void;
}

export interface ConnectionHistory {
  open(peer: PeerIdentity): Recorded;
  /** Records a connection that was closed before its first frame could be read. */
  refused(address: string, reason: CloseReason): void;
  /** @returns the report, and `sent` to call after the edge has stored it */
  report(): { readonly report: ConnectionReport; readonly hasNews: boolean; readonly sent: () => void };
}

const QUARTER_MS = 15 * 60_000;
/** Strangers must not displace the records of senders. */
const MAX_CLOSED = 2_000;
const MAX_CLOSED_OF_STRANGERS = 500;

interface Open {
  readonly id: string;
  readonly peer: PeerIdentity;
  readonly openedAt: number;
  readonly senders: Set<string>;
}

interface Closed {
  record: ConnectionRecord;
  /** False after the edge has stored it as it is. */
  isNew: boolean;
}

const sorted = (texts: Iterable<string>): string[] => [...texts].toSorted((one, other) => one.localeCompare(other));

const sourceOf = ({ address, tlsSubject = '' }: PeerIdentity): string => `${address} ${tlsSubject}`;

/** @param isTls true if the port speaks TLS */
export function createConnectionHistory(isTls: boolean, now: () => number = Date.now): ConnectionHistory {
  const run = randomUUID();
  /** In the order of their opening. */
  const open = new Set<Open>();
  const closed = new Map<string, Closed>();
  let strangers = 0;
  /** The open connections as they were last stored. */
  let storedOpen = '';

  const isStranger = ({ senders }: Pick<ConnectionRecord, 'senders'>): boolean => senders.length === 0;
  const quarterOf = (at: number): number => Math.floor(at / QUARTER_MS);

  /** Forgets what is stored and can no longer grow. */
  const tidy = (): void => {
    for (const [key, { record, isNew }] of closed) {
      if (isNew || quarterOf(record.closedAt ?? 0) === quarterOf(now())) continue;
      closed.delete(key);
      if (isStranger(record)) strangers -= 1;
    }
  };

  const add = ({ peer, openedAt, senders }: Omit<Open, 'id'>, reason: CloseReason): void => {
    const closedAt = now();
    const named = sorted(senders);
    const key = JSON.stringify([sourceOf(peer), named, reason, quarterOf(closedAt)]);
    const known = closed.get(key);
    if (known !== undefined) {
      known.record = { ...known.record, closedAt, connections: known.record.connections + 1 };
      known.isNew = true;
      return;
    }
    const isOfStranger = isStranger({ senders: named });
    if (closed.size >= MAX_CLOSED || (isOfStranger && strangers >= MAX_CLOSED_OF_STRANGERS)) return;
    if (isOfStranger) strangers += 1;
    const record = { ...recordOf(randomUUID(), peer, openedAt, named, 1), closedAt, reason };
    closed.set(key, { record, isNew: true });
  };

  const recordOf = (
    id: string,
    { address, tlsSubject }: PeerIdentity,
    openedAt: number,
    senders: string[],
    connections: number,
  ): ConnectionRecord => ({
    id,
    src: address,
    isTls,
    ...(tlsSubject === undefined ? {} : { tls: tlsSubject }),
    senders,
    openedAt,
    closedAt: null,
    reason: null,
    connections,
  });

  /** One record for each source, which begins with its oldest connection. */
  const openRecords = (): ConnectionRecord[] =>
    [...Map.groupBy(open, ({ peer }) => sourceOf(peer)).values()].slice(0, MAX_CONNECTION_RECORDS).flatMap((of) => {
      const [first] = of;
      if (first === undefined) return [];
      const senders = sorted(new Set(of.flatMap((one) => [...one.senders]))).slice(0, MAX_SENDERS);
      return [recordOf(first.id, first.peer, first.openedAt, senders, of.length)];
    });

  return {
    open(peer) {
      const entry: Open = { id: randomUUID(), peer, openedAt: now(), senders: new Set() };
      open.add(entry);
      return {
        sentFor(sender) {
          if (entry.senders.size < MAX_SENDERS && sender.length <= MAX_SENDER_LENGTH) entry.senders.add(sender);
        },
        close(reason) {
          if (open.delete(entry)) add(entry, reason);
        },
      };
    },
    refused(address, reason) {
      add({ peer: { address }, openedAt: now(), senders: new Set() }, reason);
    },
    report() {
      tidy();
      const news = [...closed.values()].filter(({ isNew }) => isNew).slice(0, MAX_CONNECTION_RECORDS);
      const sentRecords = news.map(({ record }) => record);
      const opened = openRecords();
      const openText = JSON.stringify(opened);
      return {
        report: { run, open: opened, closed: sentRecords },
        hasNews: news.length > 0 || openText !== storedOpen,
        sent() {
          storedOpen = openText;
          // A record that has grown meanwhile is another object, and is sent again.
          for (const [at, entry] of news.entries()) if (entry.record === sentRecords[at]) entry.isNew = false;
        },
      };
    },
  };
}
