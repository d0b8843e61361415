/**
 * What the workbench and replay need of the other slices. They are passed in where the application is put together, so
 * that this slice imports none of them.
 */
import type { Issue } from '../../../shared/fault.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { Json, JsonObject } from '../../../shared/json.ts';
import type { AssertionExplanation } from '../../assertion-explanation.ts';

/** Whether a message was accepted, and what it made. */
export interface DryRunResult {
  readonly outcome: 'AA' | 'AE' | 'AR';
  readonly ack: Uint8Array | null;
  readonly findings: readonly AckError[];
  readonly resources: readonly JsonObject[];
}

export interface Workbench {
  /** Checks an assertion as if it came now, for a key of the site; nothing is used up. */
  explainAssertion(site: string, assertion: string): Promise<AssertionExplanation>;
  /** Runs a message as if the key had sent it now; nothing is stored. @throws Fault `not-found` for another site's key */
  dryRun(
    key: { readonly site: string; readonly clientId: string },
    bytes: Uint8Array,
    requestId: string,
  ): Promise<DryRunResult>;
  /** Maps a stored message again; the attempt names the actor. @throws Fault `not-found` */
  replay(
    site: string,
    messageId: string,
    actor: string,
    requestId: string,
  ): Promise<{ readonly outcome: 'AA' | 'AE' | 'AR'; readonly ack: Uint8Array | null }>;
  /** Every fault of a FHIR resource, each at its place. */
  validate(resource: Json): readonly Issue[];
}
