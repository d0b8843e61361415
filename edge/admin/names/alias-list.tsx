/** The URIs that messages send for namespaces: their states, and the decision about each. */
import type { AliasState } from '../../store/admin-alias.ts';
import { Confirm } from '../web/confirm.tsx';
import { Badge, Fact, Filter, Input, type ListProps, Pager, Select, Table, When } from '../web/ui.tsx';
import type { AliasView } from './aliases.ts';

const STATES: Readonly<Record<AliasState, { tone: 'plain' | 'good' | 'bad' | 'warn'; text: string }>> = {
  taught: { tone: 'plain', text: 'sent with the namespace' },
  shown: { tone: 'warn', text: 'not used' },
  confirmed: { tone: 'good', text: 'confirmed' },
  rejected: { tone: 'bad', text: 'rejected' },
};

const Decide = ({ item, path }: { item: AliasView; path: string }) => (
  <form class="choices" method="post" action={path}>
    <input type="hidden" name="clientId" value={item.clientId} />
    <input type="hidden" name="namespace" value={item.namespace} />
    <input type="hidden" name="uri" value={item.uri} />
    {item.state === 'confirmed' ? null : (
      <button class="small" name="decision" value="confirmed">
        Confirm
      </button>
    )}
    {item.state === 'rejected' ? null : (
      <Confirm label="Reject">
        <p>
          From the next message of the key on, an identifier with the namespace only finds no patient of the URI. If it
          finds no patient, a new one is created.
        </p>
        <button class="small danger" name="decision" value="rejected">
          Reject it
        </button>
      </Confirm>
    )}
  </form>
);

interface AliasListProps extends ListProps<AliasView> {
  readonly namesPath: string;
  readonly messagePath: string;
  readonly mayDecide: boolean;
}

export const AliasList = ({ list, query, path, namesPath, messagePath, mayDecide }: AliasListProps) => (
  <>
    <p class="lead">
      A sender can send a namespace with its URI (<code>HOSP&amp;1.2.3&amp;ISO</code>). From then on, an identifier with{' '}
      <code>HOSP</code> only of the same API key belongs to that URI. If messages of the key have several URIs for a
      namespace, the namespace only finds a patient whose name and birth date agree, until an administrator decides. A
      URI that only patient records suggest is not used until then. To set the URI for all keys, use{' '}
      <a href={namesPath}>Names</a> or Settings, which have precedence.
    </p>
    <dl class="facts">
      <Fact name="Confirm">
        From the next message of the key on, the namespace has this URI only. Patients with the namespace are found by
        the URI, and patients with the URI by the namespace. Two patients with the same identifier become a possible
        duplicate. Stored data does not change.
      </Fact>
      <Fact name="Reject">
        From the next message of the key on, the namespace does not have this URI. An identifier with the namespace
        finds only patients with the namespace; without one, a new patient is created. Later messages do not set the URI
        again. Stored data stays with its patients: check them if the URI was wrong.
      </Fact>
    </dl>
    <Filter label="Namespaces">
      <Select
        name="state"
        label="State"
        value={query['state'] ?? ''}
        options={[
          { value: '', label: 'all' },
          { value: 'undecided', label: 'not decided' },
          ...Object.entries(STATES).map(([value, { text }]) => ({ value, label: text })),
        ]}
      />
      <Input label="Namespace" name="namespace" value={query['namespace'] ?? ''} maxlength={300} />
    </Filter>
    <Table
      label="URIs of namespaces"
      rows={list.items}
      empty="No message has sent a URI for a namespace."
      columns={{
        'Namespace of an API key': (item) => (
          <>
            <code>{item.namespace}</code> <small>of {item.keyName}</small>
          </>
        ),
        URI: (item) => (
          <td class="value">
            {item.uri}
            {item.namedUri === null || item.namedUri === item.uri ? null : (
              <p class="quiet">
                No effect: the settings have <code>{item.namedUri}</code> for all keys.
              </p>
            )}
          </td>
        ),
        State: (item) => <Badge tone={STATES[item.state].tone}>{STATES[item.state].text}</Badge>,
        'First message': (item) => (
          <a href={`${messagePath}/${item.firstMessageId}`}>
            <When at={item.createdAt} />
          </a>
        ),
        Decision: (item) => (
          <>
            {item.decidedAt === null ? null : (
              <p>
                by {item.decidedBy}, <When at={item.decidedAt} />
              </p>
            )}
            {mayDecide ? <Decide {...{ item, path }} /> : null}
          </>
        ),
      }}
    />
    <Pager path={path} query={query} next={list.next} />
  </>
);
