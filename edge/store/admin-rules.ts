/** Rules for the messages of an API key, for administrators: the draft, the versions, and what became live when. */
import type { Query } from '../deps.ts';
import type { SenderRule } from '../members/sender-rules.ts';
import { instantOf, raw, read, sql } from './sql.ts';

/** The rules of a key. Rules are JSON of `senderRules`. */
export interface RulesRow {
  /** The version that messages are read by; null for none. */
  readonly live: number | null;
  /** Its rules; null for none. */
  readonly live_rules: string | null;
  /** The version that the draft becomes. */
  readonly draft: number;
  /** `[]` without a draft. */
  readonly draft_rules: string;
  /** Counts the saves and releases. */
  readonly edits: number;
  /** The time and author of the last save; null without a draft. */
  readonly at: string | null;
  readonly by: string | null;
}

/** Stored rules. They were valid when they were saved, and a later release may be stricter. @param text JSON */
export const storedRules = (text: string): readonly SenderRule[] => JSON.parse(text);

/** No row without the key. */
export const readRules = (site: string, clientId: string): Query<RulesRow> =>
  read<RulesRow>`select v.version as live, v.rules::text as live_rules, n.version + 1 as draft,
      coalesce(d.rules::text, '[]') as draft_rules, coalesce(d.edits, 0) as edits, ${raw(instantOf('d.at'))} as at, d.by
    from api_key k
    left join rules_draft d on d.site_id = k.site_id and d.client_id = k.client_id
    left join rules_version v on v.site_id = k.site_id and v.client_id = k.client_id
      and v.version = (k.hl7_rules ->> 'version')::int
   cross join lateral (
     select coalesce(max(x.version), 0) as version from rules_version x
      where x.site_id = k.site_id and x.client_id = k.client_id) n
   where k.site_id = ${site}::uuid and k.client_id = ${clientId}`;

/** The live rules of each key that has some. */
export const readLiveRules = (
  site: string,
): Query<{ readonly client_id: string; readonly version: number; readonly rules: string }> =>
  read<{ client_id: string; version: number; rules: string }>`select k.client_id, v.version, v.rules::text as rules
    from api_key k
    join rules_version v on v.site_id = k.site_id and v.client_id = k.client_id and v.version = (k.hl7_rules ->> 'version')::int
   where k.site_id = ${site}::uuid`;

/** The rules of a version that is or was live. */
export const readRulesVersion = (site: string, clientId: string, version: number): Query<{ readonly rules: string }> =>
  read<{ rules: string }>`select v.rules::text as rules from rules_version v
    where v.site_id = ${site}::uuid and v.client_id = ${clientId} and v.version = ${version}::int`;

export interface RulesRelease {
  /** Null: the rules were switched off. */
  readonly version: number | null;
  readonly at: string;
  readonly by: string;
  readonly comment: string;
}

/** The newest first. */
export const listRulesReleases = (site: string, clientId: string): Query<RulesRelease> =>
  read<RulesRelease>`select r.version, ${raw(instantOf('r.at'))} as at, r.by, r.comment
    from rules_release r where r.site_id = ${site}::uuid and r.client_id = ${clientId}
    order by r.number desc limit 200`;

/** @param edits as the person read them */
export const saveRulesDraft = (
  site: string,
  clientId: string,
  edits: number,
  rules: readonly SenderRule[],
  by: string,
): Query<{ readonly outcome: 'done' | 'missing' | 'edits' }> =>
  sql<{ outcome: 'done' | 'missing' | 'edits' }>`select rules_draft(${site}::uuid, ${clientId}, ${edits}::int,
    ${JSON.stringify(rules)}::json, ${by}) as outcome`;

export type RulesReleased = 'done' | 'missing' | 'edits' | 'unchanged' | 'version';

/** Makes a version live (migrations/functions/rules_release.sql). */
export const releaseRules = (
  site: string,
  clientId: string,
  version: number | null,
  edits: number,
  by: string,
  comment: string,
): Query<{ readonly outcome: RulesReleased }> =>
  sql<{ outcome: RulesReleased }>`select rules_release(${site}::uuid, ${clientId}, ${version}::int, ${edits}::int,
    ${by}, ${comment}) as outcome`;
