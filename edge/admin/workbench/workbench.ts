/** The functions of the other slices for the workbench. edge/workbench.ts passes them in, because no slice imports another. */
import type { Issue } from '../../../shared/fault.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { Json, JsonObject } from '../../../shared/json.ts';
import type { AssertionExplanation } from '../../assertion-explanation.ts';
import type { Database } from '../../deps.ts';
import type { MergeUndo } from '../merges/merges.ts';
import type { MessageReplay, ResourceDifference, RuleChange } from '../messages/message-replay.ts';
import type { Notifications } from '../subscriptions/notifications.ts';

export interface DryRunResult {
  readonly outcome: 'AA' | 'AE' | 'AR';
  readonly ack: Uint8Array | null;
  readonly findings: readonly AckError[];
  readonly resources: readonly JsonObject[];
  /** Changes to stored resources; null for a message that the key has never sent. */
  readonly changes: readonly ResourceDifference[] | null;
  readonly ruleChanges: readonly RuleChange[];
}

/** Each function uses the database with the rights of its caller. */
export interface Workbench extends MessageReplay, MergeUndo, Notifications {
  /** Checks an assertion of a key of the site; its `jti` stays unused. */
  explainAssertion(database: Database, site: string, assertion: string): Promise<AssertionExplanation>;
  /**
   * Runs a message as if the key had sent it now; nothing is stored. The live rules of the key count, or their draft.
   *
   * @throws Fault `not-found` for another site's key
   */
  dryRun(
    database: Database,
    key: { readonly site: string; readonly clientId: string },
    bytes: Uint8Array,
    requestId: string,
    which: 'live' | 'draft',
  ): Promise<DryRunResult>;
  /** Every fault of a FHIR resource, each at its place. */
  validate(resource: Json): readonly Issue[];
}
