/** Names that messages use and nobody has given a URI, over JSON. */
import { listOf, type Operation, operation } from '../api/operation.ts';
import { findUnnamed, unnamedItem, unnamedQuery } from './listing.ts';

export function nameOperations(): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/unnamed-names',
      // They stand in messages, whatever their sender put there.
      permission: 'site.messages.read',
      summary: 'Namespaces and coding systems that messages name and the site has given no URI, by kind and name',
      description:
        'They are named in `assigningAuthorities` or `codeSystems` of `PATCH /site`. The messages, which ' +
        '`GET /messages?unnamed=authority:HOSP` lists, keep a name here until they are processed again.',
      query: unnamedQuery,
      answer: listOf(unnamedItem),
      handle: async ({ actor, database, query }) => ({ body: await findUnnamed(database, actor.site, query) }),
    }),
  ];
}
