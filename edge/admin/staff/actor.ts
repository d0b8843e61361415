/** An account as one of its sites sees it, and the check of its permissions. */
import { Fault } from '../../../shared/fault.ts';
import { type Permission, PERMISSIONS } from '../../permissions.ts';
import { type Account, readAccount } from './account.ts';

export interface Actor {
  readonly subject: string;
  readonly name: string;
  readonly site: string;
  readonly permissions: ReadonlySet<Permission>;
}

/** The author of a change, as the history shows it. */
export const authorOf = ({ name, subject }: Actor): string => `${name} (${subject})`;

/** The account in one of its sites; undefined if it has no grant there. */
export function actorAt({ subject, name, grants }: Account, site: string): Actor | undefined {
  const permissions = grants.get(site);
  return permissions && { subject, name, site, permissions };
}

/** The account in each of its sites. */
export const actorsOf = ({ subject, name, grants }: Account): readonly Actor[] =>
  [...grants].map(([site, permissions]) => ({ subject, name, site, permissions }));

/** Reads an actor of one site from claims with the usual names. @throws Fault `forbidden` if they give no site */
export function toActor(given: Readonly<Record<string, unknown>>): Actor {
  const [actor] = actorsOf(readAccount(given));
  if (actor === undefined) throw new TypeError('readAccount returned an account without a site');
  return actor;
}

/** @param permission one permission, or a list of which any is enough. @throws Fault 403 that names the missing permission */
export function requirePermission(actor: Actor, permission: Permission | readonly Permission[]): void {
  const permissions = typeof permission === 'string' ? [permission] : permission;
  if (permissions.some((each) => actor.permissions.has(each))) return;
  const needed = permissions.map((each) => `${each} (${PERMISSIONS[each]})`).join(' or ');
  throw new Fault('forbidden', `this needs the permission ${needed}`, { code: 'missing_permission' });
}
