/** Why requests were refused or failed: how many of each reason since when, the exact reason, and what to change. */
import type { Config } from '../../config.ts';
import { timeOfUuidv7 } from '../../../shared/uuid.ts';
import { isRequestId } from '../../http/request-id.ts';
import { hintFor } from '../../refusals.ts';
import { type FoundRefusal, MAX_ROWS } from '../../store/admin-refusal.ts';
import { MAX_REQUEST_IDS } from '../../store/refusal.ts';
import type { List } from '../api/cursor.ts';
import { linkTo } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Badge, Empty, Filter, Input, Moment, Pager, Search, Select, When } from '../web/ui.tsx';
import { explainedAt } from './explained.ts';
import { quartersOf } from './view.ts';

const SURFACE_NAMES = { token: 'Token', fhir: 'FHIR', hl7: 'HL7 over HTTP', mllp: 'HL7 over MLLP' } as const;

const toneOf = (answer: string) => (answer.startsWith('5') ? 'bad' : 'warn');
const times = (requests: number): string => `${requests.toLocaleString('en')} times`;

const Quarters = ({ row }: { row: FoundRefusal }) => {
  const quarters = quartersOf(row);
  if (quarters.length < 2) return null;
  const most = Math.max(...quarters.map(({ requests }) => requests));
  return (
    <details>
      <summary>By quarter of an hour</summary>
      <ul class="quarters">
        {quarters.map(({ since, requests }) => (
          <li>
            <When at={since} />
            <meter min={0} max={most} value={requests} aria-label={`requests since ${since}`}></meter>
            <span>{requests.toLocaleString('en')}</span>
          </li>
        ))}
      </ul>
    </details>
  );
};

interface RefusalsProps {
  readonly items: readonly FoundRefusal[];
  readonly config: Config;
  /** On the page of the key itself it is not named. */
  readonly isOfKey?: boolean;
}

export const Refusals = ({ items, config, isOfKey = false }: RefusalsProps) => (
  <ol class="refusals">
    {items.map((row) => {
      const { href, title } = explainedAt(config, row);
      const key = `${linkTo(config, PLACES.keys.path)}/${row.client_id}`;
      const having = (query: Record<string, string>): string =>
        `${linkTo(config, PLACES.requests.path)}?${new URLSearchParams({ ...query, range: '' }).toString()}`;
      return (
        <li>
          <p class="reason">
            {row.answer === '' ? null : <Badge tone={toneOf(row.answer)}>{row.answer}</Badge>}{' '}
            {row.reason === '' ? 'Further reasons: the gateway keeps ten of each code' : row.reason}
          </p>
          {hintFor(row.code) === null ? null : <p class="hint">{hintFor(row.code)}</p>}
          <p class="meta">
            {row.requests === 1 ? null : (
              <span>
                <strong>{times(row.requests)}</strong> since <When at={row.first_at} />
              </span>
            )}
            <span>
              {row.requests === 1 ? '' : 'last '}
              <When at={row.last_at} />
            </span>
            <a href={having({ surface: row.surface })}>{SURFACE_NAMES[row.surface]}</a>
            {isOfKey ? null : <a href={key}>{row.key_name}</a>}
            <span>
              from{' '}
              <a href={having({ q: row.source_address })} title="All rejected requests from this address">
                <code>{row.source_address}</code>
              </a>
            </span>
            <span>
              code{' '}
              <a href={having({ clientId: row.client_id, code: row.code })} title="Only this API key and this code">
                <code>{row.code}</code>
              </a>
            </span>
            <span>
              {row.is_by_request_id && row.requests > 1 ? 'one of them is request' : 'request'}{' '}
              <a href={having({ q: row.request_id })}>
                <code>{row.request_id}</code>
              </a>
            </span>
            <a href={href}>{title}</a>
          </p>
          <Quarters row={row} />
        </li>
      );
    })}
  </ol>
);

const STATUSES = ['400', '401', '403', '404', '409', '412', '413', '415', '422', '429', '503'];

const TABS = [
  { range: '1h', title: '1 hour' },
  { range: '24h', title: '24 hours' },
  { range: '7d', title: '7 days' },
  { range: '', title: 'All that is kept' },
] as const;

/** Refusals are counted by it (migrations/functions/refusals_note.sql). */
const QUARTER_MS = 900_000;

/** The next step for a person whose request id is not kept. */
const IdNotFound = ({ id, config, nowMs }: { id: string; config: Config; nowMs: number }) => {
  // An id of a later time was made by another program.
  const madeAt = timeOfUuidv7(id) ?? Infinity;
  const quarter = madeAt - (madeAt % QUARTER_MS);
  const addressOf = (path: string, query: Record<string, string>): string =>
    `${linkTo(config, path)}?${new URLSearchParams(query).toString()}`;
  const inQuarter = (from: number): string => {
    const times = { from: new Date(from).toISOString(), to: new Date(from + QUARTER_MS).toISOString() };
    return addressOf(PLACES.requests.path, { range: '', ...times });
  };
  return (
    <div class="empty">
      <p>
        No request with the id <code>{id}</code> fits the filters. The page has an id some seconds after the answer. It
        keeps the newest {MAX_REQUEST_IDS} ids of each key, reason and quarter of an hour.
      </p>
      <ul class="plain">
        {madeAt > nowMs ? null : (
          <li>
            The id was made at <When at={new Date(madeAt).toISOString()} />:{' '}
            <a href={inQuarter(quarter)}>show the rejected requests of that quarter of an hour</a>
          </li>
        )}
        <li>
          <a href={addressOf(PLACES.messages.path, { q: id })}>Look for it in Messages</a>, where accepted messages are
          found too
        </li>
        <li>
          A request without a known API key is only in the gateway’s log: ask the operator for the line of this id.
        </li>
      </ul>
    </div>
  );
};

interface RequestPageProps {
  readonly list: List<FoundRefusal>;
  readonly query: Readonly<Record<string, string>>;
  readonly range: string;
  readonly config: Config;
  readonly nowMs: number;
}

export const RequestPage = ({ list, query, range, config, nowMs }: RequestPageProps) => {
  const path = linkTo(config, PLACES.requests.path);
  const clientId = query['clientId'] ?? '';
  const text = (query['q'] ?? '').trim();
  const hasTimes = (query['from'] ?? '') !== '' || (query['to'] ?? '') !== '';
  const { from: _from, to: _to, cursor: _cursor, ...rest } = query;
  const withRange = (value: string): string => `${path}?${new URLSearchParams({ ...rest, range: value }).toString()}`;
  return (
    <>
      <p class="lead">
        Rejected and failed requests of all keys on all four surfaces. Some answers hide the reason from callers, so
        that they learn nothing about other keys. This page shows the reasons, without the content of the requests.
      </p>
      <nav class="tabs" aria-label="Time span">
        {TABS.map((tab) => (
          <a href={withRange(tab.range)} aria-current={!hasTimes && tab.range === range ? 'page' : undefined}>
            {tab.title}
          </a>
        ))}
      </nav>
      <Filter label="Requests">
        {clientId === '' ? null : <input type="hidden" name="clientId" value={clientId} />}
        <input type="hidden" name="range" value={range} />
        <Search label="Reason, address or request id" value={query['q'] ?? ''} />
        <Select
          name="surface"
          label="Surface"
          value={query['surface'] ?? ''}
          options={[
            { value: '', label: 'any' },
            ...Object.entries(SURFACE_NAMES).map(([value, label]) => ({ value, label })),
          ]}
        />
        <Select
          name="status"
          label="Answer"
          value={query['status'] ?? ''}
          options={[
            { value: '', label: 'any' },
            { value: '4xx', label: '4xx rejected' },
            { value: '5xx', label: '5xx failed' },
            ...STATUSES.map((value) => ({ value, label: value })),
            { value: 'AE', label: 'AE' },
            { value: 'AR', label: 'AR' },
          ]}
        />
        <Input label="Code" name="code" value={query['code'] ?? ''} placeholder="aud, 101, required" size={12} />
        <Moment name="from" label="From" value={query['from'] ?? ''} />
        <Moment name="to" label="To" value={query['to'] ?? ''} />
      </Filter>
      {clientId === '' ? null : (
        <p>
          Only those of{' '}
          <a href={`${linkTo(config, PLACES.keys.path)}/${clientId}`}>{list.items[0]?.key_name ?? 'one API key'}</a>.{' '}
          <a href={path}>Show all</a>
        </p>
      )}
      {list.items.some((row) => row.is_by_request_id) ? (
        <p class="quiet">
          Found by its request id, at any time. A row counts all requests of its reason in a quarter of an hour.
        </p>
      ) : null}
      {list.items.length === 0 && isRequestId(text) ? (
        <IdNotFound id={text} {...{ config, nowMs }} />
      ) : list.items.length === 0 ? (
        <Empty>
          {text === ''
            ? 'No requests were rejected or failed in this time.'
            : 'No request of this time fits the filters.'}
        </Empty>
      ) : (
        <Refusals items={list.items} config={config} />
      )}
      {list.items.some(({ is_cut: isCut }) => isCut) ? (
        <p class="quiet">Only the newest {MAX_ROWS.toLocaleString('en')} rows were added up. Choose a shorter time.</p>
      ) : null}
      <Pager path={path} query={query} next={list.next} />
    </>
  );
};
