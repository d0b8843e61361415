/**
 * Creates a site and changes its settings, for the console, its JSON API and the command line. A second change of the same
 * version fails.
 */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { NEVER_IDENTIFYING } from '../../../shared/hl7/identifier-type.ts';
import type { Database } from '../../deps.ts';
import { inSite } from '../../store/in-site.ts';
import { authoritiesNamed, siteStatements, type SettingsRow } from '../../store/site.ts';
import { changedMeanwhile } from '../api/if-match.ts';
import { parse } from '../api/parse.ts';
import { newRecord, recordAnswer, recordChange, toColumns, toMembers, toRecord } from '../../members/member.ts';
import { type Actor, authorOf, requirePermission } from '../staff/actor.ts';
import { SITE_COLUMNS, SITE_MEMBERS, type SiteRecord } from './record.ts';

export const { readSettings, writeSite } = siteStatements<SiteRecord>(SITE_COLUMNS);

export const newSite = newRecord(SITE_MEMBERS);
export const siteChange = recordChange(SITE_MEMBERS);

export const siteAnswer = z.object({
  site: z.uuid(),
  ...recordAnswer(SITE_MEMBERS),
  version: z.number().int().meta({ description: 'Also the ETag, in quotes.' }),
  updatedAt: z.iso.datetime(),
});

export function viewSite(row: SettingsRow): Readonly<Record<string, unknown>> & { readonly version: number } {
  return { site: row.site_id, ...toMembers(SITE_MEMBERS, row), version: row.version, updatedAt: row.updated_at };
}

const nameAndZone = z.object({ name: z.string(), timeZone: z.string().nullable() });
/** The name and time zone, which the session stores. */
export const nameAndZoneOf = (row: SettingsRow): z.infer<typeof nameAndZone> => nameAndZone.parse(viewSite(row));

export const noSuchSite = () =>
  new Fault('forbidden', 'this gateway has no site of your account: ask the administrator of the OpenID provider');

/** Reads the settings of a site. @throws Fault `forbidden` for an unknown site */
export async function requireSite(database: Database, site: string): Promise<SettingsRow> {
  const [row] = await inSite(database, site).run(readSettings(site));
  if (row === undefined) throw noSuchSite();
  return row;
}

/**
 * @param by the author, for the history
 * @throws Fault `invalid` with an issue for each field
 */
export async function createSite(database: Database, site: string, by: string, body: unknown): Promise<SettingsRow> {
  const record = toRecord(SITE_MEMBERS, parse(newSite, body, 'invalid', 'the site'));
  const [, [row]] = await inSite(database, site).batch([
    writeSite({ site, expected: null, by, record }),
    readSettings(site),
  ]);
  if (row === undefined) throw noSuchSite();
  return row;
}

/**
 * @param expected the versions that may be overwritten; an empty list for any
 * @throws Fault `forbidden` without the permission, `precondition-failed` for another version, `invalid` with an issue for each
 *   field
 */
export async function changeSite(
  database: Database,
  actor: Actor,
  expected: readonly number[],
  body: unknown,
): Promise<SettingsRow> {
  requirePermission(actor, 'site.settings.update');
  const record = toColumns(SITE_MEMBERS, parse(siteChange, body, 'invalid', 'the change'));
  const write = writeSite({ site: actor.site, expected, by: authorOf(actor), record });
  const comparing = 'assigning_authorities' in record ? [authoritiesNamed(actor.site, [...NEVER_IDENTIFYING])] : [];
  const [[written], [row]] = await inSite(database, actor.site).batch([write, readSettings(actor.site), ...comparing]);
  if (written?.outcome === 'version') throw changedMeanwhile('the site', written.version);
  if (row === undefined) throw noSuchSite();
  return row;
}
