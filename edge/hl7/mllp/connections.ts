/** The owners of a connection: which key and sender its messages had (shared/mllp-contract.ts, MLLP_SENDER_HEADER). */
import * as z from 'zod';

import { senderText } from '../../../shared/hl7/sender-text.ts';
import { type ConnectionReport, MAX_SENDER_LENGTH } from '../../../shared/mllp-contract.ts';
import type { OwnedConnections } from '../../store/sidecar.ts';

interface MessageSender {
  readonly site: string;
  readonly clientId: string;
  /** MSH-3 and MSH-4. */
  readonly application: string;
  readonly facility: string;
}

/** The value of MLLP_SENDER_HEADER. Names that are too long for it are omitted. */
export function senderValue({ site, clientId, application, facility }: MessageSender): string {
  const valueOf = (...names: string[]): string => [site, clientId, ...names].map(encodeURIComponent).join('/');
  const value = valueOf(application, facility);
  return value.length <= MAX_SENDER_LENGTH ? value : valueOf('', '');
}

const senderParts = z.tuple([z.uuid(), z.string().min(1), z.string(), z.string()]);

function readSender(value: string): MessageSender | undefined {
  try {
    const { data } = senderParts.safeParse(value.split('/').map(decodeURIComponent));
    if (data === undefined) return undefined;
    const [site, clientId, application, facility] = data;
    return { site, clientId, application, facility };
  } catch {
    // Not a value of this gateway.
    return undefined;
  }
}

/** All records of a report, each with the keys of its messages. */
export function ownedConnections({ open, closed }: ConnectionReport): OwnedConnections[] {
  return [...open, ...closed].map(({ senders, ...record }) => {
    const ofKeys = Map.groupBy(
      senders.flatMap((value) => readSender(value) ?? []),
      ({ site, clientId }) => `${site} ${clientId}`,
    );
    const owners = [...ofKeys.values()].flatMap((of) => {
      const [first] = of;
      if (first === undefined) return [];
      const names = of.map(senderText);
      const named = [...new Set(names)].filter((name) => name !== '');
      return [{ site: first.site, clientId: first.clientId, senders: named }];
    });
    return { ...record, owners };
  });
}
