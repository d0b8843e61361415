/** Replays of many messages: the filter, its count, and the progress of each replay. */
import { counted } from '../web/counted.ts';
import { Backwards, Badge, Input, Moment, OfSite, Outcome, Select, Table, type Option, When } from '../web/ui.tsx';
import { Differences } from '../messages/differences.tsx';
import type { ReplayPreview } from '../messages/message-replay.ts';
import { AckErrors } from '../messages/as-sent.tsx';
import { CommentField } from '../messages/replay.tsx';
import type { SendingKeyRow } from '../../store/message-search.ts';
import type { ReplaySample, ReplayView } from './operations.ts';

const TONES = { open: 'plain', done: 'good', failed: 'bad', stopped: 'warn' } as const;

const FILTER_MEMBERS = [
  ['outcome', 'outcome'],
  ['type', 'type'],
  ['reason', 'reason'],
  ['clientId', 'API key'],
  ['from', 'from'],
  ['to', 'until'],
  ['unmapped', 'without a URI for'],
] as const;

const filterText = (filter: ReplayView['filter'], keys: readonly SendingKeyRow[]): string => {
  const named = { ...filter, clientId: keys.find((key) => key.client_id === filter.clientId)?.name ?? filter.clientId };
  const given = FILTER_MEMBERS.flatMap(([name, label]) => (named[name] === '' ? [] : [`${label} ${named[name]}`]));
  return given.length === 0 ? 'all messages' : given.join(', ');
};

/** The address of the messages that match a filter. The list shows those with this outcome now. */
function listOf(messagePath: string, filter: Readonly<Record<string, string>>): string {
  const given = FILTER_MEMBERS.map(([name]) => [name, filter[name] ?? '']).filter(([, value]) => value !== '');
  return given.length === 0 ? messagePath : `${messagePath}?${new URLSearchParams(given).toString()}`;
}

const Outcomes = ({
  replay: { filter, outcomes },
  messagePath,
}: {
  replay: ReplayView;
  messagePath: string | undefined;
}) => (
  <>
    {(['AA', 'AE', 'AR'] as const).map((outcome, at) => (
      <>
        {at === 0 ? '' : ', '}
        {outcomes[outcome] === 0 || messagePath === undefined ? (
          `${outcome} ${outcomes[outcome]}`
        ) : (
          <a href={listOf(messagePath, { ...filter, reason: '', outcome })}>
            {outcome} {outcomes[outcome].toLocaleString('en')}
          </a>
        )}
      </>
    ))}
  </>
);

/** The key of the filter is an option also if it no longer sends. */
function keyOptions(keys: readonly SendingKeyRow[], chosen: string): Option[] {
  const listed = keys.map((key) => ({ value: key.client_id, label: key.name }));
  const isListed = chosen === '' || listed.some(({ value }) => value === chosen);
  return [{ value: '', label: 'any' }, ...(isListed ? [] : [{ value: chosen, label: chosen }]), ...listed];
}

const changedOf = (preview: ReplayPreview) => preview.changes.filter(({ change }) => change !== 'unchanged');
const countOf = (samples: readonly ReplaySample[], change: 'created' | 'changed'): number =>
  samples.reduce((sum, { preview }) => sum + preview.changes.filter((each) => each.change === change).length, 0);

/** The first messages as they would become, with counts by kind. */
const Sample = ({ samples, messagePath }: { samples: readonly ReplaySample[]; messagePath: string }) => (
  <section aria-labelledby="sample">
    <h2 id="sample">The first {samples.length === 1 ? 'message' : `${samples.length} messages`}, not applied</h2>
    <p>
      {(['AA', 'AE', 'AR'] as const)
        .map((outcome) => `${outcome} ${samples.filter(({ preview }) => preview.outcome === outcome).length}`)
        .join(', ')}
      ; {counted(countOf(samples, 'created'), 'resource')} created, {countOf(samples, 'changed')} changed,{' '}
      {counted(
        samples.reduce((sum, { preview }) => sum + preview.merges.length, 0),
        'merge',
      )}
      ,{' '}
      {counted(
        samples.reduce((sum, { preview }) => sum + preview.stale.length, 0),
        'resource',
      )}{' '}
      with newer data that stays.
    </p>
    {samples.map(({ messageId, name, preview }) => (
      <details>
        <summary>
          <Outcome outcome={preview.outcome} /> {name === '' ? messageId : name},{' '}
          {counted(changedOf(preview).length, 'change')}
        </summary>
        <p>
          <a href={`${messagePath}/${messageId}/replay`}>The message and its preview</a>
        </p>
        {preview.findings.length === 0 ? null : <AckErrors errors={preview.findings} />}
        {changedOf(preview).length === 0 ? (
          <p class="quiet">No resource changes.</p>
        ) : (
          <Differences label="Changes" resources={changedOf(preview)} />
        )}
      </details>
    ))}
  </section>
);

interface ReplaysPageProps {
  /** The previews of the first messages; undefined if they were not requested. */
  readonly samples: readonly ReplaySample[] | undefined;
  readonly keys: readonly SendingKeyRow[];
  /** Link to the messages; undefined without the permission. */
  readonly messagePath: string | undefined;
  readonly replays: readonly ReplayView[];
  readonly query: Readonly<Record<string, string>>;
  /** The time that is asked for ends before it begins. */
  readonly isBackwards: boolean;
  /** The number of matching messages; undefined before the form is sent. */
  readonly count: number | undefined;
  readonly path: string;
}

export const ReplaysPage = ({
  replays,
  query,
  isBackwards,
  count,
  samples,
  keys,
  messagePath,
  path,
}: ReplaysPageProps) => (
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
          { value: 'errors', label: 'errors (AE, AR)' },
          { value: 'AE', label: 'AE error' },
          { value: 'AR', label: 'AR rejected' },
          { value: 'AA', label: 'AA accepted' },
        ]}
      />
      <Input
        label="Reason of an error"
        name="reason"
        value={query['reason'] ?? ''}
        placeholder="ambiguous-patient"
        pattern="[a-z0-9\-]{0,60}"
      />
      <Input label="Type" name="type" value={query['type'] ?? ''} placeholder="ADT^A04" size={10} />
      <Select
        name="clientId"
        label="API key"
        value={query['clientId'] ?? ''}
        options={keyOptions(keys, query['clientId'] ?? '')}
      />
      <Moment name="from" label="From" value={query['from'] ?? ''} />
      <Moment name="to" label="To" value={query['to'] ?? ''} />
      {(query['unmapped'] ?? '') === '' ? null : (
        <Input label="Name without a URI" name="unmapped" value={query['unmapped']} />
      )}
      <button class="secondary" name="count" value="1">
        Count
      </button>
      {messagePath === undefined ? null : (
        <button class="secondary" name="count" value="preview">
          Preview
        </button>
      )}
    </form>
    {isBackwards ? <Backwards /> : null}
    {count === undefined ? null : (
      <form class="actions" method="post" action={path} aria-label="Replay">
        <OfSite />
        {FILTER_MEMBERS.map(([name]) => (
          <input type="hidden" name={name} value={query[name] ?? ''} />
        ))}
        <p>
          {count === 1 ? 'One message matches.' : `${count.toLocaleString('en')} messages match.`}{' '}
          {count === 0 || messagePath === undefined ? null : (
            <a href={listOf(messagePath, query)}>{count === 1 ? 'Show it' : 'Show them'}</a>
          )}
        </p>
        {count === 0 ? null : (
          <>
            <CommentField />
            <button>Replay</button>
          </>
        )}
      </form>
    )}
    {samples === undefined || samples.length === 0 || messagePath === undefined ? null : (
      <Sample {...{ samples, messagePath }} />
    )}
    <Table
      label="Replays"
      rows={replays}
      empty="No replays yet."
      columns={{
        Started: ({ createdAt }) => <When at={createdAt} />,
        By: ({ askedBy }) => askedBy,
        Messages: ({ filter, comment }) => (
          <>
            {filterText(filter, keys)}
            {comment === '' ? null : <q class="quiet">{comment}</q>}
          </>
        ),
        State: ({ state, lastError }) => (
          <>
            <Badge tone={TONES[state]}>{state === 'open' ? 'running' : state}</Badge>
            {lastError === null ? null : ` ${lastError}`}
          </>
        ),
        Done: ({ done, total }) => `${done} of ${total ?? done}`,
        Outcomes: (replay) => <Outcomes {...{ replay, messagePath }} />,
        Change: ({ replayId, state }) =>
          state === 'done' ? null : (
            <form method="post" action={`${path}/${replayId}/${state === 'open' ? 'stop' : 'resume'}`}>
              <button class="small secondary">{state === 'open' ? 'Stop' : 'Resume'}</button>
            </form>
          ),
      }}
    />
  </>
);
