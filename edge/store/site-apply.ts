/** Writes the changes of a site's file in one transaction (migrations/functions/site_apply.sql). */
import type { Query } from '../deps.ts';
import { type AuditActor, auditEntry } from './audit.ts';
import type { SiteAddress } from './site-address.ts';
import { sql } from './sql.ts';

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
    };

export function applySiteFile(
  site: string,
  by: string,
  actor: AuditActor,
  writes: readonly SiteFileWrite[],
): Query<{ readonly applied: number }> {
  const entry = JSON.stringify(auditEntry(actor, { action: null, searched: null }));
  return sql`select site_apply(${site}::uuid, ${by}, ${entry}::json, ${JSON.stringify(writes)}::json) as applied`;
}
