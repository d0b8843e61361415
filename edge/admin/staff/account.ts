/** An account of the staff's OpenID provider, read from its claims (edge/docs/behaviour.md, Administration). */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { isText } from '../../../shared/text.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { type GroupGrant, knownPermissions, type Permission } from '../../permissions.ts';

/** The permissions of an account, by site. */
export type Grants = ReadonlyMap<string, ReadonlySet<Permission>>;

export interface Account {
  readonly subject: string;
  /** The subject where the provider sends no name. */
  readonly name: string;
  /** At least one site, in the provider's order. */
  readonly grants: Grants;
}

/** Providers send a list or, as OAuth does with scopes, one text with spaces. */
const permissionsClaim = z.union([
  z.array(z.string()),
  z.string().transform((text) => text.split(/[\s,]+/).filter((item) => item !== '')),
]);

/** A name is only shown: where PostgreSQL cannot store it, the next claim names the account. */
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
  // A group's name may hold spaces, so that a text is one group.
  groups: z.union([z.array(z.string()), z.string().transform((name) => [name])]).default([]),
  /** Claims that did not fit into the token (OpenID Connect Core 1.0 §5.6.2). */
  _claim_names: z.record(z.string(), z.unknown()).catch({}).default({}),
});

/** The names of the provider's claims, and what its groups may do. */
export interface ClaimRules {
  readonly site: string;
  readonly permissions: string;
  readonly groups: string;
  /** By name; undefined where groups grant nothing. */
  readonly byGroup: ReadonlyMap<string, GroupGrant> | undefined;
}

const USUAL: ClaimRules = { site: 'site', permissions: 'permissions', groups: 'groups', byGroup: undefined };

/** True if a token lacks claims that the rules need: the provider's userinfo endpoint may have them. */
export function lacksOwnClaims(given: Readonly<Record<string, unknown>>, rules: ClaimRules): boolean {
  const needed = rules.byGroup === undefined ? [rules.site, rules.permissions] : [rules.groups];
  return needed.some((name) => given[name] === undefined);
}

/**
 * Reads an account from claims. The permissions claim holds in every site of the site claim, a group's permissions in the
 * group's sites only.
 *
 * @throws Fault `forbidden` if the claims give no site
 */
export function readAccount(given: Readonly<Record<string, unknown>>, rules = USUAL): Account {
  const own = { site: given[rules.site], permissions: given[rules.permissions], groups: given[rules.groups] };
  const { data } = claims.safeParse({ ...given, ...own });
  if (data === undefined || !data.site.every(isUuid)) {
    throw new Fault(
      'forbidden',
      `your account has no site: the provider's claim "${rules.site}" must be a site id, or a list of them`,
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

/** The reason, for the provider's administrator. */
function whyNoSite(rules: ClaimRules, { groups, _claim_names: elsewhere }: z.infer<typeof claims>): string {
  if (rules.byGroup === undefined) return `the OpenID provider must send a site id in the claim "${rules.site}"`;
  if (Object.hasOwn(elsewhere, rules.groups)) {
    return 'the OpenID provider left your groups out because there are too many: let it send only the groups that are assigned to this application';
  }
  if (groups.length === 0) return `the OpenID provider sends no claim "${rules.groups}"`;
  return 'none of your groups is in ADMIN_OIDC_GROUPS';
}
