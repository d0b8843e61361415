/** Replays of many messages: the filter, its count, and the progress of each replay. */
import { Badge, Empty, Moment, Row, Select, Table, When } from '../web/ui.tsx';
import { CommentField } from '../messages/replay.tsx';
import type { ReplayView } from './operations.ts';

const TONES = { open: 'plain', done: 'good', failed: 'bad', stopped: 'warn' } as const;

const FILTER_MEMBERS = [
  ['outcome', 'outcome'],
  ['reason', 'reason'],
  ['clientId', 'API key'],
  ['from', 'from'],
  ['to', 'until'],
  ['unmapped', 'without a URI for'],
] as const;

const filterText = (filter: ReplayView['filter']): string => {
  const given = FILTER_MEMBERS.flatMap(([name, label]) => (filter[name] === '' ? [] : [`${label} ${filter[name]}`]));
  return given.length === 0 ? 'all messages' : given.join(', ');
};

interface ReplaysPageProps {
  readonly replays: readonly ReplayView[];
  readonly query: Readonly<Record<string, string>>;
  /** The number of matching messages; undefined before the form is sent. */
  readonly count: number | undefined;
  readonly path: string;
}

export const ReplaysPage = ({ replays, query, count, path }: ReplaysPageProps) => (
  <>
    <p class="lead">
      After the cause of many rejections is fixed, replay the messages in the order of receipt. Elements with newer data
      stay as they are.
    </p>
    <form class="filter" method="get" aria-label="Messages">
      <Select
        name="outcome"
        label="Outcome"
        value={query['outcome'] ?? ''}
        options={[
          { value: '', label: 'any' },
          { value: 'AE', label: 'AE error' },
          { value: 'AR', label: 'AR rejected' },
          { value: 'AA', label: 'AA accepted' },
        ]}
      />
      <label>
        <span>Reason of an error</span>
        <input name="reason" value={query['reason'] ?? ''} placeholder="ambiguous-patient" pattern="[a-z0-9\-]{0,60}" />
      </label>
      <label>
        <span>Client ID</span>
        <input name="clientId" value={query['clientId'] ?? ''} placeholder="svc-…" />
      </label>
      <Moment name="from" label="From" value={query['from'] ?? ''} />
      <Moment name="to" label="To" value={query['to'] ?? ''} />
      {(query['unmapped'] ?? '') === '' ? null : (
        <label>
          <span>Name without a URI</span>
          <input name="unmapped" value={query['unmapped']} />
        </label>
      )}
      <button class="secondary" name="count" value="1">
        Count
      </button>
    </form>
    {count === undefined ? null : (
      <form class="actions" method="post" action={path}>
        {FILTER_MEMBERS.map(([name]) => (
          <input type="hidden" name={name} value={query[name] ?? ''} />
        ))}
        <p>{count === 1 ? 'One message matches.' : `${count.toLocaleString('en')} messages match.`}</p>
        {count === 0 ? null : (
          <>
            <CommentField />
            <button>Replay</button>
          </>
        )}
      </form>
    )}
    {replays.length === 0 ? (
      <Empty>No replays yet.</Empty>
    ) : (
      <Table label="Replays" head={['Started', 'By', 'Messages', 'State', 'Done', 'Outcomes', 'Change']}>
        {replays.map(({ replayId, createdAt, askedBy, comment, filter, state, done, total, outcomes, lastError }) => (
          <Row>
            <th scope="row">
              <When at={createdAt} />
            </th>
            <td>{askedBy}</td>
            <td>
              {filterText(filter)}
              {comment === '' ? null : <q class="quiet">{comment}</q>}
            </td>
            <td>
              <Badge tone={TONES[state]}>{state === 'open' ? 'running' : state}</Badge>
              {lastError === null ? null : ` ${lastError}`}
            </td>
            <td>
              {done} of {total ?? done}
            </td>
            <td>
              AA {outcomes.AA}, AE {outcomes.AE}, AR {outcomes.AR}
            </td>
            <td>
              {state === 'done' ? null : (
                <form method="post" action={`${path}/${replayId}/${state === 'open' ? 'stop' : 'resume'}`}>
                  <button class="small secondary">{state === 'open' ? 'Stop' : 'Resume'}</button>
                </form>
              )}
            </td>
          </Row>
        ))}
      </Table>
    )}
  </>
);
