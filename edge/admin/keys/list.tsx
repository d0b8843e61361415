/** The API keys of the site. */
import type { KeyRow } from './statements.ts';
import { Copyable, Filter, KeyStatus, type ListProps, Pager, Search, Select, Table, When } from '../web/ui.tsx';

interface KeyListProps extends ListProps<KeyRow> {
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
      <Select
        name="sort"
        label="Order"
        value={query['sort'] ?? ''}
        options={[
          { value: 'created', label: 'newest first' },
          { value: 'name', label: 'by name' },
          { value: 'used', label: 'last used first' },
        ]}
      />
    </Filter>
    <Table
      label="API keys"
      rows={list.items}
      empty="No API keys yet. Each client needs one to get tokens or to send messages."
      columns={{
        Name: (key) => (
          <>
            <a href={`${path}/${key.client_id}`}>{key.name}</a>
            <div class="client-id">
              <Copyable text={key.client_id} label={`the Client ID of ${key.name}`} />
            </div>
            {key.contact === null ? null : <div class="quiet">{key.contact}</div>}
          </>
        ),
        Status: (key) => <KeyStatus status={key.status} />,
        Protocols: (key) => key.protocols.join(', '),
        'Public keys': (key) => (key.jwks === null ? 'JWKS URI' : 'inline'),
        'Tokens today': (key) => <td class="number">{key.tokens_today.toLocaleString('en')}</td>,
        'Last used': (key) =>
          key.last_used === null ? <span class="quiet">never</span> : <When at={key.last_used} relative />,
        'Last rejected': (key) =>
          key.last_refusal === null ? <span class="quiet">none kept</span> : <When at={key.last_refusal} relative />,
        Created: (key) => <When at={key.created_at} relative />,
      }}
    />
    <Pager path={path} query={query} next={list.next} />
  </>
);
