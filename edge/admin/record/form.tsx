/** The form of a record: a field with its hint and errors for each member that has an input. */
import type { Child } from 'hono/jsx';

import { Fault } from '../../../shared/fault.ts';
import { errorsByField } from '../web/form.ts';
import { counted } from '../web/counted.ts';
import type { FieldErrors } from '../web/fields.tsx';
import { Faults, Notice, OfSite } from '../web/ui.tsx';
import { fieldsInOrder, type Fold, RecordFields, type Section } from './fields.tsx';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Members } from '../../members/member.ts';
import type { FieldTexts } from '../../members/texts.ts';

interface RecordFormProps {
  readonly members: Members;
  readonly sections: readonly Section[];
  readonly texts: FieldTexts;
  /** The reason why the record was not saved. */
  readonly fault?: Fault | undefined;
  /** Undefined for a new record. */
  readonly version?: number | undefined;
  /** The types of scopes. */
  readonly types?: readonly ResourceType[];
  readonly folds?: ReadonlyMap<string, Fold>;
  /** Content below a field, by the field's name. */
  readonly below?: Readonly<Record<string, Child>>;
  readonly button: string;
  readonly action: string;
  readonly cancel: string;
  /** The address of the form with the current record. */
  readonly again: string;
}

/** Sorts errors by the order of the fields; errors without a field come last. */
function inOrder(errors: FieldErrors, fields: readonly string[]): FieldErrors {
  const place = (name: string): number => (fields.includes(name) ? fields.indexOf(name) : fields.length);
  return new Map([...errors].toSorted(([one], [other]) => place(one) - place(other)));
}

/** All errors, each with a link to its field. */
const Summary = ({ members, errors }: { members: Members; errors: FieldErrors }) => {
  const faults = [...errors].flatMap(([name, messages]) => messages.map((message) => ({ name, message })));
  const linked = (name: string, message: string): Child => {
    const member = members[name];
    return member === undefined ? message : <a href={`#${name}`}>{`${member.label}: ${message}`}</a>;
  };
  return (
    <Notice tone="bad">
      <p>Not saved: {counted(faults.length, 'error')}.</p>
      <Faults of={faults.map(({ name, message }) => linked(name, message))} />
    </Notice>
  );
};

export const RecordForm = (props: RecordFormProps) => {
  const { members, sections, texts, fault, version, types = [], folds, below, button, ...at } = props;
  const found: FieldErrors = fault === undefined ? new Map() : errorsByField(fault);
  const errors = inOrder(found, fieldsInOrder(members, sections));
  return (
    <>
      {fault?.kind === 'invalid' && errors.size > 0 ? <Summary {...{ members, errors }} /> : null}
      {fault === undefined || (fault.kind === 'invalid' && errors.size > 0) ? null : (
        <Notice tone="bad">
          {`Not saved: ${fault.message}. `}
          {fault.kind === 'invalid' ? null : <a href={at.again}>Edit the current version</a>}
        </Notice>
      )}
      <form class="record" method="post" action={at.action} novalidate>
        <OfSite />
        {version === undefined ? null : <input type="hidden" name="version" value={String(version)} />}
        <RecordFields {...{ members, sections, texts, errors, types, folds, below }} />
        <p class="actions">
          <button>{button}</button>
          <a href={at.cancel}>Cancel</a>
        </p>
      </form>
    </>
  );
};

/** A form that was not carried out, with its fields as they were sent. */
export interface FailedForm {
  readonly fault: Fault;
  readonly given: Readonly<Record<string, string>>;
}

/** The title of a page with a form; a screen reader reads the failure first. */
export const titleOfForm = (title: string, fault: Fault | undefined): string =>
  fault === undefined ? title : `Not saved: ${title}`;

/** The status of a page with a form. */
export const statusOfForm = (fault: Fault | undefined): number =>
  fault === undefined ? 200 : ['invalid', 'malformed'].includes(fault.kind) ? 422 : 409;

/** True for failures that the form shows; other errors get the error page. */
export const isOfForm = (error: unknown): error is Fault =>
  error instanceof Fault && (error.kind === 'invalid' || error.kind === 'precondition-failed');

/** Reads the version that a form changes. @throws Fault `malformed` */
export function versionOf(form: URLSearchParams): number {
  const version = form.get('version') ?? '';
  if (!/^\d{1,9}$/.test(version))
    throw new Fault('malformed', 'version is missing or not a number: open the form again');
  return Number(version);
}
