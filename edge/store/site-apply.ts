/** Writes the changes of a site's file in one transaction (migrations/functions/site_apply.sql). */
import type { Query } from '../deps.ts';
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
    };

export function applySiteFile(
  site: string,
  by: string,
  actor: AuditActor,
  writes: readonly SiteFileWrite[],
): Query<{ readonly applied: number }> {
  const limit = MAX_SUBSCRIPTIONS_OF_KEY;
  const changes = writes.map((write) => (write.kind === 'subscription' ? { ...write, limit } : write));
  const entry = JSON.stringify(auditEntry(actor, { action: null, searched: null }));
  return sql`select site_apply(${site}::uuid, ${by}, ${entry}::json, ${JSON.stringify(changes)}::json) as applied`;
}
