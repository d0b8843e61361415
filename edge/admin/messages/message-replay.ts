/** The functions of the HL7 slice for replays. edge/workbench.ts passes them in, because no slice imports another. */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { AuditBy } from '../../store/audit.ts';
import type { Database } from '../../deps.ts';

export interface ResourceDifference {
  /** `Observation/…`; of a resource that would be created its type alone. */
  readonly reference: string;
  readonly change: 'created' | 'changed' | 'unchanged';
  /** JSON before and after; null where the element is absent. */
  readonly elements: readonly {
    readonly element: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
}

export interface ReplayPreview {
  readonly outcome: 'AA' | 'AE' | 'AR';
  readonly ack: Uint8Array | null;
  readonly findings: readonly AckError[];
  readonly changes: readonly ResourceDifference[];
  readonly merges: readonly { readonly from: string; readonly to: string }[];
  /** The further changes of a forced replay. */
  readonly stale: readonly ResourceDifference[];
  /** The version of the key's rules by which it would be read; null without rules. */
  readonly rulesVersion: number | null;
}

/** A field of a message that a rule of its key changed. */
export interface RuleChange {
  /** The position of the rule, from 1. */
  readonly rule: number;
  /** In the message as sent, as ERR-2: `PID^1^8`. */
  readonly at: string;
  readonly before: string;
  readonly after: string;
}

export interface MessageReplay {
  /** The fields of a stored message that a version of its key's rules changed. @throws Fault `not-found`, `conflict` */
  ruleChanges(
    database: Database,
    site: string,
    messageId: string,
    version: number,
    requestId: string,
  ): Promise<readonly RuleChange[]>;
  /** The changes of a replay, with the live rules of its key or their draft. @throws Fault `not-found` */
  previewReplay(
    database: Database,
    site: string,
    messageId: string,
    requestId: string,
    which?: 'live' | 'draft',
  ): Promise<ReplayPreview>;
  /** Maps a stored message again. Newer data stays unless the replay is forced. @throws Fault `not-found` */
  replay(
    database: Database,
    site: string,
    messageId: string,
    asked: { readonly author: string; readonly comment: string; readonly by: AuditBy; readonly isForced: boolean },
    requestId: string,
  ): Promise<{ readonly outcome: 'AA' | 'AE' | 'AR'; readonly ack: Uint8Array | null }>;
}
