/** Writes the changes of a site's file in one transaction (migrations/functions/site_apply.sql). */
import type { Query } from '../deps.ts';
import type { SenderRule } from '../members/sender-rules.ts';
import { MAX_SYSTEMS, MAX_TABLES, type NumberedRow, rowsOf } from './admin-code-table.ts';
import { type AuditActor, auditEntry } from './audit.ts';
import type { SiteAddress } from './site-address.ts';
import { sql } from './sql.ts';
import { MAX_SUBSCRIPTIONS_OF_KEY, type SubscriptionRecord } from './subscription.ts';

export type SiteFileWrite =
  | { readonly kind: 'settings'; readonly expected: readonly number[]; readonly record: object }
  | ({ readonly kind: 'address' } & SiteAddress)
  | {
      readonly kind: 'api-key';
      readonly clientId: string;
      /** Null to create. */
      readonly expected: readonly number[] | null;
      readonly record: object;
      /** Thumbprints, as `KeyWrite` has them. */
      readonly owned: readonly string[] | null;
      readonly foreign: readonly string[];
      /** Client IDs that may have the name of a new key. */
      readonly known: readonly string[];
    }
  | {
      readonly kind: 'subscription';
      readonly id: string;
      readonly clientId: string;
      /** Names the API key in the fingerprint: a new one by its name, another by its Client ID. */
      readonly key: string;
      /** Null to create. */
      readonly expected: number | null;
      /** Null if more than the delivery changes. */
      readonly change: 'pause' | 'resume' | null;
      readonly record: SubscriptionRecord;
      /** Ids of subscriptions that may equal a new one. */
      readonly known: readonly string[];
    }
  | {
      readonly kind: 'rules';
      readonly clientId: string;
      /** As of a subscription. */
      readonly key: string;
      /** The live version; null for none. */
      readonly expected: number | null;
      /** Null to switch the rules off. */
      readonly rules: readonly SenderRule[] | null;
    }
  | {
      readonly kind: 'code-table';
      readonly id: string;
      readonly name: string;
      readonly isNew: boolean;
      /** The live version; null for none. */
      readonly expected: number | null;
      /** A new id for the rows. */
      readonly content: string;
      /** Null to switch the table off, or to make one without a version. */
      readonly rows: readonly NumberedRow[] | null;
      /** Identifies the rows in the fingerprint of the plan. */
      readonly digest: string;
    };

/** As the function reads it. */
function changeOf(write: SiteFileWrite, comment: string): object {
  switch (write.kind) {
    case 'subscription':
      return { ...write, limit: MAX_SUBSCRIPTIONS_OF_KEY };
    case 'rules':
      return { ...write, comment };
    case 'code-table': {
      const rows = write.rows === null ? null : rowsOf(write.rows);
      return { ...write, rows, comment, maxTables: MAX_TABLES, maxSystems: MAX_SYSTEMS };
    }
    default:
      return write;
  }
}

/** @param comment stored with new versions of rules and code tables */
export function applySiteFile(
  site: string,
  by: string,
  actor: AuditActor,
  writes: readonly SiteFileWrite[],
  comment: string,
): Query<{ readonly applied: number }> {
  const changes = writes.map((write) => changeOf(write, comment));
  const entry = JSON.stringify(auditEntry(actor, { action: null, searched: null }));
  return sql`select site_apply(${site}::uuid, ${by}, ${entry}::json, ${JSON.stringify(changes)}::json) as applied`;
}
