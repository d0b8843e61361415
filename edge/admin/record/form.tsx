/** The form of a record: every member that people set, with its rule and its errors beside it. */
import type { Child } from 'hono/jsx';

import { Fault } from '../../../shared/fault.ts';
import { errorsByField } from '../web/form.ts';
import type { FieldErrors } from '../web/fields.tsx';
import { Notice } from '../web/ui.tsx';
import { fieldsInOrder, type Fold, RecordFields, type Section } from './fields.tsx';
import type { Members } from './member.ts';
import type { FieldTexts } from './texts.ts';

interface RecordFormProps {
  readonly members: Members;
  readonly sections: readonly Section[];
  readonly texts: FieldTexts;
  /** Why it was not saved. */
  readonly fault?: Fault | undefined;
  /** The version that is edited; undefined to create. */
  readonly version?: number | undefined;
  /** The sections that can be folded, by name. */
  readonly folds?: ReadonlyMap<string, Fold>;
  /** What stands below a field, by its name. */
  readonly below?: Readonly<Record<string, Child>>;
  readonly button: string;
  readonly action: string;
  readonly cancel: string;
  /** Where the record can be edited as it is now. */
  readonly again: string;
}

/** What is wrong, by field, in the order in which the fields stand; what is about no field of the form comes last. */
function inOrder(errors: FieldErrors, fields: readonly string[]): FieldErrors {
  const place = (name: string): number => (fields.includes(name) ? fields.indexOf(name) : fields.length);
  return new Map([...errors].toSorted(([one], [other]) => place(one) - place(other)));
}

/** All that is wrong, each with a link to where it is mended. */
const Summary = ({ members, errors }: { members: Members; errors: FieldErrors }) => {
  const faults = [...errors].flatMap(([name, messages]) => messages.map((message) => ({ name, message })));
  const say = (name: string, message: string): Child => {
    const member = members[name];
    return member === undefined ? message : <a href={`#${name}`}>{`${member.label}: ${message}`}</a>;
  };
  return (
    <Notice tone="bad">
      <p>Not saved: {faults.length === 1 ? 'one thing is' : `${faults.length} things are`} to be mended.</p>
      <ul class="faults">
        {faults.map(({ name, message }) => (
          <li>{say(name, message)}</li>
        ))}
      </ul>
    </Notice>
  );
};

export const RecordForm = (props: RecordFormProps) => {
  const { members, sections, texts, fault, version, folds, below, button, ...at } = props;
  const found: FieldErrors = fault === undefined ? new Map() : errorsByField(fault);
  const errors = inOrder(found, fieldsInOrder(members, sections));
  return (
    <>
      {fault?.kind === 'invalid' && errors.size > 0 ? <Summary {...{ members, errors }} /> : null}
      {fault === undefined || (fault.kind === 'invalid' && errors.size > 0) ? null : (
        <Notice tone="bad">
          {`Not saved: ${fault.message}. `}
          {fault.kind === 'invalid' ? null : <a href={at.again}>Edit it as it is now</a>}
        </Notice>
      )}
      <form class="record" method="post" action={at.action} novalidate>
        {version === undefined ? null : <input type="hidden" name="version" value={String(version)} />}
        <RecordFields {...{ members, sections, texts, errors, folds, below }} />
        <p class="actions">
          <button>{button}</button>
          <a href={at.cancel}>Cancel</a>
        </p>
      </form>
    </>
  );
};

/** The title of a page with a form: a title that says so is read out before anything else. */
export const titleOfForm = (title: string, fault: Fault | undefined): string =>
  fault === undefined ? title : `Not saved: ${title}`;

/** The status of the page with a form that was not accepted. */
export const statusOfForm = (fault: Fault | undefined): number =>
  fault === undefined ? 200 : fault.kind === 'invalid' ? 422 : 409;

/** What a form that was not accepted is answered with; other failures are not the form's. */
export const isOfForm = (error: unknown): error is Fault =>
  error instanceof Fault && (error.kind === 'invalid' || error.kind === 'precondition-failed');

/** The version that a form changes. @throws Fault `malformed` */
export function versionOf(form: URLSearchParams): number {
  const version = form.get('version') ?? '';
  if (!/^\d{1,9}$/.test(version)) throw new Fault('malformed', 'the form does not say which version it changes');
  return Number(version);
}
