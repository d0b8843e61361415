/** Rejected and failed requests of keys, for the log (migrations/functions/refusals_note.sql). */
import type { Query } from '../deps.ts';
import { sql } from './sql.ts';
import type { UsageSurface } from './usage.ts';

/** Requests of one reason. */
export interface Refusal {
  readonly clientId: string;
  readonly surface: UsageSurface;
  /** The HTTP status; over MLLP MSA-1 of the ACK. */
  readonly answer: `${number}` | 'AE' | 'AR';
  /** The check that rejected (edge/refusals.ts), an R4 IssueType, an OAuth error, or a code of table 0357. It never changes. */
  readonly code: string;
  /** A text. It may quote a token request, so pages escape it. Empty if the code has too many reasons. */
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
