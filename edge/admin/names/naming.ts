/** Giving a name its URI: one more entry in a table of the site's settings, with their rules and their history. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import type { Database } from '../../deps.ts';
import { nameKey } from '../../store/patient-identity.ts';
import type { SettingsRow } from '../../store/site.ts';
import type { NameKind, UnmappedName } from '../../store/unmapped-name.ts';
import { SITE_MEMBERS } from '../settings/record.ts';
import { changeSite, requireSite, viewSite } from '../settings/site.ts';
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

/**
 * Gives a name its URI; a simultaneous change of the settings is kept.
 *
 * @throws Fault `invalid` for an invalid URI or if the name has another URI, `forbidden` without the permission
 */
export async function giveUri(database: Database, actor: Actor, named: UnmappedName, system: string): Promise<void> {
  const { member, key } = TABLES[named.kind];
  for (let attempt = 1; ; attempt += 1) {
    const settings = await requireSite(database, actor.site);
    const current = findSystem(settings, named);
    if (current === system.trim()) return;
    if (current !== null) throw namedOtherwise(named.name, current);
    const entries = [...entriesOf(settings, named.kind), { [key]: named.name, system }];
    try {
      await changeSite(database, actor, [settings.version], { [member]: entries });
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
