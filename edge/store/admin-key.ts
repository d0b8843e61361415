/**
 * API keys for their administrators: listed, read, written with their history. The table of members
 * (edge/members/api-key.ts) defines the columns of the record, from which these statements are made.
 */
import type { Query } from '../deps.ts';
import type { ChangeRow } from './change.ts';
import { instantOf, raw, read, sql } from './sql.ts';

export interface KeyVersion {
  readonly client_id: string;
  readonly version: number;
}

/** The columns of a row beside the members of the record. */
export interface StoredKey extends KeyVersion {
  /** The name as the list is ordered by it. */
  readonly name_key: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** When a request of this key was last refused or failed, if it was in the last 90 days. */
  readonly last_refusal: string | null;
  /** The time of the last activity, to a quarter of an hour; null if never. */
  readonly last_used: string | null;
  /**
   * Token requests that were granted since midnight at the site, and the requests over FHIR and HL7, rejected or not.
   */
  readonly tokens_today: number;
  readonly requests_today: number;
  readonly messages_today: number;
}

/** Orders of the list: the newest first, by name, the last used first. */
export const KEY_SORTS = ['created', 'name', 'used'] as const;
export type KeySort = (typeof KEY_SORTS)[number];

/** SQL of each sort order, with the comparison to the following keys; equal keys are ordered by their Client ID. */
const SORTS: Readonly<Record<KeySort, { readonly by: string; readonly type: string; readonly behind: '<' | '>' }>> = {
  created: { by: 'k.created_at', type: 'timestamptz', behind: '<' },
  name: { by: 'lower(k.name)', type: 'text', behind: '>' },
  used: { by: "coalesce(x.last_used, 'epoch')", type: 'timestamptz', behind: '<' },
};

export interface KeyFilter {
  /** Part of the name or of the Client ID, in any case; '' for all. */
  readonly text: string;
  readonly status: string;
  readonly protocol: string;
}

export interface KeyWrite<Row> {
  readonly site: string;
  readonly clientId: string;
  /** Null to create; else the versions that may be overwritten, none of them meaning any. */
  readonly expected: readonly number[] | null;
  /** The person's name: shown in the history. */
  readonly by: string;
  /** All members to create, those that change to update. */
  readonly record: Partial<Row>;
  /** RFC 7638 thumbprints of the inline JWKS, which from now on belong to this key; null leaves them as they are. */
  readonly ownedThumbprints: readonly string[] | null;
  /** Thumbprints of keys published at the JWKS URI: rejected when they belong to another key. */
  readonly foreignThumbprints: readonly string[];
}

export interface KeyWritten {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'missing' | 'version';
  readonly version: number;
}

/** The statements for a record with these columns. */
export function keyStatements<Row extends object>(columns: readonly (keyof Row & string)[]) {
  const selected = `k.client_id, ${columns.map((column) => `k.${column}`).join(', ')}, k.version, lower(k.name) as name_key,
      ${instantOf('k.created_at', 'microsecond')} as created_at,
      ${instantOf('k.updated_at', 'microsecond')} as updated_at,
      (select ${instantOf('r.last_at', 'microsecond')} from refusal r
        where r.site_id = k.site_id and r.client_id = k.client_id and r.since > now() - interval '90 days'
        order by r.since desc, r.last_at desc limit 1) as last_refusal,
      ${instantOf('x.last_used', 'microsecond')} as last_used, t.tokens_today, t.requests_today, t.messages_today`;
  // Each of these is the end of an index, or a day of one.
  const from = `api_key k join site s on s.site_id = k.site_id cross join lateral (
      select greatest(
          (select max(u.bucket) from key_usage u where u.site_id = k.site_id and u.client_id = k.client_id),
          (select max(i.last_at) from key_kid i where i.site_id = k.site_id and i.client_id = k.client_id),
          (select max(f.last_at) from feed f where f.site_id = k.site_id and f.client_id = k.client_id)) as last_used) x
    cross join lateral (
      select coalesce(sum(u.accepted) filter (where u.surface = 'token'), 0)::int as tokens_today,
          coalesce(sum(u.accepted + u.refused + u.rejected) filter (where u.surface = 'fhir'), 0)::int as requests_today,
          coalesce(sum(u.accepted + u.refused + u.rejected) filter (where u.surface in ('hl7', 'mllp')), 0)::int as messages_today
        from key_usage u
       where u.site_id = k.site_id and u.client_id = k.client_id
         and u.bucket >= date_trunc('day', now() at time zone coalesce(s.time_zone, 'UTC'))
                         at time zone coalesce(s.time_zone, 'UTC')) t`;

  return {
    readKey: (site: string, clientId: string): Query<StoredKey & Row> => ({
      text: `select ${selected} from ${from} where k.site_id = $1::uuid and k.client_id = $2`,
      params: [site, clientId],
      reads: true,
    }),

    /**
     * The keys of a site.
     *
     * @param after the last key's value in this order and its client_id, from the previous page; or null
     */
    listKeys: (
      site: string,
      filter: KeyFilter,
      after: readonly string[] | null,
      limit: number,
      sort: KeySort = 'created',
    ): Query<StoredKey & Row> => ({
      text: `select ${selected} from ${from}
     where k.site_id = $1::uuid
       and ($2 = '' or strpos(lower(k.name), lower($2)) > 0 or strpos(k.client_id, lower($2)) > 0)
       and ($3 = '' or k.status = $3) and ($4 = '' or $4 = any (k.protocols))
       and ($5::text is null or (${SORTS[sort].by}, k.client_id) ${SORTS[sort].behind} ($5::${SORTS[sort].type}, $6))
     order by ${SORTS[sort].by} ${SORTS[sort].behind === '<' ? 'desc' : 'asc'}, k.client_id ${SORTS[sort].behind === '<' ? 'desc' : 'asc'} limit $7::int`,
      params: [site, filter.text, filter.status, filter.protocol, after?.[0] ?? null, after?.[1] ?? '', limit],
      reads: true,
    }),

    /** The records of a site's keys with their versions, by name. */
    readRecords: (site: string, limit: number): Query<KeyVersion & Row> => ({
      text: `select k.client_id, k.version, ${columns.map((column) => `k.${column}`).join(', ')} from api_key k
     where k.site_id = $1::uuid order by lower(k.name), k.name, k.created_at, k.client_id limit $2::int`,
      params: [site, limit],
      reads: true,
    }),

    /**
     * Creates or changes a key (migrations/functions/api_key_write.sql). A public key that another API key has is a Fault
     * `conflict` with its position among the owned, then the foreign thumbprints.
     */
    writeKey: (write: KeyWrite<Row>): Query<KeyWritten> => {
      const expected = write.expected === null ? null : `{${write.expected.join(',')}}`;
      return sql<KeyWritten>`select outcome, version from api_key_write(${write.site}::uuid, ${write.clientId},
    ${expected}::integer[], ${write.by}, ${JSON.stringify(write.record)}::json, ${write.ownedThumbprints}::text[],
    ${write.foreignThumbprints}::text[])`;
    },
  };
}

export interface KeyConflictsRow {
  /** JSON: positions of the public keys that another API key has; null for none. */
  readonly foreign_keys: string | null;
  /** JSON: positions of the addresses that are not the site's; null for none. */
  readonly foreign_addresses: string | null;
}

export interface KeyToCheck {
  readonly clientId: string;
  readonly thumbprints: readonly string[];
  /** Allowed IPs of a key for MLLP; empty if they need no check. */
  readonly allowedIps: readonly string[];
  readonly application: string | null;
  readonly facility: string | null;
  readonly tlsSubject: string | null;
}

/** All reasons for which `writeKey` would reject these keys: a row for each, in their order. */
export function findKeyConflicts(site: string, asked: readonly KeyToCheck[]): Query<KeyConflictsRow> {
  return read<KeyConflictsRow>`select thumbprints_foreign(x."clientId", x.thumbprints)::text as foreign_keys,
      site_addresses_foreign(${site}::uuid, x."allowedIps", x.application, x.facility, x."tlsSubject")::text as foreign_addresses
    from json_to_recordset(${JSON.stringify(asked.map((key, at) => ({ ...key, at })))}::json) as x(at integer, "clientId" text,
      thumbprints text[], "allowedIps" text[], application text, facility text, "tlsSubject" text)
    order by x.at`;
}

/** The changes of a key, the newest first. */
export function changesOf(site: string, clientId: string, before: number | null, limit: number): Query<ChangeRow> {
  return read<ChangeRow>`select version, ${raw(instantOf('at'))} as at, by,
      before::text as before, after::text as after
    from api_key_change
    where site_id = ${site}::uuid and client_id = ${clientId} and (${before}::int is null or version < ${before}::int)
    order by version desc limit ${limit}::int`;
}
