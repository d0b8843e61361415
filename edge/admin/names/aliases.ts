/** Lists the URIs that messages send for namespaces, and decides about them, for the JSON API and the page. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { NEVER_IDENTIFYING } from '../../../shared/hl7/identifier-type.ts';
import type { Database } from '../../deps.ts';
import { ALIAS_STATES, type AliasRow, type AliasState, decideAlias, listAliases } from '../../store/admin-alias.ts';
import { inSite } from '../../store/in-site.ts';
import { nameKey } from '../../store/patient-identity.ts';
import { CLIENT_ID_PART, fromCursor, type List, toList, viewList } from '../api/cursor.ts';
import { paging } from '../api/operation.ts';
import { type Actor, authorOf, requirePermission } from '../staff/actor.ts';

export const aliasQuery = z.strictObject({
  ...paging,
  state: z
    .enum(['', 'undecided', ...ALIAS_STATES])
    .default('')
    .meta({ description: '`undecided`: taught and shown.' }),
  namespace: z.string().max(300).default('').meta({ description: 'One namespace. Without it, all.' }),
});

const text = z.string();

export const aliasItem = z.object({
  clientId: text,
  keyName: text,
  namespace: text.meta({ description: 'HD.1, in capitals: names compare without case.' }),
  uri: text,
  state: z.enum(ALIAS_STATES).meta({
    description:
      '`taught`: a message of the key sent both; the gateway uses the URI. `shown`: not used, because another URI is, or only ' +
      'patient records suggest it. An administrator decided: `confirmed` is used, `rejected` is not.',
  }),
  namedUri: text.nullable().meta({ description: 'The URI of the namespace in the settings, for all keys.' }),
  firstMessageId: z.uuid(),
  createdAt: z.iso.datetime(),
  decidedAt: z.iso.datetime().nullable(),
  decidedBy: text.nullable(),
  decisions: z.array(z.object({ state: text, at: z.iso.datetime(), by: text })).meta({
    description: 'The newest first, twenty at most.',
  }),
});
export type AliasView = z.infer<typeof aliasItem>;

const view = (row: AliasRow): AliasView => ({
  clientId: row.client_id,
  keyName: row.key_name,
  namespace: row.namespace,
  uri: row.uri,
  state: row.state,
  namedUri: row.named_uri,
  firstMessageId: row.first_message,
  createdAt: row.created_at,
  decidedAt: row.decided_at,
  decidedBy: row.decided_by,
  decisions: aliasItem.shape.decisions.parse(JSON.parse(row.decisions)),
});

const UNDECIDED: readonly AliasState[] = ['taught', 'shown'];
const TEXT_PART = /^[^]{1,2000}$/;

/** By key, namespace and URI. @throws Fault `malformed` for an invalid cursor */
export async function findAliases(
  database: Database,
  site: string,
  { limit, cursor, state, namespace }: z.infer<typeof aliasQuery>,
): Promise<List<AliasView>> {
  const after = fromCursor(cursor, CLIENT_ID_PART, TEXT_PART, TEXT_PART);
  const states = state === '' ? ALIAS_STATES : state === 'undecided' ? UNDECIDED : [state];
  const rows = await inSite(database, site).run(listAliases(site, states, nameKey(namespace), after, limit + 1));
  return viewList(
    toList(rows, limit, (row) => [row.client_id, row.namespace, row.uri]),
    view,
  );
}

export const aliasDecision = z.strictObject({
  clientId: text,
  namespace: text,
  uri: text,
  decision: z.enum(['confirmed', 'rejected']),
});

export const aliasDecided = z.object({ state: z.enum(ALIAS_STATES), decidedAt: z.iso.datetime(), decidedBy: text });

/**
 * Decides whether a namespace stands for a URI in the messages of a key.
 *
 * @throws Fault `not-found`, or `forbidden` without the permission
 */
export async function decide(
  database: Database,
  actor: Actor,
  { clientId, namespace, uri, decision }: z.infer<typeof aliasDecision>,
): Promise<z.infer<typeof aliasDecided>> {
  requirePermission(actor, 'site.settings.update');
  const id = { clientId, namespace: nameKey(namespace), uri };
  const [row] = await inSite(database, actor.site).run(
    decideAlias(actor.site, id, decision, authorOf(actor), [...NEVER_IDENTIFYING]),
  );
  if (row === undefined) throw new Fault('not-found', 'no message has sent this URI for the namespace');
  return { state: row.state, decidedAt: row.decided_at, decidedBy: row.decided_by };
}
