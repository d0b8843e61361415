/** Giving a name its URI: one more entry in a table of the site's settings, with their rules and their history. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { NEVER_IDENTIFYING } from '../../../shared/hl7/identifier-type.ts';
import type { Database } from '../../deps.ts';
import { effectOfNaming, type NamingEffect } from '../../store/admin-unmapped-name.ts';
import { inSite } from '../../store/in-site.ts';
import { nameKey } from '../../store/patient-identity.ts';
import type { SettingsRow } from '../../store/site.ts';
import type { NameKind, UnmappedName } from '../../store/unmapped-name.ts';
import { parse } from '../api/parse.ts';
import { SITE_MEMBERS } from '../settings/record.ts';
import { changeSite, noSuchSite, readSettings, requireSite, siteChange, viewSite } from '../settings/site.ts';
import type { Actor } from '../staff/actor.ts';

/** By kind of name, its setting and the member with the name. */
const TABLES = {
  authority: { member: 'assigningAuthorities', key: 'namespace' },
  'code-system': { member: 'codeSystems', key: 'name' },
} as const satisfies Readonly<Record<NameKind, { member: keyof typeof SITE_MEMBERS; key: string }>>;

const entriesAnswered = z.array(z.record(z.string(), z.string()));

function entriesOf(settings: SettingsRow, kind: NameKind): Record<string, string>[] {
  return entriesAnswered.parse(viewSite(settings)[TABLES[kind].member]);
}

const isOf = (entry: Readonly<Record<string, string>>, { kind, name }: UnmappedName): boolean =>
  nameKey(entry[TABLES[kind].key] ?? '') === nameKey(name);

/** The URI that the settings say a name stands for, or null. */
export const findSystem = (settings: SettingsRow, named: UnmappedName): string | null =>
  entriesOf(settings, named.kind).find((entry) => isOf(entry, named))?.['system'] ?? null;

const ATTEMPTS = 3;

/** The change that gives a name its URI. */
function changeOf(settings: SettingsRow, named: UnmappedName, system: string): Record<string, unknown> {
  const { member, key } = TABLES[named.kind];
  return { [member]: [...entriesOf(settings, named.kind), { [key]: named.name, system }] };
}

export interface NamingPreview extends NamingEffect {
  /** Other names that have the URI. */
  readonly others: readonly string[];
}

/** Counts the messages and patients that `giveUri` would touch. @throws the faults of `giveUri` */
export async function previewNaming(
  database: Database,
  { site }: Actor,
  named: UnmappedName,
  system: string,
): Promise<NamingPreview> {
  const [[settings], [effect]] = await inSite(database, site).batch([
    readSettings(site),
    effectOfNaming(site, named, system, [...NEVER_IDENTIFYING]),
  ]);
  if (settings === undefined || effect === undefined) throw noSuchSite();
  const current = findSystem(settings, named);
  if (current !== null && current !== system) throw namedOtherwise(named.name, current);
  if (current === null) parse(siteChange, changeOf(settings, named, system), 'invalid', 'the change');
  const { key } = TABLES[named.kind];
  const others = entriesOf(settings, named.kind).filter((entry) => entry['system'] === system && !isOf(entry, named));
  return { ...effect, others: others.map((entry) => entry[key] ?? '') };
}

/**
 * Gives a name its URI; a simultaneous change of the settings is kept.
 *
 * @throws Fault `invalid` for an invalid URI or if the name has another URI, `forbidden` without the permission
 */
export async function giveUri(database: Database, actor: Actor, named: UnmappedName, system: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const settings = await requireSite(database, actor.site);
    const current = findSystem(settings, named);
    if (current === system.trim()) return;
    if (current !== null) throw namedOtherwise(named.name, current);
    try {
      await changeSite(database, actor, [settings.version], changeOf(settings, named, system));
      return;
    } catch (error) {
      const isChanged = error instanceof Fault && error.kind === 'precondition-failed';
      if (!isChanged || attempt === ATTEMPTS) throw error;
    }
  }
}

function namedOtherwise(name: string, system: string): Fault {
  const message = `${JSON.stringify(name)} has the URI ${system} already. Change it under Settings.`;
  return new Fault('invalid', message, { issues: [{ code: 'invalid', message, at: 'system' }] });
}
