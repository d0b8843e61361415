/** The list of issues: why, the patients side by side, the findings, the next step, and the dismissal. */
import { ATTENTION_KINDS } from '../../store/attention.ts';
import { ATTENTION_STATES, type IssueCount, MAX_COUNT, MAX_ISSUES } from '../../store/admin-attention.ts';
import { Confirm } from '../web/confirm.tsx';
import { counted } from '../web/counted.ts';
import { Badge, Code, Empty, Filter, Input, type ListProps, Pager, Select, Table, When } from '../web/ui.tsx';
import { Path } from '../web/path.tsx';
import { KIND_TEXTS } from './kinds.ts';
import type { Person, PersonPart } from './person.ts';
import { PERSON_PARTS } from './person.ts';
import type { AttentionView } from './view.ts';

const PART_NAMES: Readonly<Record<PersonPart, string>> = {
  families: 'Family name',
  givens: 'Given names',
  birthDate: 'Birth date',
  gender: 'Sex',
  addresses: 'Address',
  identifiers: 'Identifiers',
  telecom: 'Telephone, e-mail',
};

const STATE_NAMES = { open: 'open', merged: 'merged since', dismissed: 'dismissed' } as const;

function linesOf(person: Person, part: PersonPart): readonly string[] {
  switch (part) {
    case 'birthDate':
    case 'gender':
      return [person[part] ?? ''];
    case 'identifiers':
      return person.identifiers.map(({ issuer, value }) => (issuer === null ? value : `${value} (${issuer})`));
    case 'families':
    case 'givens':
    case 'telecom':
    case 'addresses':
      return person[part];
  }
}

/** Column titles; ids would be too long. */
const PLACES = ['first', 'second'] as const;
const titlesOf = ({ length }: { readonly length: number }): readonly string[] =>
  length === 1 ? ['Patient'] : ['First', 'Second'];

const People = ({ item: { patients, agrees, differs }, messagePath }: { item: AttentionView; messagePath: string }) => {
  const parts = PERSON_PARTS.filter((part) => patients.some((person) => linesOf(person, part).some(Boolean)));
  const columnOf = (person: Person) => (part: PersonPart | 'id') =>
    part === 'id' ? (
      <td class="ids">
        <a href={`${messagePath}/resources/${person.reference}`}>
          <code>{person.reference.replace('Patient/', '')}</code>
        </a>
      </td>
    ) : (
      <td class="value">{linesOf(person, part).join('\n')}</td>
    );
  const titles = titlesOf(patients);
  return (
    <Table
      label={patients.length === 1 ? 'The patient' : 'The patients side by side'}
      rows={['id' as const, ...parts]}
      columns={{
        'Of the patient': (part) => (part === 'id' ? 'Id' : PART_NAMES[part]),
        ...Object.fromEntries(patients.map((person, at) => [titles[at] ?? '', columnOf(person)])),
        ...(patients.length === 2 && {
          Compared: (part: PersonPart | 'id') => (
            <>
              {part !== 'id' && agrees.includes(part) ? <Badge tone="good">agrees</Badge> : null}
              {part !== 'id' && differs.includes(part) ? <Badge tone="warn">differs</Badge> : null}
            </>
          ),
        }),
      }}
    />
  );
};

interface ItemProps {
  readonly item: AttentionView;
  readonly path: string;
  readonly messagePath: string;
  /** Link to the URIs of namespaces. */
  readonly aliasPath: string;
  readonly mayDismiss: boolean;
  readonly mayReplay: boolean;
}

const MessageLink = ({ message, messagePath }: { message: AttentionView['message']; messagePath: string }) =>
  message === null ? null : (
    <a href={`${messagePath}/${message.messageId}`}>
      {message.messageType} {message.controlId}
    </a>
  );

/** The findings of an issue that has several, or that concerns results. */
const Findings = ({ item: { findings, findingCount }, messagePath }: ItemProps) => {
  if (findings.length < 2 && findings.every(({ resources }) => resources.length === 0)) return null;
  return (
    <>
      <Table
        label="Findings"
        rows={findings}
        columns={{
          Result: ({ why, resources }) => (
            <>
              {resources.length === 0 ? why : null}
              {resources.map(({ reference, summary }) => (
                <p>
                  <a href={`${messagePath}/resources/${reference}`}>{summary === '' ? reference : summary}</a>
                </p>
              ))}
            </>
          ),
          Place: ({ detail }) => (typeof detail['at'] === 'string' ? <Path at={detail['at']} /> : null),
          Message: ({ messageId }) =>
            messageId === null ? null : <a href={`${messagePath}/${messageId}`}>first message</a>,
        }}
      />
      {findingCount > findings.length ? (
        <p class="quiet">And {upTo(findingCount - findings.length, findingCount)} more.</p>
      ) : null}
    </>
  );
};

const upTo = (count: number, all: number): string => (all >= MAX_COUNT ? `${count} or more` : String(count));

const NextStep = ({ item, messagePath, aliasPath, mayReplay }: ItemProps) => {
  const { next, merges, message, subject, patients } = item;
  const placeOf = (reference: string): string =>
    PLACES[patients.findIndex((person) => person.reference === reference)] ?? reference;
  return (
    <>
      <p>{next.text}</p>
      {merges.length === 0 ? null : (
        <Confirm label="Merge message (ADT A40)">
          <p>The gateway does not send it. The registration system must send it to merge the records.</p>
          {merges.map(({ survivor, message: text }) => (
            <section aria-label={`The ${placeOf(survivor)} patient stays`}>
              <p>
                <strong>The {placeOf(survivor)} patient stays</strong>
              </p>
              <Code
                text={text.replaceAll('\r', '\n')}
                label={`the message that keeps the ${placeOf(survivor)} patient`}
                copy
              />
            </section>
          ))}
        </Confirm>
      )}
      {next.step === 'replay' && message !== null && mayReplay ? (
        <a class="button secondary small" href={`${messagePath}/${message.messageId}/replay`}>
          Replay the newest message …
        </a>
      ) : null}
      {next.step === 'decide-namespace' ? (
        <a
          class="button secondary small"
          href={`${aliasPath}?${new URLSearchParams({ namespace: subject }).toString()}`}
        >
          Decide about {subject} …
        </a>
      ) : null}
    </>
  );
};

const Dismissal = ({ item, path }: ItemProps) =>
  item.state === 'dismissed' ? (
    <form class="actions" method="post" action={`${path}/${item.id}/reopen`}>
      <button class="secondary">Undo the dismissal</button>
    </form>
  ) : (
    <Confirm label="Dismiss">
      <form class="actions" method="post" action={`${path}/${item.id}/dismiss`}>
        <input type="hidden" name="seen" value={item.foundAt} />
        <Input label="Why (no patient data)" name="reason" maxlength={500} required autocomplete="off" />
        <button class="secondary">Dismiss it</button>
      </form>
    </Confirm>
  );

const Item = (props: ItemProps) => {
  const { item, messagePath, mayDismiss } = props;
  const [last] = item.decisions;
  return (
    <section class="item" aria-label={`${item.why} ${item.foundAt}`}>
      <p>
        <strong>{item.why}</strong> {item.subject === '' ? null : <code>{item.subject}</code>}
      </p>
      <p class="quiet">
        {KIND_TEXTS[item.kind].title}, found <When at={item.foundAt} />
        {item.message === null ? null : (
          <>
            {item.messageCount > 1 ? ` in ${counted(item.messageCount, 'message')}, the newest ` : ' by '}
            <MessageLink message={item.message} messagePath={messagePath} />
          </>
        )}
        {item.dismissedAt === null ? null : (
          <>
            {'. Dismissed '}
            <When at={item.dismissedAt} /> by {item.dismissedBy}: {item.dismissedReason}
          </>
        )}
        {last?.state === 'reopened' ? (
          <>
            {'. Reopened '}
            <When at={last.at} /> {last.by === null ? 'for a new finding' : `by ${last.by}`}
          </>
        ) : null}
      </p>
      {item.patients.length === 0 ? null : <People {...{ item, messagePath }} />}
      <Findings {...props} />
      {item.state === 'open' ? <NextStep {...props} /> : null}
      {mayDismiss && item.state !== 'merged' ? <Dismissal {...props} /> : null}
    </section>
  );
};

interface AttentionListProps extends ListProps<AttentionView>, Omit<ItemProps, 'item'> {
  readonly counts: readonly IssueCount[];
}

export const AttentionList = ({ list, counts, query, ...paths }: AttentionListProps) => {
  const open = new Map(counts.map(({ kind, issues }) => [kind, issues >= MAX_ISSUES ? `${issues}+` : `${issues}`]));
  const all = counts.reduce((sum, { issues }) => sum + issues, 0);
  return (
    <>
      <p class="lead">
        Each entry is a cause that a person must decide about, with the newest finding first. A dismissed entry opens
        again only for a new finding.
      </p>
      <p class="count">
        <strong>{counted(all, 'open issue')}</strong>{' '}
        {counts.map(({ kind }, at) => (
          <>
            {at === 0 ? '' : ', '}
            <a href={`${paths.path}?${new URLSearchParams({ kind }).toString()}`}>
              {KIND_TEXTS[kind].title} ({open.get(kind)})
            </a>
          </>
        ))}
      </p>
      <Filter label="Issues">
        <Select
          name="kind"
          label="Kind"
          value={query['kind'] ?? ''}
          options={[
            { value: '', label: 'all' },
            ...ATTENTION_KINDS.map((value) => ({
              value,
              label: `${KIND_TEXTS[value].title} (${open.get(value) ?? 0})`,
            })),
          ]}
        />
        <Select
          name="state"
          label="State"
          value={query['state'] ?? 'open'}
          options={ATTENTION_STATES.map((value) => ({ value, label: STATE_NAMES[value] }))}
        />
      </Filter>
      {list.items.length === 0 ? <Empty>No issues.</Empty> : null}
      {list.items.map((item) => (
        <Item {...{ item }} {...paths} />
      ))}
      <Pager path={paths.path} query={query} next={list.next} />
    </>
  );
};
