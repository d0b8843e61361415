/**
 * Making a site and changing its settings, the same for the console, its JSON API and the command line: parse, write with
 * the history. The second of two administrators who edit one version is told.
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

/** What makes a site: only what is required must be there. */
export const newSite = newRecord(SITE_MEMBERS);
/** What changes the settings: the members that change. */
export const siteChange = recordChange(SITE_MEMBERS);

/** The schema of the settings as they are answered. */
export const siteAnswer = z.object({
  site: z.uuid(),
  ...recordAnswer(SITE_MEMBERS),
  version: z.number().int().meta({ description: 'Also the ETag, in quotes.' }),
  updatedAt: z.iso.datetime(),
});

export function viewSite(row: SettingsRow): Record<string, unknown> {
  return { site: row.site_id, ...toMembers(SITE_MEMBERS, row), version: row.version, updatedAt: row.updated_at };
}

const face = z.object({ name: z.string(), timeZone: z.string().nullable() });
/** What every page shows of a site. */
export const faceOf = (row: SettingsRow): z.infer<typeof face> => face.parse(viewSite(row));

export const noSuchSite = () => new Fault('forbidden', 'the site of your account is not known to this gateway');

/** The settings of a site. @throws Fault `forbidden` for a site that is not known */
export async function requireSite(database: Database, site: string): Promise<SettingsRow> {
  const [row] = await inSite(database, site).run(readSettings(site));
  if (row === undefined) throw noSuchSite();
  return row;
}

/**
 * @param by who, for the history
 * @throws Fault `invalid` naming each field
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
 * @param expected the versions that may be overwritten; none of them meaning any
 * @throws Fault `forbidden` without the permission, `precondition-failed` for another version, `invalid` naming each field
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
  const meeting = 'assigning_authorities' in record ? [authoritiesNamed(actor.site, [...NEVER_IDENTIFYING])] : [];
  const [[written], [row]] = await inSite(database, actor.site).batch([write, readSettings(actor.site), ...meeting]);
  if (written?.outcome === 'version') throw changedMeanwhile('the site', written.version);
  if (row === undefined) throw noSuchSite();
  return row;
}
