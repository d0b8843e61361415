/** What staff may do, by the names their provider puts into the claim `permissions` (edge/README.md, Administration). */
import { z } from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { isText } from '../../../shared/text.ts';
import { isUuid } from '../../../shared/uuid.ts';

export const PERMISSIONS = {
  'site.api_keys.read': 'see API keys, their history and why they were refused',
  'site.api_keys.create': 'create API keys',
  'site.api_keys.update': 'change and enable API keys',
  'site.api_keys.disable': 'disable API keys',
  'site.messages.read': 'see HL7 messages, which hold patient data',
  'site.messages.replay': 'replay HL7 messages',
  'site.settings.read': 'see the settings of the site',
  'site.settings.update': 'change the settings of the site',
  'site.audit.read': 'see who saw or changed what',
  'site.endpoints.read': 'see the endpoints and charts',
  'site.sessions.end': 'see who is signed in to the console, and end sessions',
} as const;
export type Permission = keyof typeof PERMISSIONS;

const isPermission = (value: string): value is Permission => Object.hasOwn(PERMISSIONS, value);

/** Those that mean something here; a provider may send others. */
export const knownPermissions = (names: readonly string[]): ReadonlySet<Permission> =>
  new Set(names.filter(isPermission));

/** Whoever signed in or brought a token. An administrator sees one site. */
export interface Actor {
  readonly subject: string;
  /** For people: the name, or the subject where the provider tells none. */
  readonly name: string;
  readonly site: string;
  readonly permissions: ReadonlySet<Permission>;
}

/** Who made a change, as the history tells it. */
export const authorOf = ({ name, subject }: Actor): string => `${name} (${subject})`;

/** Providers send a list or, as OAuth does with scopes, one text with spaces. */
const permissionsClaim = z.union([
  z.array(z.string()),
  z.string().transform((text) => text.split(/[\s,]+/).filter((item) => item !== '')),
]);

/** What somebody is called is only shown: where it cannot be kept, the next claim says it. */
const shownName = z.string().refine(isText).optional().catch(undefined);

const claims = z.object({
  sub: z.string().min(1).refine(isText),
  name: shownName,
  preferred_username: shownName,
  email: shownName,
  site: z.string(),
  permissions: permissionsClaim.default([]),
});

/** The claims that a provider tells the site and the permissions in. */
export interface ClaimNames {
  readonly site: string;
  readonly permissions: string;
}

const USUAL_NAMES: ClaimNames = { site: 'site', permissions: 'permissions' };

/** True where a provider has not told both claims: they may be at its userinfo endpoint. */
export function lacksOwnClaims(given: Readonly<Record<string, unknown>>, names: ClaimNames): boolean {
  return given[names.site] === undefined || given[names.permissions] === undefined;
}

/** @throws Fault `forbidden` when the claims name no site */
export function toActor(given: Readonly<Record<string, unknown>>, names = USUAL_NAMES): Actor {
  const { data } = claims.safeParse({ ...given, site: given[names.site], permissions: given[names.permissions] });
  if (data === undefined || !isUuid(data.site)) {
    throw new Fault(
      'forbidden',
      `your account has no site: the claim "${names.site}" of the OpenID provider must be a site id`,
    );
  }
  return {
    subject: data.sub,
    name: data.name ?? data.preferred_username ?? data.email ?? data.sub,
    site: data.site,
    permissions: knownPermissions(data.permissions),
  };
}

/** @throws Fault 403 naming the permission that is missing; of several any will do */
export function requirePermission(actor: Actor, permission: Permission | readonly Permission[]): void {
  const permissions = typeof permission === 'string' ? [permission] : permission;
  if (permissions.some((each) => actor.permissions.has(each))) return;
  const needed = permissions.map((each) => `${each} (${PERMISSIONS[each]})`).join(' or ');
  throw new Fault('forbidden', `this needs the permission ${needed}`, { code: 'missing_permission' });
}
