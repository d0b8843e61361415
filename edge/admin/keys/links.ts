/** Links of an API key: staff create, list and revoke them. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Database } from '../../deps.ts';
import { makeLink } from '../../http/key-link.ts';
import { inSite } from '../../store/in-site.ts';
import { createLink, type KeyLinkRow, linksOf, MAX_LIVE_LINKS, revokeLink } from '../../store/key-link.ts';
import { type Operation, operation } from '../api/operation.ts';
import { type Actor, authorOf } from '../staff/actor.ts';
import { requireKey } from './keys.ts';

const instant = z.iso.datetime();

const keyLink = z.object({
  linkId: z.uuid(),
  createdAt: instant,
  createdBy: z.string(),
  expiresAt: instant,
  revokedAt: instant.nullable(),
  revokedBy: z.string().nullable(),
  isLive: z.boolean().meta({ description: 'Neither expired nor revoked.' }),
});

export const newLink = z.strictObject({
  hours: z
    .int('must be a number from 1 to 168')
    .min(1, 'must be a number from 1 to 168')
    .max(168, 'must be a number from 1 to 168')
    .default(24)
    .meta({ description: 'The lifetime; 7 days at most.' }),
});

export const viewLink = (row: KeyLinkRow): z.infer<typeof keyLink> => ({
  linkId: row.link_id,
  createdAt: row.created_at,
  createdBy: row.created_by,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  revokedBy: row.revoked_by,
  isLive: row.is_live,
});

/** @throws Fault `not-found` without the key */
export async function findLinks(database: Database, site: string, clientId: string): Promise<readonly KeyLinkRow[]> {
  await requireKey(database, site, clientId);
  return inSite(database, site).run(linksOf(site, clientId));
}

/** @throws Fault `conflict` for a disabled key, or one with too many links; `not-found` without the key */
export async function addLink(database: Database, actor: Actor, clientId: string, hours: number) {
  const key = await requireKey(database, actor.site, clientId);
  const { link, secret } = await makeLink(actor.site, clientId);
  const [row] = await inSite(database, actor.site).run(createLink(link, hours, authorOf(actor)));
  if (row !== undefined) return { row, secret };
  throw new Fault(
    'conflict',
    key.status === 'active'
      ? `The API key has ${MAX_LIVE_LINKS} links, which is the limit. Revoke one first.`
      : 'The API key is disabled. Enable it first.',
  );
}

/** @throws Fault `not-found` for a link that cannot be used any more */
export async function endLink(database: Database, actor: Actor, clientId: string, linkId: string): Promise<KeyLinkRow> {
  const [row] = isUuid(linkId)
    ? await inSite(database, actor.site).run(revokeLink(actor.site, clientId, linkId, authorOf(actor)))
    : [];
  if (row === undefined) throw new Fault('not-found', 'The API key has no such link, or the link has already ended.');
  return row;
}

export const linkOperations = (): Operation[] => [
  operation('get', '/api-keys/{clientId}/links', 'site.api_keys.read', {
    summary: 'The links of this API key, the newest 50 first',
    answer: z.object({ items: z.array(keyLink) }),
    async handle({ actor, database, param }) {
      const rows = await findLinks(database, actor.site, param('clientId'));
      return { items: rows.map(viewLink) };
    },
  }),
  operation('post', '/api-keys/{clientId}/links', 'site.api_keys.update', {
    summary: 'Create a link with which an integrator checks messages and sees refusals without a token',
    description:
      'Send the secret as a Bearer token to `POST /hl7/check` and `GET /oauth2/refusals`; it opens nothing else. The gateway stores ' +
      'only its hash. A key has 20 links at most.',
    body: newLink,
    answer: keyLink.extend({ secret: z.string().meta({ description: 'Shown only here.' }) }),
    status: 201,
    async handle({ actor, database, param, body: { hours } }) {
      const { row, secret } = await addLink(database, actor, param('clientId'), hours);
      return { ...viewLink(row), secret };
    },
  }),
  operation('post', '/api-keys/{clientId}/links/{id}/revoke', 'site.api_keys.update', {
    summary: 'Revoke a link at once',
    answer: keyLink,
    handle: async ({ actor, database, param }) =>
      viewLink(await endLink(database, actor, param('clientId'), param('id'))),
  }),
];
