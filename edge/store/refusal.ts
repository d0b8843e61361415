/** Refused and failed requests of keys, as the log takes them (migrations/functions/refusals_note.sql). */
import type { Query } from '../deps.ts';
import { sql } from './sql.ts';
import type { UsageSurface } from './usage.ts';

/** Requests of one reason. */
export interface Refusal {
  readonly clientId: string;
  readonly surface: UsageSurface;
  /** The HTTP status; over MLLP MSA-1 of the ACK. */
  readonly answer: `${number}` | 'AE' | 'AR';
  /** Stable: which check refused (edge/refusals.ts), an R4 IssueType, an OAuth error, a code of table 0357. */
  readonly code: string;
  /** In words; may quote what a token request sent, so it is escaped where it is shown. Empty: too many others. */
  readonly reason: string;
  readonly requests: number;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** The newest first, `MAX_REQUEST_IDS` at most. */
  readonly requestIds: readonly string[];
  /** The source address of the last request. */
  readonly sourceAddress: string;
}

/** Maximum stored ids for a reason, key, surface and quarter of an hour (migrations/functions/refusals_note.sql). */
export const MAX_REQUEST_IDS = 100;

export const noteRefusals = (refusals: readonly Refusal[]): Query =>
  sql`select refusals_note(${JSON.stringify(refusals)}::json)`;
