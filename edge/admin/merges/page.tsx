/** The list of merges, and the preview of an undo. */
import { printJson } from '../../../shared/json.ts';
import { UNDO_REFUSALS } from '../../store/patient-merge.ts';
import { type Person, readPerson, viewPerson } from '../attention/person.ts';
import type { FailedForm } from '../record/form.tsx';
import { Differences } from '../messages/differences.tsx';
import { Badge, Empty, Filter, Input, type ListProps, Notice, Pager, Section, Table, When } from '../web/ui.tsx';
import { WHY_LEFT, type MergeView, type UndoPreview } from './merges.ts';

const identifiersOf = ({ identifiers }: Person): string =>
  identifiers.map(({ issuer, value }) => (issuer === null ? value : `${value} (${issuer})`)).join(', ');

const PersonLink = ({ person, messagePath }: { person: Person; messagePath: string }) => (
  <>
    <a href={`${messagePath}/resources/${person.reference}`}>
      {[...person.families, ...person.givens].join(' ') || 'Without a name'}
    </a>{' '}
    {person.birthDate ?? ''} <small class="quiet">{identifiersOf(person)}</small>
  </>
);

interface MergeListProps extends ListProps<MergeView> {
  readonly messagePath: string;
}

export const MergeList = ({ list, query, path, messagePath }: MergeListProps) => (
  <>
    <p class="lead">Merges of patient records by messages. A merge can be undone. Preview the undo first.</p>
    <Filter label="Merges">
      <Input
        label="Patient id"
        name="patient"
        value={query['patient'] ?? ''}
        pattern="[0-9A-Fa-f\-]{36}"
        title="The id of a patient record, of 36 characters"
        autocomplete="off"
      />
    </Filter>
    <Table
      label="Merges"
      rows={list.items}
      empty="No merges."
      columns={{
        Merged: ({ mergeId, mergedAt }) => (
          <a href={`${path}/${mergeId}`}>
            <When at={mergedAt} />
          </a>
        ),
        'By message': ({ message }) => (
          <a href={`${messagePath}/${message.messageId}`}>
            {message.messageType} {message.controlId}
          </a>
        ),
        'Merged patient': ({ merged }) => <PersonLink person={merged} messagePath={messagePath} />,
        Survivor: ({ survivor }) => <PersonLink person={survivor} messagePath={messagePath} />,
        State: ({ undoneAt, undoneBy, reason }) =>
          undoneAt === null ? (
            <Badge tone="plain">merged</Badge>
          ) : (
            <>
              <Badge tone="warn">undone</Badge> <When at={undoneAt} /> by {undoneBy}
              <q class="quiet">{reason}</q>
            </>
          ),
      }}
    />
    <Pager path={path} query={query} next={list.next} />
  </>
);

interface UndoPageProps {
  readonly preview: UndoPreview;
  readonly failed: FailedForm | undefined;
  readonly path: string;
  readonly messagePath: string;
}

const References = ({ references, messagePath }: { references: readonly string[]; messagePath: string }) => (
  <ul class="plain">
    {references.map((reference) => (
      <li>
        <a href={`${messagePath}/resources/${reference}`}>{reference}</a>
      </li>
    ))}
  </ul>
);

export const UndoPage = ({ preview, failed, path, messagePath }: UndoPageProps) => {
  const { patients, changes, back, restored, left, refusal, state, mergedAt } = preview;
  const personOf = (id: string, content: (typeof patients)[number]['before']) => (
    <PersonLink person={viewPerson(id, readPerson(printJson(content)))} messagePath={messagePath} />
  );
  return (
    <>
      {failed === undefined ? null : (
        <Notice tone="bad">
          <p>Nothing was changed: {failed.fault.message}</p>
          {refusal === undefined ? null : (
            <p>
              Your reason: <q>{failed.given['reason']}</q>
            </p>
          )}
        </Notice>
      )}
      <p class="lead">
        The records were merged <When at={mergedAt} />. The undo returns resources and identifiers to the merged
        patient, with those that messages with its own identifier made since.
      </p>
      <Table
        label="Both patients"
        rows={patients}
        columns={{
          Patient: (_, at) => (at === 0 ? 'Survivor' : 'Merged patient'),
          Now: ({ id, before }) => personOf(id, before),
          'After the undo': ({ id, after }) => personOf(id, after),
        }}
      />
      <Section id="left" title="To decide">
        {left.length === 0 ? (
          <Empty>Nothing. Each resource belongs clearly to one of the patients.</Empty>
        ) : (
          <>
            <p>
              Check these resources. They stay with the survivor unless the reason says otherwise, and an issue lists
              them for a decision.
            </p>
            <Table
              label="Resources that stay"
              rows={left}
              columns={{
                Resource: ({ reference }) => <a href={`${messagePath}/resources/${reference}`}>{reference}</a>,
                Why: ({ why }) => WHY_LEFT[why],
              }}
            />
          </>
        )}
      </Section>
      <Section id="back" title="To the merged patient">
        {back.length === 0 ? <Empty>No resources.</Empty> : <References references={back} {...{ messagePath }} />}
        {restored.length === 0 ? null : (
          <>
            <p>These resources of the survivor are again as before the merge:</p>
            <References references={restored} {...{ messagePath }} />
          </>
        )}
      </Section>
      {refusal === undefined ? (
        <form class="actions" method="post" action={`${path}/undo`}>
          <input type="hidden" name="state" value={state} />
          <Input
            label="Why (shown with the merge; no patient data)"
            name="reason"
            value={failed?.given['reason']}
            maxlength={500}
            required
            autocomplete="off"
          />
          <button>Undo the merge</button>
        </form>
      ) : (
        <Notice tone="warn">{UNDO_REFUSALS[refusal]}</Notice>
      )}
      <Section id="changes" title="Changes">
        <Differences label="Changes" resources={changes} />
      </Section>
    </>
  );
};
