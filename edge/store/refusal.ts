/**
 * Why a token request or an MLLP message was refused, kept for the administrator of the key: as long as the site says, the newest 500 of
 * each key (migration 0002). Nothing is kept for a client id that no key has.
 */
import type { Query } from '../deps.ts';
import type { MllpRefusalCode, RefusalCode } from '../refusals.ts';
import { sql } from './sql.ts';

export interface RefusalRecord {
  /** UUIDv7: refusals of a key are listed and trimmed in its order. */
  readonly id: string;
  readonly clientId: string;
  readonly surface: 'token' | 'mllp';
  readonly requestId: string;
  readonly sourceAddress: string;
  /** Stable: which check refused. */
  readonly code: RefusalCode | MllpRefusalCode;
  /** The exact reason in words; may quote what the caller sent, so it is escaped where it is shown. */
  readonly reason: string;
}

export function recordRefusal(refusal: RefusalRecord): Query {
  const { id, clientId, surface, requestId, sourceAddress, code, reason } = refusal;
  return sql`select refusal_add(${clientId}, ${id}::uuid, ${surface}, ${requestId}, ${sourceAddress}, ${code}, ${reason})`;
}

export interface RefusalRow {
  readonly refusal_id: string;
  readonly at: string;
  readonly surface: 'token' | 'mllp';
  readonly request_id: string;
  readonly source_address: string;
  readonly code: string;
  readonly reason: string;
}
