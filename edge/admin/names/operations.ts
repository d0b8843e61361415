/** The JSON API of names without a URI, and of the URIs that messages send for namespaces. */
import { listOf, type Operation, operation } from '../api/operation.ts';
import { aliasDecided, aliasDecision, aliasItem, aliasQuery, decide, findAliases } from './aliases.ts';
import { findUnmapped, unmappedItem, unmappedQuery } from './listing.ts';

export function nameOperations(): Operation[] {
  return [
    operation('get', '/unmapped-names', 'site.messages.read', {
      // A sender can put any text into a name, also patient data.
      summary: 'List the namespaces and coding systems of messages that have no URI in the settings, by kind and name',
      description:
        'Set their URIs in `assigningAuthorities` or `codeSystems` of `PATCH /site`. A name stays listed until its messages, ' +
        'which `GET /messages?unmapped=authority:HOSP` lists, are processed again.',
      query: unmappedQuery,
      answer: listOf(unmappedItem),
      handle: async ({ actor, database, query }) => await findUnmapped(database, actor.site, query),
    }),
    operation('get', '/authority-aliases', 'site.messages.read', {
      summary: 'List the URIs that messages of a key send for namespaces, by key, namespace and URI',
      description:
        'The first URI that a message sends with a namespace is used for that key until an administrator decides.',
      query: aliasQuery,
      answer: listOf(aliasItem),
      handle: async ({ actor, database, query }) => await findAliases(database, actor.site, query),
    }),
    operation('post', '/authority-aliases/decide', 'site.settings.update', {
      summary: 'Confirm or reject the URI of a namespace in the messages of a key',
      description:
        'It applies from the next message on, and does not change stored data. `confirmed` replaces each other URI of the ' +
        'namespace; patients that then have the same identifier are listed as possible duplicates. `rejected` is not used, and ' +
        'later messages do not set it again. Each decision can be changed, and each is kept.',
      body: aliasDecision,
      answer: aliasDecided,
      handle: async ({ actor, database, body }) => await decide(database, actor, body),
    }),
  ];
}
