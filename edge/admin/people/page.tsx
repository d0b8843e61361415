/** The parts of `/admin/people` beside the sessions: people, access rules and permissions. */
import type { Config } from '../../config.ts';
import { ALL_PERMISSIONS, type Permission, PERMISSIONS } from '../../permissions.ts';
import { Badge, Section, Table, When } from '../web/ui.tsx';
import { groupsAt, MAX_PEOPLE, type PersonView } from './people.ts';

/** The number of permissions; it opens their list. */
const Allowed = ({ permissions, owner }: { permissions: readonly string[]; owner: string }) => {
  if (permissions.length === 0) return <span class="quiet">nothing</span>;
  const known = ALL_PERMISSIONS.filter((each) => permissions.includes(each));
  const count = known.length === ALL_PERMISSIONS.length ? 'everything' : `${known.length} of ${ALL_PERMISSIONS.length}`;
  return (
    <details>
      <summary aria-label={`Permissions of ${owner}: ${count}`}>{count}</summary>
      <ul>
        {known.map((each) => (
          <li>{PERMISSIONS[each]}</li>
        ))}
      </ul>
    </details>
  );
};

export const PeopleList = ({ people, own }: { people: readonly PersonView[]; own: string }) => (
  <Section id="been" title="People">
    <p class="quiet">
      Sign-ins to this site within 400 days{people.length < MAX_PEOPLE ? '' : `, the last ${MAX_PEOPLE} people`}.
      Permissions are those of the provider's last answer.
    </p>
    <Table
      label="People"
      rows={people}
      columns={{
        Person: ({ subject, name }) => (
          <>
            {name} <small class="quiet">{subject}</small>
          </>
        ),
        'Last seen': ({ lastSeen }) => <When at={lastSeen} relative />,
        'First seen': ({ firstSeen }) => <When at={firstSeen} />,
        Permissions: ({ name, permissions }) => <Allowed permissions={permissions} owner={name} />,
        State: ({ subject, sessions }) => (
          <>
            {sessions === 0 ? '' : <Badge tone="good">signed in</Badge>}{' '}
            {subject === own ? <Badge tone="plain">you</Badge> : ''}
          </>
        ),
      }}
    />
  </Section>
);

type Rules = Pick<Config, 'ADMIN_OIDC_GROUPS' | 'ADMIN_OIDC_GROUPS_CLAIM' | 'ADMIN_OIDC_SITE_CLAIM'> &
  Pick<Config, 'ADMIN_OIDC_PERMISSIONS_CLAIM' | 'ADMIN_OIDC_ISSUER'>;

/** The gateway has no list of users: the claims of the provider grant access. */
export const AccessRules = ({ config, site }: { config: Rules; site: string }) => {
  const groups = groupsAt(config, site);
  return (
    <Section id="may" title="Access">
      <p>
        The OpenID provider <code>{config.ADMIN_OIDC_ISSUER ?? ''}</code> has the accounts and passwords. A permission
        that is removed there ends here within 15 minutes. Access needs this site's id, <code>{site}</code>, in the
        claim <code>{config.ADMIN_OIDC_SITE_CLAIM}</code>. The claim <code>{config.ADMIN_OIDC_PERMISSIONS_CLAIM}</code>{' '}
        lists the permissions.
        {config.ADMIN_OIDC_GROUPS === undefined ? null : (
          <>
            {' '}
            Members of these groups have access too, by the claim <code>{config.ADMIN_OIDC_GROUPS_CLAIM}</code>.
          </>
        )}
      </p>
      {config.ADMIN_OIDC_GROUPS === undefined ? null : (
        <Table
          label="Groups"
          rows={groups}
          empty="ADMIN_OIDC_GROUPS has no group for this site."
          columns={{
            Group: ({ name }) => <code>{name}</code>,
            Permissions: ({ name, permissions }) => <Allowed permissions={permissions} owner={`the group ${name}`} />,
          }}
        />
      )}
    </Section>
  );
};

export const PermissionTable = ({ own }: { own: ReadonlySet<Permission> }) => (
  <Section id="permissions" title="Permissions">
    <Table
      label="Permissions"
      rows={ALL_PERMISSIONS}
      columns={{
        Permission: (each) => <code>{each}</code>,
        'Lets you': (each) => PERMISSIONS[each],
        'You have it': (each) => (own.has(each) ? 'yes' : 'no'),
      }}
    />
  </Section>
);
