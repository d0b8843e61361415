/** What messages say that namespaces stand for: what is used, what is only shown, and what each decision does. */
import type { AliasState } from '../../store/admin-alias.ts';
import type { List } from '../api/cursor.ts';
import { Confirm } from '../web/confirm.tsx';
import { Badge, Empty, Filter, Pager, Row, Select, Table, When } from '../web/ui.tsx';
import type { AliasView } from './aliases.ts';

const STATES: Readonly<Record<AliasState, { tone: 'plain' | 'good' | 'bad' | 'warn'; words: string }>> = {
  taught: { tone: 'plain', words: 'used: a message sent both' },
  shown: { tone: 'warn', words: 'not used' },
  confirmed: { tone: 'good', words: 'confirmed' },
  rejected: { tone: 'bad', words: 'rejected' },
};

const Decide = ({ item, path }: { item: AliasView; path: string }) => (
  <form class="inline" method="post" action={path}>
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
          From the next message of the key on, a patient whose number comes with the bare name is another one than the
          patient of the URI: where there is none, a new chart is made.
        </p>
        <button class="small danger" name="decision" value="rejected">
          Reject it
        </button>
      </Confirm>
    )}
  </form>
);

interface AliasListProps {
  readonly list: List<AliasView>;
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
  readonly namesPath: string;
  readonly messagePath: string;
  readonly mayDecide: boolean;
}

export const AliasList = ({ list, query, path, namesPath, messagePath, mayDecide }: AliasListProps) => (
  <>
    <p class="lead">
      A sender that writes a namespace beside its URI (<code>HOSP&amp;1.2.3&amp;ISO</code>) says what its short name
      stands for. From then on a number with the bare <code>HOSP</code> of the same API key is the number of that URI.
      The first URI holds; another one, and one that only the charts suggest, is shown here and not used, until somebody
      decides. For every key at once, give the name its URI under <a href={namesPath}>Names</a> or Settings: that goes
      before all of this.
    </p>
    <dl class="facts">
      <dt>Confirm</dt>
      <dd>
        From the next message of the key on the bare name means this URI, and no other. Patients that were filed under
        the bare name are found by the URI, and the other way round; where two charts have the same number now, they are
        listed as possible duplicates. Nothing that is stored is changed.
      </dd>
      <dt>Reject</dt>
      <dd>
        From the next message of the key on the bare name does not mean this URI: a number with the bare name finds only
        patients that have it under the bare name, and a new one is made where there is none. No message teaches it
        again. What was filed in the meantime stays in its charts: look at those patients if it was wrong.
      </dd>
    </dl>
    <Filter label="Which">
      <Select
        name="state"
        label="State"
        value={query['state'] ?? ''}
        options={[
          { value: '', label: 'all' },
          { value: 'undecided', label: 'not decided' },
          ...Object.entries(STATES).map(([value, { words }]) => ({ value, label: words })),
        ]}
      />
    </Filter>
    {list.items.length === 0 ? (
      <Empty>No message has said what a namespace stands for.</Empty>
    ) : (
      <Table
        label="What namespaces stand for"
        head={['API key', 'Namespace', 'URI', 'State', 'First message', 'Decision']}
      >
        {list.items.map((item) => (
          <Row>
            <th scope="row">{item.keyName}</th>
            <td>
              <code>{item.namespace}</code>
            </td>
            <td>
              <code>{item.uri}</code>
              {item.namedUri === null || item.namedUri === item.uri ? null : (
                <p class="quiet">
                  Without effect: the settings say <code>{item.namedUri}</code> for every key.
                </p>
              )}
            </td>
            <td>
              <Badge tone={STATES[item.state].tone}>{STATES[item.state].words}</Badge>
            </td>
            <td>
              <a href={`${messagePath}/${item.firstMessageId}`}>
                <When at={item.createdAt} />
              </a>
            </td>
            <td>
              {item.decidedAt === null ? null : (
                <p>
                  by {item.decidedBy}, <When at={item.decidedAt} />
                </p>
              )}
              {mayDecide ? <Decide {...{ item, path }} /> : null}
            </td>
          </Row>
        ))}
      </Table>
    )}
    <Pager path={path} query={query} next={list.next} />
  </>
);
