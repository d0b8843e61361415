/** The settings of the caller's site over JSON. */
import * as z from 'zod';

import { inSite } from '../../store/in-site.ts';
import { changesOfSite } from '../../store/site.ts';
import { fromCursor, NUMBER_PART, toList, viewList } from '../api/cursor.ts';
import { etagOf, readIfMatch } from '../api/if-match.ts';
import { listOf, type Operation, operation, paging } from '../api/operation.ts';
import { changeItem, viewChange } from '../record/change.ts';
import { documented } from '../../members/member.ts';
import type { AdminDeps } from '../web/console.ts';
import { SITE_MEMBERS } from './record.ts';
import { saveSettings } from './save.ts';
import { requireSite, siteAnswer, siteChange, viewSite } from './site.ts';

export function settingsOperations(deps: AdminDeps): Operation[] {
  return [
    operation('get', '/site', 'site.settings.read', {
      summary: 'Read the settings of the site',
      answer: siteAnswer,
      handle: async ({ actor, database }) => viewSite(await requireSite(database, actor.site)),
      headers: etagOf,
    }),
    operation('patch', '/site', 'site.settings.update', {
      summary: 'Change the settings of the site',
      description:
        'Members that are left out stay; null removes an optional one. Changes apply from the next message on.',
      body: documented(siteChange),
      answer: siteAnswer,
      needsIfMatch: true,
      handle: async ({ actor, database, body, header }) =>
        viewSite(await saveSettings({ ...deps, database }, actor, readIfMatch(header('if-match')), body)),
      headers: etagOf,
    }),
    operation('get', '/site/changes', 'site.settings.read', {
      summary: 'The history of the settings: author, time, and members before and after, the newest first',
      query: z.strictObject(paging),
      answer: listOf(changeItem),
      async handle({ actor, database, query: { limit, cursor } }) {
        const before = fromCursor(cursor, NUMBER_PART)?.[0];
        const rows = await inSite(database, actor.site).run(
          changesOfSite(actor.site, before === undefined ? null : Number(before), limit + 1),
        );
        const changes = toList(rows, limit, (row) => [String(row.version)]);
        return viewList(changes, (row) => viewChange(SITE_MEMBERS, row));
      },
    }),
  ];
}
