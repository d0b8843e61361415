/** Who saw or changed what. */
import { AUDIT_ACTIONS } from '../../audit-actions.ts';
import type { AuditRow } from '../../store/admin-audit.ts';
import type { List } from '../api/cursor.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { Empty, Filter, Moment, Notice, Pager, Row, Select, Table, When } from '../web/ui.tsx';
import { ACTION_CHOICES } from './actions.ts';
import { actorOf } from './view.ts';

interface AuditListProps {
  readonly list: List<AuditRow> & { readonly numbered: readonly string[] };
  /** Where API keys are, as a link has it; undefined for whoever may not see them. */
  readonly keysPath: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
}

const KINDS = {
  key: 'API key',
  person: 'person',
  sidecar: 'sidecar',
  operator: 'operator',
  gateway: 'by itself',
} as const;

/** A page may have been of hundreds: the first few, and how many more. */
const SHOWN = 5;

/** What is no resource of FHIR. */
const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ['Hl7Message', 'HL7 message'],
  ['ApiKey', 'API key'],
  ['ConsoleSession', 'session'],
  ['BulkExport', 'export'],
  ['Site', 'site'],
  ['Alert', 'alert'],
]);

const More = ({ of }: { of: readonly string[] }) =>
  of.length <= SHOWN ? null : <div class="quiet">and {of.length - SHOWN} more</div>;

/** What was reached, the type before the id; and whose it is, where that says more. */
const Reached = ({ row: { resources, patients } }: { row: AuditRow }) => {
  const others = patients.filter((id) => !resources.includes(`Patient/${id}`));
  return (
    <>
      {resources.slice(0, SHOWN).map((reference) => {
        const [type = '', id] = reference.split('/');
        return (
          <div>
            {TYPE_WORDS.get(type) ?? type} <code>{id}</code>
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
  { name: 'patient', label: 'Patient (number or id)', size: 24 },
  { name: 'actor', label: 'Who', size: 16 },
  { name: 'clientId', label: 'API key (Client ID)', size: 24 },
] as const;

/** Whom a number means, or that nobody has it. */
const Meant = ({ query, numbered }: { query: Readonly<Record<string, string>>; numbered: readonly string[] }) => {
  const asked = query['patient']?.trim() ?? '';
  if (asked === '' || isUuid(asked.replace(/^Patient\//, '').toLowerCase())) return null;
  if (numbered.length === 0) {
    return (
      <Notice tone="warn">
        No patient is known by the number {asked}. It must be written as the hospital writes it; what was erased has no
        number any more, and is found by its id.
      </Notice>
    );
  }
  return (
    <Notice tone="plain">
      {numbered.length === 1 ? 'One patient is' : `${numbered.length} patients are`} known by the number {asked}:{' '}
      {numbered.map((id) => (
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

export const AuditList = ({ list, query, path, keysPath }: AuditListProps) => (
  <>
    <p class="lead">
      Who read this patient, who changed that: one row for each request that reached data, written together with it. It
      names no patient but by id, and of a search only which parameters were given. Looking here is on record too.
    </p>
    <Filter label="Audit">
      {FIELDS.map(({ name, label, size }) => (
        <label>
          <span>{label}</span>
          <input name={name} value={query[name] ?? ''} size={size} />
        </label>
      ))}
      <Select name="action" label="What was done" value={query['action'] ?? ''} options={ACTION_CHOICES} />
      <Moment name="from" label="From" value={query['from'] ?? ''} />
      <Moment name="to" label="To" value={query['to'] ?? ''} />
    </Filter>
    <Meant query={query} numbered={list.numbered} />
    <p>
      <a href={`${path}/events.ndjson?${new URLSearchParams(query).toString()}`}>
        Download all of it as FHIR AuditEvent (NDJSON)
      </a>
    </p>
    {list.items.length === 0 ? (
      <Empty>Nothing was found.</Empty>
    ) : (
      <Table label="Audit" head={['When', 'Who', 'What was done', 'To what']}>
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
    <Pager path={path} query={query} next={list.next} />
  </>
);
