/** The page of the audit. */
import * as z from 'zod';

import { isUuid } from '../../../shared/uuid.ts';
import { AUDIT_ACTIONS } from '../../audit-actions.ts';
import type { NamedAuditRow } from '../../store/admin-audit.ts';
import type { List } from '../api/cursor.ts';
import { listedName } from '../attention/person.ts';
import { Empty, Filter, Input, Moment, Notice, Pager, Select, Table, When } from '../web/ui.tsx';
import { ACTION_CHOICES } from './actions.ts';
import type { AuditPage, AuditView } from './listing.ts';
import { Actor, addressOf, type AuditLinks, Linked, OfPatient, pageOf, type Query } from './links.tsx';
import { ByActor, ByPatient } from './sums.tsx';

interface AuditSearchProps {
  readonly found: AuditPage;
  readonly view: AuditView;
  readonly query: Query;
  /** The query of the page's address, in which an identifier is sealed. */
  readonly address: Query;
  readonly links: AuditLinks;
}

/** One access can reach hundreds of resources. */
const SHOWN = 5;

/** Types that are not FHIR resources. */
const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ['Hl7Message', 'HL7 message'],
  ['ApiKey', 'API key'],
  ['ConsoleSession', 'session'],
  ['BulkExport', 'export'],
  ['Site', 'site'],
  ['Alert', 'alert'],
]);

const More = ({ of }: { of: readonly string[] }) =>
  of.length <= SHOWN ? null : <div class="quiet">and {of.length - SHOWN} more</div>;

const named = z.record(z.string(), z.unknown());
const texts = z.record(z.string(), z.string());

interface RowProps {
  readonly row: NamedAuditRow;
  readonly address: Query;
  readonly links: AuditLinks;
}

/** The resources, and the patients that are not among them. */
const Reached = ({ row, address, links }: RowProps) => {
  const { resources, patients } = row;
  const names = named.parse(JSON.parse(row.names ?? '{}'));
  const messages = texts.parse(JSON.parse(row.messages ?? '{}'));
  const others = patients.filter((id) => !resources.includes(`Patient/${id}`));
  const nameOf = (id: string): string => listedName(names[id]);
  return (
    <>
      {resources.slice(0, SHOWN).map((reference) => {
        const [type = '', id = ''] = reference.split('/');
        // An unreadable message has neither type nor control id.
        const shown = type === 'Patient' ? nameOf(id) : (messages[id] ?? '').trim();
        return (
          <div>
            {TYPE_NAMES.get(type) ?? type}{' '}
            <Linked href={pageOf(links, type, id)}>
              {shown === '' ? <code>{id}</code> : <span title={id}>{shown}</span>}
            </Linked>
            {type === 'Patient' ? <OfPatient {...{ id, address, links }} /> : null}
          </div>
        );
      })}
      <More of={resources} />
      {others.slice(0, SHOWN).map((id) => (
        <div>
          <span class="quiet">of patient</span>{' '}
          <Linked href={pageOf(links, 'Patient', id)}>
            {nameOf(id) === '' ? <code>{id}</code> : <span title={id}>{nameOf(id)}</span>}
          </Linked>
          <OfPatient {...{ id, address, links }} />
        </div>
      ))}
      <More of={others} />
    </>
  );
};

const FIELDS = {
  patient: { label: 'Patient (identifier or id)', size: 24 },
  actor: { label: 'Actor', size: 16 },
  clientId: { label: 'API key (Client ID)', size: 24 },
} as const;

const Field = ({ name, query }: { name: keyof typeof FIELDS; query: Query }) => (
  <Input label={FIELDS[name].label} name={name} value={query[name] ?? ''} size={FIELDS[name].size} />
);

/** The patients with the identifier of the filter. */
const PatientsFound = ({
  query,
  identified,
}: {
  query: Readonly<Record<string, string>>;
  identified: readonly string[];
}) => {
  const asked = query['patient']?.trim() ?? '';
  if (asked === '' || isUuid(asked.replace(/^Patient\//, '').toLowerCase())) return null;
  if (identified.length === 0) {
    return (
      <Notice tone="warn">
        No patient has the identifier {asked}. Enter it exactly as it is stored. Search for an erased patient by id.
      </Notice>
    );
  }
  return (
    <Notice tone="plain">
      {identified.length === 1 ? 'One patient has' : `${identified.length} patients have`} the identifier {asked}:{' '}
      {identified.map((id) => (
        <>
          <code>{id}</code>{' '}
        </>
      ))}
    </Notice>
  );
};

const Who = ({ row, address, links }: RowProps) => (
  <>
    <Actor {...{ row, address, links }} />
    {row.actor_kind === 'key' || row.client_id === null ? null : (
      <div>
        for{' '}
        <Linked href={links.keys === undefined ? undefined : `${links.keys}/${row.client_id}`}>
          <code>{row.client_id}</code>
        </Linked>
      </div>
    )}
    {row.address === null ? null : (
      <div>
        <span class="word quiet">from </span>
        <code>{row.address}</code>
      </div>
    )}
  </>
);

const VIEWS: readonly { readonly view: AuditView; readonly title: string }[] = [
  { view: 'rows', title: 'Rows' },
  { view: 'actors', title: 'By actor' },
  { view: 'patients', title: 'By patient' },
];

const Rows = ({ list, address, links }: { list: List<NamedAuditRow>; address: Query; links: AuditLinks }) => (
  <div class="audit">
    <Table
      label="Audit"
      rows={list.items}
      columns={{
        When: (row) => (
          <th scope="row" class="narrow">
            <When at={row.at} />
            <div>
              <small>
                <Linked
                  href={
                    links.search === undefined
                      ? undefined
                      : `${links.search}?${new URLSearchParams({ text: row.request_id }).toString()}`
                  }
                >
                  <span title={row.request_id}>
                    <span class="word">request </span>…{row.request_id.slice(-6)}
                  </span>
                </Linked>
              </small>
            </div>
          </th>
        ),
        Actor: (row) => (
          <td class="ids">
            <Who {...{ row, address, links }} />
          </td>
        ),
        Action: (row) => (
          <td class="ids">
            <a href={addressOf(links, address, { action: row.action })}>{AUDIT_ACTIONS[row.action].label}</a>
            {row.parts.length === 0 ? null : (
              <div class="quiet">{row.parts.map((part) => AUDIT_ACTIONS[part].label).join(', ')}</div>
            )}
            {row.parameters.length === 0 ? null : <div class="quiet">by {row.parameters.join(', ')}</div>}
          </td>
        ),
        Resources: (row) => (
          <td class="ids">
            <Reached {...{ row, address, links }} />
          </td>
        ),
      }}
    />
    <Pager path={links.audit} query={address} next={list.next} />
  </div>
);

export const AuditSearch = ({ found, view, query, address, links }: AuditSearchProps) => {
  const { list, actors, patients, identified } = found;
  return (
    <>
      <p class="lead">
        Each request that reached data has one row. Searches appear by their parameters without values. Viewing the
        audit is recorded too{links.messages === undefined ? '.' : ', with the patients that you see by name.'}
      </p>
      <Filter label="Audit" postTo={links.audit}>
        {view === 'rows' ? null : <input type="hidden" name="view" value={view} />}
        <Field name="patient" query={query} />
        <Field name="actor" query={query} />
        <Select name="action" label="Action" value={query['action'] ?? ''} options={ACTION_CHOICES} />
        <details class="more" open={['clientId', 'from', 'to'].some((name) => (query[name] ?? '') !== '')}>
          <summary>More filters</summary>
          <div class="filter">
            <Field name="clientId" query={query} />
            <Moment name="from" label="From" value={query['from'] ?? ''} />
            <Moment name="to" label="To" value={query['to'] ?? ''} />
          </div>
        </details>
      </Filter>
      <PatientsFound query={query} identified={identified} />
      <div class="heading">
        <nav class="tabs" aria-label="How the rows are shown">
          {VIEWS.map((each) => (
            <a
              href={addressOf(links, address, { view: each.view === 'rows' ? '' : each.view })}
              aria-current={each.view === view ? 'page' : undefined}
            >
              {each.title}
            </a>
          ))}
        </nav>
        <p>
          <a href={`${links.audit}/events.ndjson?${new URLSearchParams(address).toString()}`}>
            Download all rows as FHIR AuditEvent (NDJSON)
          </a>
        </p>
      </div>
      {(list?.items ?? actors ?? patients ?? []).length === 0 ? <Empty>No matching rows.</Empty> : null}
      {list === undefined || list.items.length === 0 ? null : <Rows {...{ list, address, links }} />}
      {actors === undefined || actors.length === 0 ? null : <ByActor sums={actors} {...{ address, links }} />}
      {patients === undefined || patients.length === 0 ? null : <ByPatient sums={patients} {...{ address, links }} />}
    </>
  );
};
