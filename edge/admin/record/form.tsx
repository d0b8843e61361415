/** The form of a record: every member that people set, with its rule and its errors beside it. */
import { Fault } from '../../../shared/fault.ts';
import { errorsByField } from '../web/form.ts';
import { Notice } from '../web/ui.tsx';
import { RecordFields, type Section } from './fields.tsx';
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
  readonly button: string;
  readonly action: string;
  readonly cancel: string;
  /** Where the record can be edited as it is now. */
  readonly again: string;
}

export const RecordForm = ({ members, sections, texts, fault, version, button, ...at }: RecordFormProps) => (
  <>
    {fault === undefined ? null : (
      <Notice tone="bad">
        {fault.kind === 'invalid' ? 'Not saved: look at the fields marked below.' : `Not saved: ${fault.message}. `}
        {fault.kind === 'invalid' ? null : <a href={at.again}>Edit it as it is now</a>}
      </Notice>
    )}
    <form class="record" method="post" action={at.action} novalidate>
      {version === undefined ? null : <input type="hidden" name="version" value={String(version)} />}
      <RecordFields
        {...{ members, sections, texts }}
        errors={fault === undefined ? new Map<string, readonly string[]>() : errorsByField(fault)}
      />
      <p class="actions">
        <button>{button}</button>
        <a href={at.cancel}>Cancel</a>
      </p>
    </form>
  </>
);

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
