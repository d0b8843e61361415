/** What staff may do, by the names their provider puts into the claim `permissions` (edge/docs/behaviour.md, Administration). */
import * as z from 'zod';

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
  'site.alerts.update': 'acknowledge and mute alerts',
  'site.sessions.end': 'see who is signed in to the console, and end sessions',
  'gateway.operate': 'see what belongs to the whole gateway: the keys that sign access tokens',
} as const;
export type Permission = keyof typeof PERMISSIONS;

const isPermission = (value: string): value is Permission => Object.hasOwn(PERMISSIONS, value);

export const ALL_PERMISSIONS: readonly Permission[] = Object.keys(PERMISSIONS).filter(isPermission);

/** Those that mean something here; a provider may send others. */
export const knownPermissions = (names: readonly string[]): ReadonlySet<Permission> =>
  new Set(names.filter(isPermission));

/** What somebody may do in each site. */
export type Grants = ReadonlyMap<string, ReadonlySet<Permission>>;

/** Whoever a provider speaks of. */
export interface Person {
  readonly subject: string;
  /** For people: the name, or the subject where the provider tells none. */
  readonly name: string;
  /** By site, one at least, in the provider's order. */
  readonly grants: Grants;
}

/** Whoever signed in or brought a token, as one of the sites sees them. */
export interface Actor {
  readonly subject: string;
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
  site: z
    .union([
      z.array(z.string().toLowerCase()),
      z
        .string()
        .toLowerCase()
        .transform((site) => [site]),
    ])
    .default([]),
  permissions: permissionsClaim.default([]),
  // A name may hold spaces, so that a text is one group.
  groups: z.union([z.array(z.string()), z.string().transform((name) => [name])]).default([]),
  /** Claims that did not fit into the token (OpenID Connect Core 1.0 §5.6.2). */
  _claim_names: z.record(z.string(), z.unknown()).catch({}).default({}),
});

/** What members of a group of the provider may do, and where. */
export interface GroupGrant {
  readonly sites: readonly string[];
  readonly permissions: readonly Permission[];
}

/** How a provider tells what somebody may do: the names of its claims, and what its groups stand for here. */
export interface ClaimRules {
  readonly site: string;
  readonly permissions: string;
  readonly groups: string;
  /** By name; undefined where groups say nothing. */
  readonly byGroup: ReadonlyMap<string, GroupGrant> | undefined;
}

const USUAL: ClaimRules = { site: 'site', permissions: 'permissions', groups: 'groups', byGroup: undefined };

/** True where a provider has not told what the rules need: it may be at its userinfo endpoint. */
export function lacksOwnClaims(given: Readonly<Record<string, unknown>>, rules: ClaimRules): boolean {
  const needed = rules.byGroup === undefined ? [rules.site, rules.permissions] : [rules.groups];
  return needed.some((name) => given[name] === undefined);
}

/**
 * Whom the claims speak of. Permissions of the claim hold in every site that it stands beside, those of a group in the
 * group's sites only.
 *
 * @throws Fault `forbidden` when they give no site
 */
export function toPerson(given: Readonly<Record<string, unknown>>, rules = USUAL): Person {
  const own = { site: given[rules.site], permissions: given[rules.permissions], groups: given[rules.groups] };
  const { data } = claims.safeParse({ ...given, ...own });
  if (data === undefined || !data.site.every(isUuid)) {
    throw new Fault(
      'forbidden',
      `your account has no site: the claim "${rules.site}" of the OpenID provider must be a site id, or a list of them`,
    );
  }
  const grants = new Map<string, Set<Permission>>();
  const grant = (site: string, permissions: Iterable<Permission>): void => {
    grants.set(site, new Set([...(grants.get(site) ?? []), ...permissions]));
  };
  for (const site of data.site) grant(site, knownPermissions(data.permissions));
  for (const name of data.groups) {
    const group = rules.byGroup?.get(name);
    for (const site of group?.sites ?? []) grant(site, group?.permissions ?? []);
  }
  if (grants.size === 0) throw new Fault('forbidden', `your account has no site: ${whyNoSite(rules, data)}`);
  return { subject: data.sub, name: data.name ?? data.preferred_username ?? data.email ?? data.sub, grants };
}

/** What a provider's administrator does about it. */
function whyNoSite(rules: ClaimRules, { groups, _claim_names: elsewhere }: z.infer<typeof claims>): string {
  if (rules.byGroup === undefined) return `the OpenID provider must send a site id in the claim "${rules.site}"`;
  if (Object.hasOwn(elsewhere, rules.groups)) {
    return 'the OpenID provider left your groups out because there are too many: let it send those only that are assigned to this application';
  }
  if (groups.length === 0) return `the OpenID provider sends no claim "${rules.groups}"`;
  return 'none of your groups is one of ADMIN_OIDC_GROUPS';
}

/** The same person in one of their sites; undefined where it is none of theirs. */
export function actorAt({ subject, name, grants }: Person, site: string): Actor | undefined {
  const permissions = grants.get(site);
  return permissions && { subject, name, site, permissions };
}

/** The same person in each of their sites. */
export const actorsOf = (person: Person): readonly Actor[] =>
  [...person.grants].map(([site, permissions]) => ({ subject: person.subject, name: person.name, site, permissions }));

/** Somebody of one site, by the usual names of claims. @throws Fault `forbidden` when they name no site */
export function toActor(given: Readonly<Record<string, unknown>>): Actor {
  const [actor] = actorsOf(toPerson(given));
  if (actor === undefined) throw new TypeError('whoever has no site is refused');
  return actor;
}

/** @throws Fault 403 naming the permission that is missing; of several any will do */
export function requirePermission(actor: Actor, permission: Permission | readonly Permission[]): void {
  const permissions = typeof permission === 'string' ? [permission] : permission;
  if (permissions.some((each) => actor.permissions.has(each))) return;
  const needed = permissions.map((each) => `${each} (${PERMISSIONS[each]})`).join(' or ');
  throw new Fault('forbidden', `this needs the permission ${needed}`, { code: 'missing_permission' });
}
