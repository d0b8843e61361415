/** Who may come in, who has, and what each permission allows: for the JSON API and the page alike. */
import * as z from 'zod';

import type { Config } from '../../config.ts';
import { listPeople, type PersonRow } from '../../store/console-person.ts';
import { knownPermissions } from '../../permissions.ts';

/** More than a hospital's integration team has; who was not there for longest is left out. */
export const MAX_PEOPLE = 500;

export const peopleOf = (site: string) => listPeople(site, MAX_PEOPLE);

export const personItem = z.object({
  subject: z.string().meta({ description: 'At the OpenID provider; the audit names them by it.' }),
  name: z.string(),
  permissions: z.array(z.string()).meta({ description: 'What the provider said last that they may do at this site.' }),
  firstSeen: z.iso.datetime(),
  lastSeen: z.iso.datetime(),
  sessions: z.number().int().meta({ description: 'How many go on.' }),
});
export type PersonView = z.infer<typeof personItem>;

export const viewPerson = (row: PersonRow): PersonView => ({
  subject: row.subject,
  name: row.name,
  // A provider may send others, which mean nothing here.
  permissions: [...knownPermissions(row.permissions)],
  firstSeen: row.first_seen,
  lastSeen: row.last_seen,
  sessions: row.sessions,
});

/** Groups of the provider whose members may come in to a site, with what they may do there. */
export function groupsAt({ ADMIN_OIDC_GROUPS: groups }: Pick<Config, 'ADMIN_OIDC_GROUPS'>, site: string) {
  return [...(groups ?? [])]
    .filter(([, { sites }]) => sites.includes(site))
    .map(([name, { permissions }]) => ({ name, permissions }));
}
