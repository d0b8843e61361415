/**
 * Sessions of the console (migrations/functions/assert_session.sql and console_session_*.sql). The provider's tokens in
 * a row are sealed by the module that writes it.
 */
import type { Query } from '../deps.ts';
import { instantOf, raw, read, sql } from './sql.ts';

/** Identifies a session: its id is found in its site only. */
export interface SessionIdentity {
  readonly site: string;
  readonly session: string;
}

export interface NewSession extends SessionIdentity {
  readonly subject: string;
  readonly name: string;
  /** `sid` of the OpenID provider, if it sends it. */
  readonly providerSession: string | null;
  readonly sourceAddress: string;
  readonly userAgent: string;
  readonly permissions: readonly string[];
  readonly refreshToken: string | null;
  readonly idToken: string | null;
}

/** The data of a site that pages show. */
export interface SiteFace {
  readonly site_name: string;
  /** IANA name; UTC where the site has none. */
  readonly time_zone: string;
}

/** Begins a session. No row: there is no such site. */
export function startSession(begun: NewSession): Query<SiteFace> {
  return sql<SiteFace>`select site_name, time_zone from console_session_begin(${begun.site}::uuid,
      ${begun.session}::uuid, ${begun.subject}, ${begun.name}, ${begun.providerSession}, ${begun.sourceAddress},
      ${begun.userAgent}, ${begun.permissions}::text[], ${begun.refreshToken}, ${begun.idToken})`;
}

/** The first statement of a request with a session: fails the batch with Fault `unauthenticated` when it has ended. */
export function assertSession({ site, session }: SessionIdentity): Query {
  return { ...sql`select assert_session(${site}::uuid, ${session}::uuid)`, site };
}

/** Asserts the session for an automatic request, which does not count as use of the session. */
export function assertSessionLasts({ site, session }: SessionIdentity): Query {
  return { ...sql`select assert_session_lasts(${site}::uuid, ${session}::uuid)`, site };
}

export interface AskRow {
  readonly outcome: 'ask' | 'asking' | 'known';
  /** Sealed; only of `ask`. */
  readonly refresh_token: string | null;
  readonly permissions: readonly string[];
  /** Seconds since the provider's last answer. */
  readonly asked_ago: number;
}

/** Decides whether to ask the provider again. Fails with Fault `unauthenticated` when the session has ended. */
export function askAnew({ site, session }: SessionIdentity): Query<AskRow> {
  return sql<AskRow>`select outcome, refresh_token, permissions, asked_ago
    from console_session_ask(${site}::uuid, ${session}::uuid)`;
}

/** A person's permissions from the provider, by site. */
type Granted = ReadonlyMap<string, ReadonlySet<string>>;

const grantsOf = (grants: Granted): string =>
  JSON.stringify(Object.fromEntries([...grants].map(([site, permissions]) => [site, [...permissions]])));

/** For a session that begins: so that another site can be chosen without the provider. */
export function keepGrants({ site, session }: SessionIdentity, grants: Granted): Query {
  return sql`update console_session set grants = ${grantsOf(grants)}::jsonb
    where site_id = ${site}::uuid and session_id = ${session}::uuid`;
}

/** Stores the provider's answer, and returns the current name of the site. No row: the session has ended meanwhile. */
export function keepAnswer({ site, session }: SessionIdentity, grants: Granted, refreshToken: string): Query<SiteFace> {
  return sql<SiteFace>`update console_session s set permissions = ${[...(grants.get(site) ?? [])]}::text[],
      grants = ${grantsOf(grants)}::jsonb, refresh_token = ${refreshToken}, asked_at = now(), asking_until = null
    from site t
    where s.site_id = ${site}::uuid and s.session_id = ${session}::uuid and t.site_id = s.site_id
    returning t.name as site_name, coalesce(t.time_zone, 'UTC') as time_zone`;
}

/** The sites that a session may be moved to, and its own, by name. */
export function sitesOfSession({ site, session }: SessionIdentity): Query<{ site_id: string; name: string }> {
  return read<{ site_id: string; name: string }>`select site_id, name
    from console_session_sites(${site}::uuid, ${session}::uuid) order by name, site_id`;
}

/**
 * Moves a session to another of its sites. No row: the session has no access to it, or the gateway does not know it.
 */
export function moveSession(
  { site, session }: SessionIdentity,
  to: string,
  requestId: string,
): Query<SiteFace & { permissions: string[] }> {
  return sql<SiteFace & { permissions: string[] }>`select site_name, time_zone, permissions
    from console_session_to_site(${site}::uuid, ${session}::uuid, ${to}::uuid, ${requestId})`;
}

/** SQL: notes the end of a session for the audit. */
const NOTED = `audit_note(array[row('signed-out', 'ConsoleSession', session_id, null)::audit_item]) as noted`;

/** Ends a session. No row: the session did not exist. */
export function endSession({ site, session }: SessionIdentity): Query<{ session_id: string; id_token: string | null }> {
  return sql<{ session_id: string; id_token: string | null }>`delete from console_session
    where site_id = ${site}::uuid and session_id = ${session}::uuid
    returning session_id, id_token, ${raw(NOTED)}`;
}

/** Ends all sessions of a site; one row for each. */
export function endSessions(site: string): Query<{ session_id: string }> {
  return sql<{ session_id: string }>`delete from console_session where site_id = ${site}::uuid
    returning session_id, ${raw(NOTED)}`;
}

export interface SessionRow {
  readonly session_id: string;
  readonly subject: string;
  readonly name: string;
  readonly source_address: string;
  readonly user_agent: string;
  readonly started_at: string;
  readonly seen_at: string;
}

/** Lists the sessions of a site, the newest first. @param after started_at and session_id of the last one before */
export function listSessions(site: string, after: readonly string[] | null, limit: number): Query<SessionRow> {
  return sql<SessionRow>`select s.session_id, s.subject, s.name, s.source_address, s.user_agent,
      ${raw(instantOf('s.started_at', 'microsecond'))} as started_at, ${raw(instantOf('s.seen_at'))} as seen_at
    from console_session s
    where s.site_id = ${site}::uuid and console_session_is_live(s)
      and (${after?.[0] ?? null}::timestamptz is null
        or (s.started_at, s.session_id) < (${after?.[0] ?? null}::timestamptz, ${after?.[1] ?? null}::uuid))
    order by s.started_at desc, s.session_id desc limit ${limit}::int`;
}

export interface LogoutToken {
  /** SHA-256, base64url. */
  readonly jtiHash: string;
  /** Seconds since the epoch: from then on the `exp` of the token rejects it. */
  readonly expires: number;
  readonly subject: string | null;
  readonly providerSession: string | null;
}

/** Ends the sessions that a logout token names, in every site. `ended` is their number; null for a token that was used before. */
export function endByProvider({ jtiHash, expires, subject, providerSession }: LogoutToken): Query<{
  ended: number | null;
}> {
  return sql<{ ended: number | null }>`select console_session_logout(${jtiHash}, to_timestamp(${expires}::float8),
      ${subject}, ${providerSession}) as ended`;
}
