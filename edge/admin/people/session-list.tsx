/** The list of who is signed in. */
import type { List } from '../api/cursor.ts';
import { Confirm } from '../web/confirm.tsx';
import { Badge, Pager, Row, Table, When } from '../web/ui.tsx';
import type { SessionView } from './sessions.ts';

interface SessionListProps {
  readonly list: List<SessionView>;
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
  /** The session that looks. */
  readonly own: string;
}

export const SessionList = ({ list, query, path, own }: SessionListProps) => (
  <section aria-labelledby="sessions" class="sessions">
    <h2 id="sessions">Who is signed in</h2>
    <p class="quiet">
      A session ends by signing out, after 30 minutes without a request, after 8 hours in all, when the OpenID provider
      says so, or here. Whoever may sign in at the provider can sign in again: lock the account there too.
    </p>
    <Table label="Sessions" head={['Who', 'Since', 'Last request', 'From', 'Browser', 'Action']}>
      {list.items.map((item) => (
        <Row>
          <th scope="row">
            {item.name} <small class="quiet">{item.subject}</small>{' '}
            {item.sessionId === own ? <Badge tone="plain">you, here</Badge> : null}
          </th>
          <td>
            <When at={item.startedAt} />
          </td>
          <td>
            <When at={item.seenAt} relative />
          </td>
          <td>
            <code>{item.sourceAddress}</code>
          </td>
          <td class="quiet">{item.userAgent}</td>
          <td>
            <Confirm label="End">
              <p>{item.sessionId === own ? 'You have' : `${item.name} has`} to sign in again, at once.</p>
              <form method="post" action={`${path}/${item.sessionId}/end`}>
                <button class="danger" aria-label={`End the session of ${item.name}`}>
                  End the session
                </button>
              </form>
            </Confirm>
          </td>
        </Row>
      ))}
    </Table>
    <Pager {...{ path, query }} next={list.next} />
    <Confirm label="End all, yours too">
      <p>Everybody at this site has to sign in again, at once. What they have typed and not saved is lost.</p>
      <form method="post" action={`${path}/end`}>
        <button class="danger">End all sessions of the site</button>
      </form>
    </Confirm>
  </section>
);
