/** What `/admin/people` shows beside the sessions: who has been here, who may come in, and what each permission allows. */
import type { Config } from '../../config.ts';
import { ALL_PERMISSIONS, type Permission, PERMISSIONS } from '../../permissions.ts';
import { Badge, Empty, Row, Table, When } from '../web/ui.tsx';
import { groupsAt, MAX_PEOPLE, type PersonView } from './people.ts';

/** Permissions in words, behind how many there are; the names are the provider's administrator's. */
const Allowed = ({ permissions, whose }: { permissions: readonly string[]; whose: string }) => {
  if (permissions.length === 0) return <span class="quiet">nothing</span>;
  const known = ALL_PERMISSIONS.filter((each) => permissions.includes(each));
  const count = known.length === ALL_PERMISSIONS.length ? 'everything' : `${known.length} of ${ALL_PERMISSIONS.length}`;
  return (
    <details>
      <summary aria-label={`What ${whose} may do: ${count}`}>{count}</summary>
      <ul>
        {known.map((each) => (
          <li>{PERMISSIONS[each]}</li>
        ))}
      </ul>
    </details>
  );
};

export const PeopleList = ({ people, own }: { people: readonly PersonView[]; own: string }) => (
  <section aria-labelledby="been">
    <h2 id="been">Who has been here</h2>
    <p class="quiet">
      Everybody who signed in to this site within 400 days
      {people.length < MAX_PEOPLE ? '' : `, the last ${MAX_PEOPLE}`}. What they may do is what the provider said last.
    </p>
    <Table label="People" head={['Who', 'Last seen', 'First seen', 'May do', 'State']}>
      {people.map(({ subject, name, lastSeen, firstSeen, permissions, sessions }) => (
        <Row>
          <th scope="row">
            {name} <small class="quiet">{subject}</small>
          </th>
          <td>
            <When at={lastSeen} relative />
          </td>
          <td>
            <When at={firstSeen} />
          </td>
          <td>
            <Allowed permissions={permissions} whose={name} />
          </td>
          <td>
            {sessions === 0 ? '' : <Badge tone="good">signed in</Badge>}{' '}
            {subject === own ? <Badge tone="plain">you</Badge> : ''}
          </td>
        </Row>
      ))}
    </Table>
  </section>
);

type Rules = Pick<Config, 'ADMIN_OIDC_GROUPS' | 'ADMIN_OIDC_GROUPS_CLAIM' | 'ADMIN_OIDC_SITE_CLAIM'> &
  Pick<Config, 'ADMIN_OIDC_PERMISSIONS_CLAIM' | 'ADMIN_OIDC_ISSUER'>;

/** There is no list of users here: whom the provider sends with the right claim is let in. */
export const WhoMayComeIn = ({ config, site }: { config: Rules; site: string }) => {
  const groups = groupsAt(config, site);
  return (
    <section aria-labelledby="may">
      <h2 id="may">Who may come in</h2>
      <p>
        The OpenID provider <code>{config.ADMIN_OIDC_ISSUER ?? ''}</code> decides: accounts and passwords are there, and
        a right that is taken away there is gone here within 15 minutes. Let in is whose claim{' '}
        <code>{config.ADMIN_OIDC_SITE_CLAIM}</code> has the id of this site, <code>{site}</code>, with the permissions
        of the claim <code>{config.ADMIN_OIDC_PERMISSIONS_CLAIM}</code>
        {config.ADMIN_OIDC_GROUPS === undefined ? (
          '.'
        ) : (
          <>
            ; and the members of these groups, by the claim <code>{config.ADMIN_OIDC_GROUPS_CLAIM}</code>.
          </>
        )}
      </p>
      {config.ADMIN_OIDC_GROUPS === undefined ? null : groups.length === 0 ? (
        <Empty>No group of ADMIN_OIDC_GROUPS is of this site.</Empty>
      ) : (
        <Table label="Groups" head={['Group', 'Members may do']}>
          {groups.map(({ name, permissions }) => (
            <Row>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>
                <Allowed permissions={permissions} whose={`the group ${name}`} />
              </td>
            </Row>
          ))}
        </Table>
      )}
    </section>
  );
};

export const PermissionTable = ({ own }: { own: ReadonlySet<Permission> }) => (
  <section aria-labelledby="permissions">
    <h2 id="permissions">What each permission allows</h2>
    <Table label="Permissions" head={['Permission', 'Lets you', 'You have it']}>
      {ALL_PERMISSIONS.map((each) => (
        <Row>
          <th scope="row">
            <code>{each}</code>
          </th>
          <td>{PERMISSIONS[each]}</td>
          <td>{own.has(each) ? 'yes' : 'no'}</td>
        </Row>
      ))}
    </Table>
  </section>
);
