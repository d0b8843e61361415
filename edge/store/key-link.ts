/** Links of API keys: an integrator checks messages and sees the refusals of one key without a token. */
import type { Query } from '../deps.ts';
import { instantsOf, raw, read, sql } from './sql.ts';

/** A presented link, not verified. */
export interface PresentedLink {
  readonly site: string;
  readonly clientId: string;
  readonly linkId: string;
  /** The hash of the secret, base64url. */
  readonly sha256: string;
}

/** The arguments that identify a link to the database (`assert_key_link`). */
export const linkArguments = ({ site, clientId, linkId, sha256 }: PresentedLink) =>
  [site, clientId, linkId, sha256] as const;

/** The first statement of every batch made for a link. It fails the batch with Fault `unauthenticated`. */
export function assertKeyLink(link: PresentedLink): Query {
  const query = read`select assert_key_link(${link.site}::uuid, ${link.clientId}, ${link.linkId}::uuid, ${link.sha256})`;
  return { ...query, site: link.site };
}

export interface KeyLinkRow {
  readonly link_id: string;
  readonly created_at: string;
  readonly created_by: string;
  readonly expires_at: string;
  readonly revoked_at: string | null;
  readonly revoked_by: string | null;
  readonly is_live: boolean;
}

const COLUMNS = `l.link_id, l.created_by, l.revoked_by, l.revoked_at is null and l.expires_at > now() as is_live,
  ${instantsOf(['l.created_at', 'l.expires_at', 'l.revoked_at'])}`;

const MAX_LISTED = 50;
/** Links of a key that can be used at one time. */
export const MAX_LIVE_LINKS = 20;

/** The newest first. */
export const linksOf = (site: string, clientId: string): Query<KeyLinkRow> =>
  read<KeyLinkRow>`select ${raw(COLUMNS)} from key_link l
    where l.site_id = ${site}::uuid and l.client_id = ${clientId} order by l.created_at desc, l.link_id limit ${MAX_LISTED}::int`;

const noted = (action: 'link-created' | 'link-revoked'): string =>
  `audit_note(array[row('${action}', 'ApiKey', substr(l.client_id, 5)::uuid, null)::audit_item])`;

/**
 * Stores a link, and deletes those of the key that expired 30 days ago. Returns no row for a key that is not active or has too many.
 */
export const createLink = (link: PresentedLink, hours: number, by: string): Query<KeyLinkRow> =>
  sql<KeyLinkRow>`with forgotten as (
      delete from key_link l where l.site_id = ${link.site}::uuid and l.client_id = ${link.clientId}
        and l.expires_at < now() - interval '30 days'
    ), l as (
      insert into key_link (site_id, link_id, client_id, secret_sha256, created_by, expires_at)
      select k.site_id, ${link.linkId}::uuid, k.client_id, ${link.sha256}, ${by}, now() + make_interval(hours => ${hours}::int)
        from api_key k
       where k.site_id = ${link.site}::uuid and k.client_id = ${link.clientId} and k.status = 'active'
         and (select count(*) from key_link o where o.site_id = k.site_id and o.client_id = k.client_id
               and o.revoked_at is null and o.expires_at > now()) < ${MAX_LIVE_LINKS}::int
      returning *
    ) select ${raw(COLUMNS)}, ${raw(noted('link-created'))} as noted from l`;

/** Returns no row for a link that cannot be used any more. */
export const revokeLink = (site: string, clientId: string, linkId: string, by: string): Query<KeyLinkRow> =>
  sql<KeyLinkRow>`with l as (
      update key_link set revoked_at = now(), revoked_by = ${by}
       where site_id = ${site}::uuid and client_id = ${clientId} and link_id = ${linkId}::uuid
         and revoked_at is null and expires_at > now()
      returning *
    ) select ${raw(COLUMNS)}, ${raw(noted('link-revoked'))} as noted from l`;
