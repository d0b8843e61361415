/** The API keys of the site. */
import type { List } from '../api/cursor.ts';
import type { KeyRow } from './statements.ts';
import { Empty, Filter, KeyStatus, Pager, Row, Search, Select, Table, When } from '../web/ui.tsx';

interface KeyListProps {
  readonly list: List<KeyRow>;
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
  readonly mayCreate: boolean;
}

export const KeyList = ({ list, query, path, mayCreate }: KeyListProps) => (
  <>
    {mayCreate ? (
      <p class="actions">
        <a class="button" href={`${path}/new`}>
          New API key
        </a>
      </p>
    ) : null}
    <Filter label="API keys">
      <Search label="Name or Client ID" value={query['q'] ?? ''} />
      <Select
        name="status"
        label="Status"
        value={query['status'] ?? ''}
        options={[
          { value: '', label: 'any' },
          { value: 'active', label: 'active' },
          { value: 'disabled', label: 'disabled' },
        ]}
      />
      <Select
        name="protocol"
        label="Protocol"
        value={query['protocol'] ?? ''}
        options={['', 'fhir', 'hl7', 'hl7-mllp'].map((value) => ({ value, label: value || 'any' }))}
      />
    </Filter>
    {list.items.length === 0 ? (
      <Empty>No API key here yet. An integration needs one to get tokens or to send messages.</Empty>
    ) : (
      <Table label="API keys" head={['Name', 'Status', 'Protocols', 'Client ID', 'Last refused']}>
        {list.items.map((key) => (
          <Row>
            <th scope="row">
              <a href={`${path}/${key.client_id}`}>{key.name}</a>
            </th>
            <td>
              <KeyStatus status={key.status} />
            </td>
            <td>{key.protocols.join(', ')}</td>
            <td>
              <code>{key.client_id}</code>
            </td>
            <td>
              {key.last_refusal === null ? <span class="quiet">not in 90 days</span> : <When at={key.last_refusal} />}
            </td>
          </Row>
        ))}
      </Table>
    )}
    <Pager path={path} query={query} next={list.next} />
  </>
);
