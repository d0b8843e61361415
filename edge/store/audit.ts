/**
 * The audit (edge/docs/behaviour.md, Audit): one row for each access, in its transaction. The statements of a request note what
 * they read or write (`audit_note`), and its last one writes the row (`audit_add`); both in migrations/functions.
 */
import type { AuditAction } from '../audit-actions.ts';
import type { Database, Query, Results } from '../deps.ts';
import { sql } from './sql.ts';

/** The actor of an access. */
export interface AuditActor {
  readonly kind: 'key' | 'person' | 'sidecar' | 'operator' | 'gateway';
  /** A person by the provider's `sub`; null for a key, which `clientId` names, and for the gateway. */
  readonly name: string | null;
  /** The API key that asks. */
  readonly clientId: string | null;
  /** The source address of the request, or null without an address. */
  readonly address: string | null;
  readonly requestId: string;
}

/** An actor without the facts of a request. */
export type AuditBy = Pick<AuditActor, 'kind' | 'name' | 'address'>;

/** The data of a request for the audit, beside the items that its statements note. */
export interface AuditedRequest {
  /** Null: the action of the noted items, which all have the same one. */
  readonly action: AuditAction | null;
  /** The names of a search's parameters, never values. A search is an access even if it found nothing. Null: no search. */
  readonly searched: readonly string[] | null;
}

/** The last statement of a request: its row, or none where no data was reached. */
export function addAudit(site: string, actor: AuditActor, request: AuditedRequest): Query {
  const entry = JSON.stringify(auditEntry(actor, request));
  return { ...sql`select audit_add(${site}::uuid, ${entry}::json)`, notes: true };
}

/** The argument of `audit_add`, for functions that write the row themselves (`hl7_store`). */
export const auditEntry = (
  { kind, name, clientId, address, requestId }: AuditActor,
  { action, searched }: AuditedRequest,
) => ({ actorKind: kind, actor: name, clientId, address, requestId, action, searched });

/**
 * Wraps a database so that each of its statements is audited separately. Every round trip that reaches data leaves its
 * audit row, for the statements of all modules.
 */
export const audited = (database: Database, site: string, actor: AuditActor): Database => {
  const row = addAudit(site, actor, { action: null, searched: null });
  return {
    async run(query, limits) {
      const [rows] = await database.batch([query, row] as const, limits);
      return rows;
    },
    async batch(queries, limits) {
      const results = await database.batch([...queries, row] as const, limits);
      // The rows are those of these queries, in their order, without the last.
      return results.slice(0, -1) as unknown as Results<typeof queries>;
    },
  };
};

/** Notes an item that is not a resource: a message, an API key, a site. */
export const noteAudit = (action: AuditAction, type: AuditedThing, id: string): Query => ({
  ...sql`select audit_note(array[row(${action}, ${type}, ${id}::uuid, null)::audit_item])`,
  notes: true,
});

/** The kinds of items with a separate audit row, beside resources. */
export type AuditedThing = 'Hl7Message' | 'Patient' | 'Site';

/** The action that a reading statement notes for each row; `resource_write` notes writes. */
export type ReadAction = Extract<AuditAction, 'read' | 'search' | 'history'>;

/** SQL: the item for `audit_note` of a row with type, id and patient_id. */
export const auditItem = (action: AuditAction, alias: string): string =>
  `row('${action}', ${alias}.type, ${alias}.id, ${alias}.patient_id)::audit_item`;
