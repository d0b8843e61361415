/** The log of HL7 messages: what is looked for, what was found, and where nothing was, what else there is. */
import type { PropsWithChildren } from 'hono/jsx';

import { isRequestId } from '../../http/request-id.ts';
import { MAX_ELSEWHERE } from '../../store/messages-elsewhere.ts';
import { MAX_COUNTED } from '../../store/message-candidates.ts';
import { Backwards, Filter, Moment, Refreshed, Select, When } from '../web/ui.tsx';
import type { MessageList as Listed } from './listing.ts';
import { ALL_COLUMNS, COLUMNS, type MessageColumn, MessageTable } from './table.tsx';

type Query = Readonly<Record<string, string>>;

interface MessageListProps {
  /** Null where the time that is asked for ends before it begins. */
  readonly list: Listed | null;
  readonly query: Query;
  /** The query of the page's address, in which patient data is sealed. */
  readonly address: Query;
  /** The addresses of all messages with the text of the search as a patient, and as a control id. */
  readonly elsewherePaths: { readonly patient: string; readonly controlId: string };
  readonly columns: readonly MessageColumn[];
  /** Link to the replay of these messages; undefined without the permission, or for a filter that replays do not have. */
  readonly replayPath: string | undefined;
  readonly path: string;
  readonly keyPath: string;
  readonly requestsPath: string;
}

const RANGES = [
  { range: '', title: 'All' },
  { range: 'today', title: 'Today' },
  { range: '24h', title: '24 hours' },
  { range: '7d', title: '7 days' },
  { range: '30d', title: '30 days' },
] as const;

const OUTCOMES = [
  { value: '', label: 'any' },
  { value: 'errors', label: 'errors only (AE, AR)' },
  { value: 'warnings', label: 'with warnings (AA)' },
  { value: 'AA', label: 'AA accepted' },
  { value: 'AE', label: 'AE error' },
  { value: 'AR', label: 'AR rejected' },
] as const;

/** The same list with other filters, from its beginning. */
function addressOf(path: string, query: Query, change: Query): string {
  const { cursor: _cursor, newer: _newer, ...rest } = query;
  const given = Object.entries({ ...rest, ...change }).filter(([, value]) => value !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

const Chip = ({ path, address, outcome, label }: { path: string; address: Query; outcome: string; label: string }) => {
  const isOn = address['outcome'] === outcome;
  return (
    <a
      class="chip"
      href={addressOf(path, address, { outcome: isOn ? '' : outcome })}
      aria-current={isOn ? 'true' : undefined}
    >
      {label}
    </a>
  );
};

const Field = ({
  query,
  name,
  label,
  hint,
  size,
}: {
  query: Query;
  name: string;
  label: string;
  hint: string;
  size?: number;
}) => (
  <label class={size === undefined ? 'grow' : ''}>
    <span>{label}</span>
    <input
      type={size === undefined ? 'search' : 'text'}
      name={name}
      value={query[name] ?? ''}
      placeholder={hint}
      size={size}
    />
  </label>
);

type FiltersProps = Pick<MessageListProps, 'query' | 'address' | 'path'> & Pick<Listed, 'keys'>;

const Filters = ({ query, address, path, keys }: FiltersProps) => {
  const hasTimes = (query['from'] ?? '') !== '' || (query['to'] ?? '') !== '';
  const isFolded = ['type', 'reason', 'clientId', 'from', 'to'].every((name) => (query[name] ?? '') === '');
  return (
    <>
      <Filter label="Messages" postTo={path}>
        <Field
          query={query}
          name="patient"
          label="Patient: identifier or name"
          hint="4711, 4711^^^EAST, Lovelace Ada"
        />
        <Field query={query} name="q" label="Control id or sender, in part, or request id" hint="ORU-77, LAB" />
        <Select name="outcome" label="Outcome" value={query['outcome'] ?? ''} options={OUTCOMES} />
        {['range', 'unmapped'].map((name) =>
          (query[name] ?? '') === '' ? null : <input type="hidden" name={name} value={query[name]} />,
        )}
        <details class="more" open={!isFolded}>
          <summary>More filters</summary>
          <div class="filter">
            <Field
              query={query}
              name="reason"
              label="Reason, code or place of an error"
              hint="ambiguous-patient, 205, PID-3"
              size={26}
            />
            <Field query={query} name="type" label="Type" hint="ADT^A04" size={10} />
            <Select
              name="clientId"
              label="API key"
              value={query['clientId'] ?? ''}
              options={[
                { value: '', label: 'any' },
                ...keys.map(({ client_id: value, name: label }) => ({ value, label })),
              ]}
            />
            <Moment name="from" label="From" value={query['from'] ?? ''} />
            <Moment name="to" label="To" value={query['to'] ?? ''} />
          </div>
        </details>
      </Filter>
      <div class="chips">
        <nav class="tabs" aria-label="Time span">
          {RANGES.map(({ range, title }) => (
            <a
              href={addressOf(path, address, { range, from: '', to: '' })}
              aria-current={!hasTimes && (query['range'] ?? '') === range ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        <Chip {...{ path, address }} outcome="errors" label="Errors only" />
        <Chip {...{ path, address }} outcome="warnings" label="With warnings" />
      </div>
    </>
  );
};

const counted = (count: number, isMore: boolean): string =>
  isMore
    ? `More than ${MAX_COUNTED.toLocaleString('en')} messages`
    : count === 1
      ? 'One message'
      : `${count.toLocaleString('en')} messages`;

/** The choice of columns. It returns to the same list. */
const Columns = ({ columns, address, path }: { columns: readonly MessageColumn[]; address: Query; path: string }) => (
  <details class="more columns">
    <summary>Columns</summary>
    <form class="filter" method="post" action={`${path}/columns`}>
      <input type="hidden" name="address" value={new URLSearchParams(address).toString()} />
      <div class="choices">
        {ALL_COLUMNS.map((name) => (
          <label class="choice">
            <input type="checkbox" name="columns" value={name} checked={columns.includes(name)} />
            <span>{COLUMNS[name].title}</span>
          </label>
        ))}
      </div>
      <button class="small">Keep these columns</button>
    </form>
  </details>
);

const Elsewhere = ({ count, href }: { count: number; href: string }) =>
  count === 0 ? <>none</> : <a href={href}>{count >= MAX_ELSEWHERE ? `${MAX_ELSEWHERE} or more` : count}</a>;

/** Explains the comparison, and links to other matches. */
const NothingFound = ({
  list: { elsewhere },
  query,
  elsewherePaths,
  requestsPath,
}: Pick<MessageListProps, 'query' | 'elsewherePaths' | 'requestsPath'> & { list: Listed }) => {
  const patient = query['patient'] ?? '';
  const text = query['q'] ?? '';
  const term = patient || text;
  const isNarrowed = Object.entries(query).some(([name, value]) => !['patient', 'q'].includes(name) && value !== '');
  const since = query['from'] ?? '';
  return (
    <div class="empty">
      <p>
        No message{' '}
        {since === '' ? null : (
          <>
            since <When at={since} />{' '}
          </>
        )}
        {(query['range'] ?? '') === ''
          ? ''
          : `of ${RANGES.find(({ range }) => range === query['range'])?.title.toLowerCase()} `}
        {patient === '' ? '' : `has the patient “${patient}”`}
        {patient !== '' && text !== '' ? ', and ' : ''}
        {text === '' ? '' : `has “${text}” in its control id or sender, or as its request id`}
        {term === '' ? 'matches' : ''}
        {isNarrowed && term !== '' ? ' and matches the other filters' : ''}.
      </p>
      {patient === '' ? null : (
        <p>
          Identifiers were compared completely, in PID-3, PID-2, PID-4, MRG-1 and MRG-4, ignoring case, blanks, hyphens
          and leading zeros. Names were compared by the beginning of each word, in PID-5, PID-9 and MRG-7, ignoring
          accents. Messages whose bytes were deleted are not found.
        </p>
      )}
      {elsewhere === null || term === '' ? null : (
        <ul class="plain">
          {patient !== '' && !isNarrowed ? null : (
            <li>
              Messages of all times and outcomes with this identifier:{' '}
              <Elsewhere count={elsewhere.numbers} href={elsewherePaths.patient} />; with a name that begins with it:{' '}
              <Elsewhere count={elsewhere.names} href={elsewherePaths.patient} />
            </li>
          )}
          <li>
            Control ids that contain it: <Elsewhere count={elsewhere.control_ids} href={elsewherePaths.controlId} />
          </li>
          {isRequestId(text) ? (
            <li>
              Rejected or failed requests with this request id:{' '}
              <a href={addressOf(requestsPath, {}, { q: text })}>see Requests</a>
            </li>
          ) : null}
        </ul>
      )}
    </div>
  );
};

const Pages = ({ list: { previous, next }, path, address }: { list: Listed; path: string; address: Query }) => {
  const to = (change: Query) => addressOf(path, address, change);
  if (previous === null && next === null) return null;
  return (
    <p class="pager">
      {previous === null ? null : (
        <a href={to({ newer: previous })} rel="prev">
          Newer
        </a>
      )}{' '}
      {next === null ? null : (
        <a href={to({ cursor: next })} rel="next">
          Older
        </a>
      )}
    </p>
  );
};

/** The newest are kept up to date. A list with patients is read less often, because each reading has an audit event. */
const Live = ({ isLive, seconds, children }: PropsWithChildren<{ isLive: boolean; seconds: number }>) =>
  isLive ? (
    <Refreshed id="messages" seconds={seconds}>
      {children}
    </Refreshed>
  ) : (
    <section>{children}</section>
  );

export const MessageList = ({
  list,
  query,
  address,
  columns,
  replayPath,
  path,
  keyPath,
  ...paths
}: MessageListProps) => (
  <>
    <Filters {...{ query, address, path }} keys={list?.keys ?? []} />
    {(query['unmapped'] ?? '') === '' ? null : (
      <p>
        Only those that have the name <code>{query['unmapped']?.slice(query['unmapped'].indexOf(':') + 1)}</code>{' '}
        without a URI. <a href={path}>Show all</a>
      </p>
    )}
    {list === null ? (
      <Backwards />
    ) : list.items.length === 0 ? (
      <NothingFound {...{ list, query, ...paths }} />
    ) : (
      <Live isLive={list.isFirst && (query['patient'] ?? '') === ''} seconds={columns.includes('patient') ? 60 : 15}>
        <div class="heading">
          <p class="count">
            {list.count === null ? null : <strong>{counted(list.count, list.isMore)}</strong>}{' '}
            <span class="quiet">
              as a file: <a href={addressOf(`${path}/file/csv`, address, {})}>CSV</a>{' '}
              <a href={addressOf(`${path}/file/ndjson`, address, {})}>NDJSON</a>
            </span>
            {replayPath === undefined ? null : (
              <>
                {' '}
                <a href={replayPath}>Replay them …</a>
              </>
            )}
          </p>
          <Columns {...{ columns, address, path }} />
        </div>
        <MessageTable
          items={list.items}
          columns={columns}
          {...{ path, keyPath }}
          isByPatient={(query['patient'] ?? '') !== ''}
        />
        <Pages {...{ list, address, path }} />
      </Live>
    )}
  </>
);
