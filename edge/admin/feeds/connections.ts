/** The connections of MLLP senders, as the feeds and the JSON API show them. */
import * as z from 'zod';

import type { Database } from '../../deps.ts';
import { inSite } from '../../store/in-site.ts';
import { type ConnectionRow, connectionsOf, type SourceRow } from '../../store/mllp-connection.ts';
import { noSuchKey } from '../keys/keys.ts';
import { readKey } from '../keys/statements.ts';

/** Why connections end (sidecar/metrics.ts, CLOSE_REASONS), and two that the gateway concludes. A test compares the lists. */
export const CLOSE_REASONS: Readonly<Record<string, string>> = {
  'sender-closed': 'the sender closed it',
  'connection-lost': 'the network or the sender broke it off',
  'sender-unknown': 'no API key fits its message',
  'address-not-allowed': 'no API key allows the address',
  'tls-handshake': 'the TLS handshake failed: check the certificates',
  'tls-on-plain-port': 'the sender speaks TLS, the port does not',
  'opening-timeout': 'the sender did not complete the TLS handshake in time',
  http: 'the sender speaks HTTP, not MLLP',
  junk: 'too many bytes outside of MLLP frames',
  'frame-timeout': 'a message was not complete in time',
  'too-many-unfinished-frames': 'too many messages of the address were incomplete',
  'idle-timeout': 'no message for too long',
  'no-first-frame': 'no message in time, while connections were scarce',
  'gave-way': 'it was idle, and another sender needed the place',
  'too-many-connections': 'all connections were in use',
  'too-many-connections-of-address': 'the address had too many connections',
  'ack-not-taken': 'the sender did not read its ACK',
  'edge-unavailable': 'the gateway was unavailable, so no ACK was sent',
  memory: 'the waiting messages needed too much memory',
  'proxy-header-missing': 'the PROXY header of the balancer is missing',
  'proxy-header-invalid': 'the PROXY header of the balancer is invalid',
  'proxy-header-unexpected': 'an address that is not a balancer sent a PROXY header',
  'balancer-check': 'a balancer checked the port',
  'internal-error': 'an error of the sidecar',
  'shutting-down': 'the sidecar was stopped',
  'sidecar-stopped': 'the sidecar ended without a report',
  'sidecar-silent': 'the sidecar reports no more, so the state is unknown',
};

/** @param reason as any release of the sidecar reports it */
export const closeReason = (reason: string): string => CLOSE_REASONS[reason] ?? reason;

/** How a connection is protected, in a few words. */
export const securityOf = ({
  isTls,
  tlsSubject,
}: {
  readonly isTls: boolean;
  readonly tlsSubject: string | null;
}): string => (isTls ? (tlsSubject === null ? 'TLS' : `TLS, certificate ${tlsSubject}`) : 'without TLS');

const instant = z.iso.datetime();
const count = z.number().int();

const peer = {
  sourceAddress: z.string(),
  sidecar: z.string(),
  isTls: z.boolean(),
  tlsSubject: z.string().nullable().meta({ description: 'Subject of the sender’s certificate; null without one.' }),
  senders: z.array(z.string()).meta({ description: 'MSH-3 and MSH-4 of its messages, ten at most.' }),
};

export const sourceItem = z.object({
  ...peer,
  open: count.meta({ description: 'Open connections.' }),
  openSince: instant.nullable().meta({ description: 'When the oldest of them was opened.' }),
  lastClosedAt: instant.nullable(),
  lastReason: z.string().nullable().meta({ description: 'Why the last closed connection ended.' }),
});
export type Source = z.infer<typeof sourceItem>;

const connectionItem = z.object({
  ...peer,
  hasSent: z.boolean().meta({ description: 'False: it carried no message, and its address has sent for this key.' }),
  connections: count,
  openedAt: instant.meta({ description: 'The opening of the first of these connections.' }),
  closedAt: instant.nullable().meta({ description: 'The end of the last one; null while open.' }),
  reason: z.string().nullable(),
});
export type ConnectionItem = z.infer<typeof connectionItem>;
export const connectionHistory = z.object({ connections: z.array(connectionItem) });

const viewPeer = (row: Pick<SourceRow, 'source_address' | 'sidecar' | 'is_tls' | 'tls_subject' | 'senders'>) => ({
  sourceAddress: row.source_address,
  sidecar: row.sidecar,
  isTls: row.is_tls,
  tlsSubject: row.tls_subject === '' ? null : row.tls_subject,
  senders: [...row.senders],
});

export const viewSource = (row: SourceRow): Source => ({
  ...viewPeer(row),
  open: row.open,
  openSince: row.open_since,
  lastClosedAt: row.closed_at,
  lastReason: row.reason,
});

const viewConnection = (row: ConnectionRow): ConnectionItem => ({
  ...viewPeer(row),
  hasSent: row.has_sent,
  connections: row.connections,
  openedAt: row.opened_at,
  closedAt: row.closed_at,
  reason: row.reason,
});

/** The connections of a key in the last 24 hours. @throws Fault `not-found` */
export async function readConnections(
  database: Database,
  site: string,
  clientId: string,
): Promise<{ readonly name: string; readonly connections: ConnectionItem[] }> {
  const [[key], rows] = await inSite(database, site).batch([readKey(site, clientId), connectionsOf(site, clientId)]);
  if (key === undefined) throw noSuchKey();
  return { name: key.name, connections: rows.map(viewConnection) };
}
