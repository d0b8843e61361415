/**
 * What the workbench and replay need of the other slices. They are passed in where the application is put together, so
 * that this slice imports none of them.
 */
import type { Issue } from '../../../shared/fault.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { Json, JsonObject } from '../../../shared/json.ts';
import type { AuditBy } from '../../store/audit.ts';
import type { AssertionExplanation } from '../../assertion-explanation.ts';
import type { Database } from '../../deps.ts';

/** Whether a message was accepted, and what it made. */
export interface DryRunResult {
  readonly outcome: 'AA' | 'AE' | 'AR';
  readonly ack: Uint8Array | null;
  readonly findings: readonly AckError[];
  readonly resources: readonly JsonObject[];
  /** What would change of what is stored; null for a message that the key has never sent. */
  readonly changes: readonly ResourceDifferenceResult[] | null;
}

export interface ResourceDifferenceResult {
  /** `Observation/…`; of one that would be created the type alone. */
  readonly reference: string;
  readonly change: 'created' | 'changed' | 'unchanged';
  /** JSON before and after; null where there is none. */
  readonly elements: readonly {
    readonly element: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
}

/** What a replay would do, and what else if it were forced. */
export interface ReplayPreviewResult {
  readonly outcome: 'AA' | 'AE' | 'AR';
  readonly ack: Uint8Array | null;
  readonly findings: readonly AckError[];
  readonly changes: readonly ResourceDifferenceResult[];
  readonly merges: readonly { readonly from: string; readonly to: string }[];
  readonly stale: readonly ResourceDifferenceResult[];
}

/** Each is given the database as the caller may use it. */
export interface Workbench {
  /** Checks an assertion as if it came now, for a key of the site; nothing is used up. */
  explainAssertion(database: Database, site: string, assertion: string): Promise<AssertionExplanation>;
  /** Runs a message as if the key had sent it now; nothing is stored. @throws Fault `not-found` for another site's key */
  dryRun(
    database: Database,
    key: { readonly site: string; readonly clientId: string },
    bytes: Uint8Array,
    requestId: string,
  ): Promise<DryRunResult>;
  /** What a replay would change. @throws Fault `not-found` */
  previewReplay(database: Database, site: string, messageId: string, requestId: string): Promise<ReplayPreviewResult>;
  /** Maps a stored message again; what newer messages said stays, unless it is forced. @throws Fault `not-found` */
  replay(
    database: Database,
    site: string,
    messageId: string,
    asked: { readonly author: string; readonly comment: string; readonly by: AuditBy; readonly isForced: boolean },
    requestId: string,
  ): Promise<{ readonly outcome: 'AA' | 'AE' | 'AR'; readonly ack: Uint8Array | null }>;
  /** Every fault of a FHIR resource, each at its place. */
  validate(resource: Json): readonly Issue[];
}
