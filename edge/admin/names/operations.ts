/** Names that messages use and nobody has given a URI, and what messages say that names stand for, over JSON. */
import { listOf, type Operation, operation } from '../api/operation.ts';
import { aliasDecided, aliasDecision, aliasItem, aliasQuery, decide, findAliases } from './aliases.ts';
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
    operation({
      method: 'get',
      path: '/authority-aliases',
      permission: 'site.messages.read',
      summary: 'What namespaces stand for in the messages of a key, as the messages say, by key, namespace and URI',
      description:
        'The first URI that a message sends beside a namespace is used for that key, until somebody decides.',
      query: aliasQuery,
      answer: listOf(aliasItem),
      handle: async ({ actor, database, query }) => ({ body: await findAliases(database, actor.site, query) }),
    }),
    operation({
      method: 'post',
      path: '/authority-aliases/decide',
      permission: 'site.settings.update',
      summary: 'Confirm or reject that a namespace stands for a URI in the messages of a key',
      description:
        'It holds from the next message on, and changes nothing that is stored. `confirmed` is used in the place of any other ' +
        'URI of the namespace; patients whose numbers meet by it are listed as possible duplicates. `rejected` is not used, and ' +
        'no message teaches it again. Either can be decided anew; each decision is kept.',
      body: aliasDecision,
      answer: aliasDecided,
      handle: async ({ actor, database, body }) => ({ body: await decide(database, actor, body) }),
    }),
  ];
}
