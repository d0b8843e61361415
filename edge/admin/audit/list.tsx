/** Who saw or changed what. */
import { AUDIT_ACTIONS } from '../../store/audit.ts';
import type { AuditRow } from '../../store/admin-audit.ts';
import type { List } from '../api/cursor.ts';
import { Empty, Filter, Moment, Pager, Row, Select, Table, When } from '../web/ui.tsx';
import { actorOf } from './view.ts';

interface AuditListProps {
  readonly list: List<AuditRow>;
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
}

const ACTIONS = [{ value: '', label: 'any' }, ...AUDIT_ACTIONS.map((action) => ({ value: action, label: action }))];

const KINDS = {
  key: 'API key',
  person: 'person',
  sidecar: 'sidecar',
  operator: 'operator',
  gateway: 'by itself',
} as const;

/** A page may have been of hundreds: the first few, and how many more. */
const SHOWN = 5;

const References = ({ of }: { of: readonly string[] }) => (
  <>
    {of.slice(0, SHOWN).map((reference) => (
      <div>
        <code>{reference}</code>
      </div>
    ))}
    {of.length <= SHOWN ? null : <div class="quiet">and {of.length - SHOWN} more</div>}
  </>
);

const FIELDS = [
  { name: 'patient', label: 'Patient (id)', size: 36 },
  { name: 'clientId', label: 'API key (Client ID)', size: 36 },
  { name: 'actor', label: 'Who', size: 16 },
] as const;

export const AuditList = ({ list, query, path }: AuditListProps) => (
  <>
    <p>
      One row for each request that reached data, written together with it. It names no patient but by id, and of a
      search only which parameters were given. Looking here is on record too.
    </p>
    <Filter label="Audit">
      {FIELDS.map(({ name, label, size }) => (
        <label>
          <span>{label}</span>
          <input name={name} value={query[name] ?? ''} size={size} />
        </label>
      ))}
      <Select name="action" label="Action" value={query['action'] ?? ''} options={ACTIONS} />
      <Moment name="from" label="From" value={query['from'] ?? ''} />
      <Moment name="to" label="To" value={query['to'] ?? ''} />
    </Filter>
    <p>
      <a href={`${path}/events.ndjson?${new URLSearchParams(query).toString()}`}>
        Download as FHIR AuditEvent (NDJSON)
      </a>
    </p>
    {list.items.length === 0 ? (
      <Empty>Nothing was found.</Empty>
    ) : (
      <Table label="Audit" head={['When', 'Who', 'From', 'Action', 'Resources', 'Patients', 'Request']}>
        {list.items.map((row) => (
          <Row>
            <th scope="row">
              <When at={row.at} />
            </th>
            <td class="ids">
              <code>{actorOf(row)}</code> <span class="quiet">{KINDS[row.actor_kind]}</span>
              {row.actor_kind === 'key' || row.client_id === null ? null : (
                <div>
                  <code>{row.client_id}</code>
                </div>
              )}
            </td>
            <td>{row.address ?? ''}</td>
            <td>
              {row.action}
              {row.parts.length + row.parameters.length === 0 ? null : (
                <div class="quiet">{[...row.parts, ...row.parameters].join(', ')}</div>
              )}
            </td>
            <td class="ids">
              <References of={row.resources} />
            </td>
            <td class="ids">
              <References of={row.patients} />
            </td>
            <td class="ids">
              <code>{row.request_id}</code>
            </td>
          </Row>
        ))}
      </Table>
    )}
    <Pager path={path} query={query} next={list.next} />
  </>
);
