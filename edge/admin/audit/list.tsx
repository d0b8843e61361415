/** The page of the audit. */
import { AUDIT_ACTIONS } from '../../audit-actions.ts';
import type { AuditRow } from '../../store/admin-audit.ts';
import type { List } from '../api/cursor.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { Empty, Filter, Moment, Notice, Pager, Row, Select, Table, When } from '../web/ui.tsx';
import { ACTION_CHOICES } from './actions.ts';
import { actorOf } from './view.ts';

interface AuditListProps {
  readonly list: List<AuditRow> & { readonly identified: readonly string[] };
  /** Link to the API keys; undefined without the permission to see them. */
  readonly keysPath: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  /** The query of the page's address, in which an identifier is sealed. */
  readonly address: Readonly<Record<string, string>>;
  readonly path: string;
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

/** The resources, and the patients that are not among them. */
const Reached = ({ row: { resources, patients } }: { row: AuditRow }) => {
  const others = patients.filter((id) => !resources.includes(`Patient/${id}`));
  return (
    <>
      {resources.slice(0, SHOWN).map((reference) => {
        const [type = '', id] = reference.split('/');
        return (
          <div>
            {TYPE_NAMES.get(type) ?? type} <code>{id}</code>
          </div>
        );
      })}
      <More of={resources} />
      {others.slice(0, SHOWN).map((id) => (
        <div>
          <span class="quiet">of patient</span> <code>{id}</code>
        </div>
      ))}
      <More of={others} />
    </>
  );
};

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

const Who = ({ row, keysPath }: { row: AuditRow; keysPath: string | undefined }) => {
  const name = actorOf(row);
  const isKey = row.actor_kind === 'key' && keysPath !== undefined;
  return (
    <>
      {row.called === null ? null : isKey ? <a href={`${keysPath}/${row.client_id}`}>{row.called}</a> : row.called}{' '}
      <span class="quiet">{KINDS[row.actor_kind]}</span>
      <div>
        <code>{name}</code>
      </div>
      {row.actor_kind === 'key' || row.client_id === null ? null : (
        <div>
          for <code>{row.client_id}</code>
        </div>
      )}
      {row.address === null ? null : (
        <div>
          <span class="quiet">from</span> <code>{row.address}</code>
        </div>
      )}
    </>
  );
};

export const AuditList = ({ list, query, address, path, keysPath }: AuditListProps) => (
  <>
    <p class="lead">
      Each request that reached data has one row, written with it: who read this patient, who changed that key. Patients
      appear by id only, and searches by their parameters without values. Viewing the audit is recorded too.
    </p>
    <Filter label="Audit" postTo={path}>
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
    <PatientsFound query={query} identified={list.identified} />
    <p>
      <a href={`${path}/events.ndjson?${new URLSearchParams(address).toString()}`}>
        Download all rows as FHIR AuditEvent (NDJSON)
      </a>
    </p>
    {list.items.length === 0 ? (
      <Empty>No matching rows.</Empty>
    ) : (
      <Table label="Audit" head={['When', 'Actor', 'Action', 'Resources']}>
        {list.items.map((row) => (
          <Row>
            <th scope="row" class="narrow">
              <When at={row.at} />
            </th>
            <td class="ids">
              <Who {...{ row, keysPath }} />
            </td>
            <td class="ids">
              {AUDIT_ACTIONS[row.action].label}
              {row.parts.length === 0 ? null : (
                <div class="quiet">{row.parts.map((part) => AUDIT_ACTIONS[part].label).join(', ')}</div>
              )}
              {row.parameters.length === 0 ? null : <div class="quiet">by {row.parameters.join(', ')}</div>}
            </td>
            <td class="lines">
              <Reached row={row} />
              <div>
                <span class="quiet">by request</span> <code>{row.request_id}</code>
              </div>
            </td>
          </Row>
        ))}
      </Table>
    )}
    <Pager path={path} query={address} next={list.next} />
  </>
);
