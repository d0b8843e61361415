/** People and groups with access to the console, for the JSON API and the page. */
import * as z from 'zod';

import type { Config } from '../../config.ts';
import { listPeople, type PersonRow } from '../../store/console-person.ts';
import { knownPermissions } from '../../permissions.ts';

/** More than a hospital's integration team; the list leaves out the people last seen longest ago. */
export const MAX_PEOPLE = 500;

export const peopleOf = (site: string) => listPeople(site, MAX_PEOPLE);

export const personItem = z.object({
  subject: z.string().meta({ description: 'The `sub` of the OpenID provider, which the audit uses.' }),
  name: z.string(),
  permissions: z.array(z.string()).meta({ description: 'Permissions at this site, of the provider’s last answer.' }),
  firstSeen: z.iso.datetime(),
  lastSeen: z.iso.datetime(),
  sessions: z.number().int().meta({ description: 'The number of open sessions.' }),
});
export type PersonView = z.infer<typeof personItem>;

export const viewPerson = (row: PersonRow): PersonView => ({
  subject: row.subject,
  name: row.name,
  // The provider may send others, which the gateway ignores.
  permissions: [...knownPermissions(row.permissions)],
  firstSeen: row.first_seen,
  lastSeen: row.last_seen,
  sessions: row.sessions,
});

/** The provider's groups with access to a site, and their permissions. */
export function groupsAt({ ADMIN_OIDC_GROUPS: groups }: Pick<Config, 'ADMIN_OIDC_GROUPS'>, site: string) {
  return [...(groups ?? [])]
    .filter(([, { sites }]) => sites.includes(site))
    .map(([name, { permissions }]) => ({ name, permissions }));
}
