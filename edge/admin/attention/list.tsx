/** The list of issues of one kind: what happened, the patients, and what to do. */
import type { AttentionKind } from '../../store/attention.ts';
import { ATTENTION_STATES } from '../../store/admin-attention.ts';
import type { List } from '../api/cursor.ts';
import { Badge, Empty, Filter, Pager, Row, Select, Table, When } from '../web/ui.tsx';
import { Path } from '../messages/path.tsx';
import { KIND_TEXTS } from './kinds.ts';
import type { Person, PersonPart } from './person.ts';
import { PERSON_PARTS } from './person.ts';
import type { AttentionView } from './view.ts';

const PART_NAMES: Readonly<Record<PersonPart, string>> = {
  names: 'Name',
  birthDate: 'Birth date',
  gender: 'Sex',
  identifiers: 'Identifiers',
  telecom: 'Telephone, e-mail',
  addresses: 'Address',
};

const STATE_NAMES = { open: 'open', merged: 'merged since', dismissed: 'dismissed' } as const;

function linesOf(person: Person, part: PersonPart): readonly string[] {
  switch (part) {
    case 'birthDate':
    case 'gender':
      return [person[part] ?? ''];
    case 'identifiers':
      return person.identifiers.map(({ issuer, value }) => (issuer === null ? value : `${value} (${issuer})`));
    case 'names':
    case 'telecom':
    case 'addresses':
      return person[part];
  }
}

/** Column titles; ids would be too long. */
const titlesOf = ({ length }: { readonly length: number }): readonly string[] =>
  length === 1
    ? ['Patient']
    : length === 2
      ? ['First', 'Second']
      : Array.from({ length }, (_, at) => `Patient ${at + 1}`);

const People = ({ item: { patients, agrees, differs }, messagePath }: { item: AttentionView; messagePath: string }) => (
  <Table
    label={patients.length === 1 ? 'The patient' : 'The patients side by side'}
    head={['Of the patient', ...titlesOf(patients), ...(patients.length === 2 ? ['Compared'] : [])]}
  >
    <Row>
      <th scope="row">Id</th>
      {patients.map(({ reference }) => (
        <td class="ids">
          <a href={`${messagePath}/resources/${reference}`}>
            <code>{reference.replace('Patient/', '')}</code>
          </a>
        </td>
      ))}
      {patients.length === 2 ? <td></td> : null}
    </Row>
    {PERSON_PARTS.filter((part) => patients.some((person) => linesOf(person, part).some(Boolean))).map((part) => (
      <Row>
        <th scope="row">{PART_NAMES[part]}</th>
        {patients.map((person) => (
          <td class="value">{linesOf(person, part).join('\n')}</td>
        ))}
        {patients.length === 2 ? (
          <td>
            {agrees.includes(part) ? <Badge tone="good">agrees</Badge> : null}
            {differs.includes(part) ? <Badge tone="warn">differs</Badge> : null}
          </td>
        ) : null}
      </Row>
    ))}
  </Table>
);

interface ItemProps {
  readonly item: AttentionView;
  readonly path: string;
  readonly messagePath: string;
  readonly mayDismiss: boolean;
}

const Item = ({ item, path, messagePath, mayDismiss }: ItemProps) => (
  <section class="item" aria-label={`${item.why} ${item.createdAt}`}>
    <p>
      <strong>{item.why}</strong>
    </p>
    <p class="quiet">
      Found <When at={item.createdAt} />
      {item.message === null ? null : (
        <>
          {' by '}
          <a href={`${messagePath}/${item.message.messageId}`}>
            {item.message.messageType} {item.message.controlId}
          </a>
        </>
      )}
      {typeof item.detail['at'] === 'string' ? (
        <>
          {' at '}
          <Path at={item.detail['at']} />
        </>
      ) : null}
      {item.dismissedAt === null ? null : (
        <>
          {'. Dismissed '}
          <When at={item.dismissedAt} /> by {item.dismissedBy}
        </>
      )}
    </p>
    {item.patients.length === 0 ? null : <People {...{ item, messagePath }} />}
    {mayDismiss && item.state === 'open' ? (
      <form class="actions" method="post" action={`${path}/${item.id}/dismiss`}>
        <input type="hidden" name="kind" value={item.kind} />
        <button class="secondary">Dismiss</button>
      </form>
    ) : null}
  </section>
);

interface AttentionListProps extends Omit<ItemProps, 'item'> {
  readonly kind: AttentionKind;
  readonly list: List<AttentionView>;
  readonly query: Readonly<Record<string, string>>;
}

export const AttentionList = ({ kind, list, query, ...at }: AttentionListProps) => (
  <>
    <Filter label="Issues">
      <Select
        name="kind"
        label="Kind"
        value={kind}
        options={Object.entries(KIND_TEXTS).map(([value, { title }]) => ({ value, label: title }))}
      />
      <Select
        name="state"
        label="State"
        value={query['state'] ?? 'open'}
        options={ATTENTION_STATES.map((value) => ({ value, label: STATE_NAMES[value] }))}
      />
    </Filter>
    <p class="lead">
      {KIND_TEXTS[kind].why} {KIND_TEXTS[kind].todo}
    </p>
    {list.items.length === 0 ? <Empty>No issues.</Empty> : null}
    {list.items.map((item) => (
      <Item {...{ item }} {...at} />
    ))}
    <Pager path={at.path} query={query} next={list.next} />
  </>
);
