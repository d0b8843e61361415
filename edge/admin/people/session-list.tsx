/** The list of open sessions. */
import { Confirm } from '../web/confirm.tsx';
import { Badge, type ListProps, OfSite, Pager, Section, Table, When } from '../web/ui.tsx';
import type { SessionView } from './sessions.ts';

interface SessionListProps extends ListProps<SessionView> {
  /** The session of the request. */
  readonly own: string;
}

export const SessionList = ({ list, query, path, own }: SessionListProps) => (
  <Section id="sessions" title="Sessions" class="sessions">
    <p class="quiet">
      A session ends by signing out, after 30 minutes without a request, after 8 hours, by the OpenID provider, or here.
      The person can sign in again as long as the provider allows it: lock the account there too.
    </p>
    <Table
      label="Sessions"
      rows={list.items}
      columns={{
        Person: (item) => (
          <>
            {item.name} <small class="quiet">{item.subject}</small>{' '}
            {item.sessionId === own ? <Badge tone="plain">you, here</Badge> : null}
          </>
        ),
        Since: (item) => <When at={item.startedAt} />,
        'Last request': (item) => <When at={item.seenAt} relative />,
        Address: (item) => <code>{item.sourceAddress}</code>,
        Browser: (item) => <td class="quiet">{item.userAgent}</td>,
        Action: (item) => (
          <Confirm label="End">
            <p>{item.sessionId === own ? 'You have' : `${item.name} has`} to sign in again at once.</p>
            <form method="post" action={`${path}/${item.sessionId}/end`}>
              <button class="danger" aria-label={`End the session of ${item.name}`}>
                End the session
              </button>
            </form>
          </Confirm>
        ),
      }}
    />
    <Pager {...{ path, query }} next={list.next} />
    <Confirm label="End all sessions">
      <p>All people at this site, including you, have to sign in again at once. Unsaved input is lost.</p>
      <form method="post" action={`${path}/end`}>
        <OfSite />
        <button class="danger">End all sessions of the site</button>
      </form>
    </Confirm>
  </Section>
);
