/** Reads, saves and releases the rules of an API key, for the console, its JSON API and the command line. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import type { Database } from '../../deps.ts';
import { senderRules, type SenderRule } from '../../members/sender-rules.ts';
import {
  listRulesReleases,
  readRules,
  readRulesVersion,
  releaseRules,
  type RulesRelease,
  saveRulesDraft,
  storedRules,
} from '../../store/admin-rules.ts';
import { inSite } from '../../store/in-site.ts';
import { releaseBody as tableRelease } from '../code-tables/tables.ts';
import { noSuchKey } from '../keys/keys.ts';
import { type Actor, authorOf, requirePermission } from '../staff/actor.ts';

export interface KeyRules {
  /** The version that messages are read by; null for none. */
  readonly liveVersion: number | null;
  /** Its rules; null for none. */
  readonly live: readonly SenderRule[] | null;
  /** The version that the draft becomes. */
  readonly draftVersion: number;
  readonly draft: readonly SenderRule[];
  /** The draft has other rules than the live version. */
  readonly isDraftChanged: boolean;
  readonly edits: number;
  /** The time and author of the last save of the draft; null without a draft. */
  readonly savedAt: string | null;
  readonly savedBy: string | null;
  /** The newest first. */
  readonly releases: readonly RulesRelease[];
}

/** @throws Fault `not-found` without the key */
export async function requireRules(database: Database, site: string, clientId: string): Promise<KeyRules> {
  const [[row], releases] = await inSite(database, site).batch([
    readRules(site, clientId),
    listRulesReleases(site, clientId),
  ]);
  if (row === undefined) throw noSuchKey();
  return {
    liveVersion: row.live,
    live: row.live_rules === null ? null : storedRules(row.live_rules),
    draftVersion: row.draft,
    draft: storedRules(row.draft_rules),
    isDraftChanged: (row.live_rules ?? '[]') !== row.draft_rules,
    edits: row.edits,
    savedAt: row.at,
    savedBy: row.by,
    releases,
  };
}

/** The rules of a version that is or was live. @throws Fault `not-found` */
export async function requireVersion(
  database: Database,
  site: string,
  clientId: string,
  given: string,
): Promise<{ readonly version: number; readonly rules: readonly SenderRule[] }> {
  const noSuchVersion = () => new Fault('not-found', 'the API key has no such version of rules');
  if (!/^[1-9]\d{0,8}$/.test(given)) throw noSuchVersion();
  const version = Number(given);
  const [row] = await inSite(database, site).run(readRulesVersion(site, clientId, version));
  if (row === undefined) throw noSuchVersion();
  return { version, rules: storedRules(row.rules) };
}

const edits = z.int32({ error: 'must be a number: read the rules first' }).min(0).meta({
  description: '`edits` of the rules as they were read: a later save or release is 412.',
});

export const draftBody = z.strictObject({
  edits,
  rules: senderRules.meta({ description: 'All rules of the draft, in the order in which they are applied.' }),
});

export const releaseBody = z.strictObject({
  version: z.int32().min(1).nullable().meta({
    description: 'The draft (`draftVersion`), or an earlier version. Null: no rules, messages are read as sent.',
  }),
  edits,
  comment: tableRelease.shape.comment,
});

export const changedMeanwhile = () =>
  new Fault('precondition-failed', 'the rules were changed in the meantime: read them again');

/** Saves the draft. Messages are not read by it. @throws Fault `not-found`, `precondition-failed` */
export async function saveDraft(
  database: Database,
  actor: Actor,
  clientId: string,
  { edits: seen, rules }: z.infer<typeof draftBody>,
): Promise<void> {
  requirePermission(actor, 'site.rules.write');
  const { site } = actor;
  const [row] = await inSite(database, site).run(saveRulesDraft(site, clientId, seen, rules, authorOf(actor)));
  if (row?.outcome === 'edits') throw changedMeanwhile();
  if (row?.outcome !== 'done') throw noSuchKey();
}

/** Makes a version live, from the next message on. @throws Fault `not-found`, `precondition-failed`, `conflict`, `invalid` */
export async function release(
  database: Database,
  actor: Actor,
  clientId: string,
  { version, edits: seen, comment }: z.infer<typeof releaseBody>,
): Promise<void> {
  requirePermission(actor, 'site.rules.write');
  const { site } = actor;
  const query = releaseRules(site, clientId, version, seen, authorOf(actor), comment);
  const [row] = await inSite(database, site).run(query);
  switch (row?.outcome) {
    case 'done':
      return;
    case 'edits':
      throw changedMeanwhile();
    case 'unchanged':
      throw new Fault('conflict', version === null ? 'no rules are live' : 'these rules are live already');
    case 'version':
      throw new Fault('invalid', 'the version does not exist: name the draft or a version that was live');
    default:
      throw noSuchKey();
  }
}
