/** The page of the audit. */
import type { PropsWithChildren } from 'hono/jsx';
import * as z from 'zod';

import { isResourceType } from '../../../shared/resource-type.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { AUDIT_ACTIONS } from '../../audit-actions.ts';
import {
  type ActorSumRow,
  type AuditRow,
  MAX_SUMMED,
  MAX_SUMS,
  type NamedAuditRow,
  type PatientSumRow,
} from '../../store/admin-audit.ts';
import type { List } from '../api/cursor.ts';
import { listedName } from '../attention/person.ts';
import { Empty, Filter, Moment, Notice, Pager, Row, Select, Table, When } from '../web/ui.tsx';
import { ACTION_CHOICES } from './actions.ts';
import type { AuditPage, AuditView } from './listing.ts';
import { actorOf } from './view.ts';

type Query = Readonly<Record<string, string>>;

/** Paths of pages; undefined without the permission to see them. */
export interface AuditLinks {
  readonly audit: string;
  readonly messages: string | undefined;
  readonly keys: string | undefined;
  readonly alerts: string | undefined;
  readonly settings: string | undefined;
  readonly people: string | undefined;
  readonly search: string | undefined;
}

interface AuditSearchProps {
  readonly found: AuditPage;
  readonly view: AuditView;
  readonly query: Query;
  /** The query of the page's address, in which an identifier is sealed. */
  readonly address: Query;
  readonly links: AuditLinks;
}

/** The page with other filters, from its beginning. */
function addressOf({ audit }: AuditLinks, address: Query, change: Query): string {
  const { cursor: _, ...rest } = address;
  const given = Object.entries({ ...rest, ...change }).filter(([, value]) => value !== '');
  return given.length === 0 ? audit : `${audit}?${new URLSearchParams(given).toString()}`;
}

const KINDS = {
  key: 'API key',
  person: 'person',
  sidecar: 'sidecar',
  operator: 'operator',
  gateway: 'gateway',
} as const;

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

const Linked = ({ href, children }: PropsWithChildren<{ href: string | undefined }>) =>
  href === undefined ? <>{children}</> : <a href={href}>{children}</a>;

const named = z.record(z.string(), z.unknown());
const texts = z.record(z.string(), z.string());

/** The page of a resource or another thing; undefined without one. */
function pageOf(links: AuditLinks, type: string, id: string): string | undefined {
  const { messages, keys } = links;
  switch (type) {
    case 'Hl7Message':
      return messages === undefined ? undefined : `${messages}/${id}`;
    case 'ApiKey':
      return keys === undefined ? undefined : `${keys}/svc-${id}`;
    case 'ConsoleSession':
      return links.people;
    case 'Alert':
      return links.alerts;
    case 'Site':
      return links.settings;
    case 'BulkExport':
      return undefined;
    default:
      return messages === undefined || !isResourceType(type) ? undefined : `${messages}/resources/${type}/${id}`;
  }
}

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
        const shown = type === 'Patient' ? nameOf(id) : (messages[id] ?? '');
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

const OfPatient = ({ id, address, links }: { id: string; address: Query; links: AuditLinks }) => (
  <>
    {' '}
    <small>
      <a href={addressOf(links, address, { patient: id, view: '' })} aria-label={`All rows of patient ${id}`}>
        all rows
      </a>
    </small>
  </>
);

const FIELDS = [
  { name: 'patient', label: 'Patient (identifier or id)', size: 24 },
  { name: 'actor', label: 'Actor', size: 16 },
  { name: 'clientId', label: 'API key (Client ID)', size: 24 },
] as const;

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

interface ActorProps {
  readonly row: Pick<AuditRow, 'actor_kind' | 'actor' | 'client_id' | 'called'>;
  readonly address: Query;
  readonly links: AuditLinks;
}

/** The actor by name, with a link to the key, and to the actor's rows. */
const Actor = ({ row, address, links }: ActorProps) => {
  const name = actorOf(row);
  const isKey = row.actor_kind === 'key' && links.keys !== undefined;
  const shown = row.called ?? name;
  return (
    <>
      <Linked href={isKey ? `${links.keys}/${row.client_id}` : undefined}>
        <span title={name}>{shown}</span>
      </Linked>{' '}
      {shown === row.actor_kind ? null : <span class="quiet">{KINDS[row.actor_kind]}</span>}{' '}
      {row.actor_kind === 'gateway' ? null : (
        <small>
          <a href={addressOf(links, address, { actor: name, view: '' })} aria-label={`All rows of ${shown}`}>
            all rows
          </a>
        </small>
      )}
    </>
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
        <span class="quiet">from</span> <code>{row.address}</code>
      </div>
    )}
  </>
);

const VIEWS: readonly { readonly view: AuditView; readonly title: string }[] = [
  { view: 'rows', title: 'Rows' },
  { view: 'actors', title: 'By actor' },
  { view: 'patients', title: 'By patient' },
];

/** The limits that the sums reached. */
const Cut = ({ sums }: { sums: readonly { readonly total: number }[] }) => (
  <>
    {(sums[0]?.total ?? 0) < MAX_SUMMED ? null : (
      <p class="quiet">
        Only the newest {MAX_SUMMED.toLocaleString('en')} rows were added up. Choose a shorter time to add up all.
      </p>
    )}
    {sums.length < MAX_SUMS ? null : <p class="quiet">Only the {MAX_SUMS} with the most rows are listed.</p>}
  </>
);

interface SumsProps<Sum> {
  readonly sums: readonly Sum[];
  readonly address: Query;
  readonly links: AuditLinks;
}

const ByActor = ({ sums, address, links }: SumsProps<ActorSumRow>) => (
  <>
    <Table label="Rows by actor" head={['Actor', 'Rows', 'Seen', 'Changed', 'Patients', 'First', 'Last']}>
      {sums.map((row) => (
        <Row>
          <th scope="row">
            <Actor {...{ row, address, links }} />
          </th>
          <td class="number">{row.accesses.toLocaleString('en')}</td>
          <td class="number">{row.seen.toLocaleString('en')}</td>
          <td class="number">{row.changed.toLocaleString('en')}</td>
          <td class="number">
            {row.patients === 0 || row.actor_kind === 'gateway' ? (
              row.patients
            ) : (
              <a href={addressOf(links, address, { actor: actorOf(row), view: 'patients' })}>
                {row.patients.toLocaleString('en')}
              </a>
            )}
          </td>
          <td>
            <When at={row.first_at} />
          </td>
          <td>
            <When at={row.last_at} />
          </td>
        </Row>
      ))}
    </Table>
    <Cut sums={sums} />
  </>
);

const ByPatient = ({ sums, address, links }: SumsProps<PatientSumRow>) => (
  <>
    <Table label="Rows by patient" head={['Patient', 'Rows', 'Seen', 'Changed', 'Actors', 'First', 'Last']}>
      {sums.map(({ id, name, ...row }) => {
        const shown = name === null ? '' : listedName(JSON.parse(name));
        return (
          <Row>
            <th scope="row">
              <Linked href={pageOf(links, 'Patient', id)}>
                {shown === '' ? <code>{id}</code> : <span title={id}>{shown}</span>}
              </Linked>
              {/* Several patients may have one name. */}
              {shown === '' ? null : <small class="quiet"> …{id.slice(-6)}</small>}
              <OfPatient {...{ id, address, links }} />
            </th>
            <td class="number">{row.accesses.toLocaleString('en')}</td>
            <td class="number">{row.seen.toLocaleString('en')}</td>
            <td class="number">{row.changed.toLocaleString('en')}</td>
            <td class="number">
              <a href={addressOf(links, address, { patient: id, view: 'actors' })}>{row.actors.toLocaleString('en')}</a>
            </td>
            <td>
              <When at={row.first_at} />
            </td>
            <td>
              <When at={row.last_at} />
            </td>
          </Row>
        );
      })}
    </Table>
    <Cut sums={sums} />
  </>
);

const Rows = ({ list, address, links }: { list: List<NamedAuditRow>; address: Query; links: AuditLinks }) => (
  <>
    <Table label="Audit" head={['When', 'Actor', 'Action', 'Resources']}>
      {list.items.map((row) => (
        <Row>
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
                  <span title={row.request_id}>request …{row.request_id.slice(-6)}</span>
                </Linked>
              </small>
            </div>
          </th>
          <td class="ids">
            <Who {...{ row, address, links }} />
          </td>
          <td class="ids">
            <a href={addressOf(links, address, { action: row.action })}>{AUDIT_ACTIONS[row.action].label}</a>
            {row.parts.length === 0 ? null : (
              <div class="quiet">{row.parts.map((part) => AUDIT_ACTIONS[part].label).join(', ')}</div>
            )}
            {row.parameters.length === 0 ? null : <div class="quiet">by {row.parameters.join(', ')}</div>}
          </td>
          <td class="ids">
            <Reached {...{ row, address, links }} />
          </td>
        </Row>
      ))}
    </Table>
    <Pager path={links.audit} query={address} next={list.next} />
  </>
);

export const AuditSearch = ({ found, view, query, address, links }: AuditSearchProps) => {
  const { list, actors, patients, identified } = found;
  return (
    <>
      <p class="lead">
        Each request that reached data has one row, written with it: who read this patient, who changed that key.
        Searches appear by their parameters without values. Viewing the audit is recorded too
        {links.messages === undefined ? '.' : ', with the patients that you see by name.'}
      </p>
      <Filter label="Audit" postTo={links.audit}>
        {view === 'rows' ? null : <input type="hidden" name="view" value={view} />}
        {FIELDS.map(({ name, label, size }) => (
          <label>
            <span>{label}</span>
            <input name={name} value={query[name] ?? ''} size={size} />
          </label>
        ))}
        <Select name="action" label="Action" value={query['action'] ?? ''} options={ACTION_CHOICES} />
        <Moment name="from" label="From" value={query['from'] ?? ''} />
        <Moment name="to" label="To" value={query['to'] ?? ''} />
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
