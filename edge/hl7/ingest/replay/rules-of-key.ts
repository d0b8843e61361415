/** Rules of a key that are not live, for trials and for messages that were read by an earlier version. */
import type { Database } from '../../../deps.ts';
import { readRules, readRulesVersion, storedRules } from '../../../store/admin-rules.ts';
import type { LiveRules } from '../../../store/hl7-snapshot.ts';
import { inSite } from '../../../store/in-site.ts';

interface Key {
  readonly site: string;
  readonly clientId: string;
}

/** The rules of a key that count for a trial. */
export type Which = 'live' | 'draft';

/** @returns undefined for the live ones, which are loaded with the message */
export async function chosenRules(
  database: Database,
  { site, clientId }: Key,
  which: Which,
): Promise<LiveRules | undefined> {
  if (which === 'live') return undefined;
  const [row] = await inSite(database, site).run(readRules(site, clientId));
  return row && { version: row.draft, rules: storedRules(row.draft_rules) };
}

export async function rulesOfVersion(database: Database, { site, clientId }: Key, version: number): Promise<LiveRules> {
  const [row] = await inSite(database, site).run(readRulesVersion(site, clientId, version));
  return { version, rules: storedRules(row?.rules ?? '[]') };
}
