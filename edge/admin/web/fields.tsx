/** Form fields with their hint and their errors, linked by ARIA for screen readers. */
import type { Child, PropsWithChildren } from 'hono/jsx';

import type { Option } from './ui.tsx';

/** Error messages by field; the first field gets the focus. */
export type FieldErrors = ReadonlyMap<string, readonly string[]>;

/** True for the field that gets the focus when the page opens. */
const isFirst = (name: string, errors: FieldErrors): boolean => errors.keys().next().value === name;

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint: Child;
  readonly errors: FieldErrors;
}

/** The ids of a field's error and hint. */
const described = (name: string, errors: FieldErrors) =>
  errors.has(name) ? `${name}-error ${name}-hint` : `${name}-hint`;

const Errors = ({ name, errors }: { name: string; errors: FieldErrors }) => {
  const messages = errors.get(name);
  if (messages === undefined) return null;
  return (
    <ul class="errors" id={`${name}-error`}>
      {messages.map((message) => (
        <li>{message}</li>
      ))}
    </ul>
  );
};

/** The attributes of the control of a field. */
const controlOf = (name: string, errors: FieldErrors) => ({
  id: name,
  name,
  autofocus: isFirst(name, errors),
  'aria-describedby': described(name, errors),
  'aria-invalid': errors.has(name) ? 'true' : undefined,
});

const Explained = ({ name, hint, errors }: Pick<FieldProps, 'name' | 'hint' | 'errors'>) => (
  <>
    <Errors {...{ name, errors }} />
    <p class="hint" id={`${name}-hint`}>
      {hint}
    </p>
  </>
);

const classOf = (name: string, errors: FieldErrors): string => (errors.has(name) ? 'field wrong' : 'field');

/** A field of one control. */
const Labelled = ({ children, ...field }: PropsWithChildren<FieldProps>) => (
  <div class={classOf(field.name, field.errors)}>
    <label for={field.name}>{field.label}</label>
    {children}
    <Explained {...field} />
  </div>
);

export const Text = (
  props: FieldProps & { value: string; type?: string; mono?: boolean; attributes?: Record<string, string> },
) => {
  const { value, type = 'text', mono = false, attributes = {}, ...field } = props;
  return (
    <Labelled {...field}>
      <input {...controlOf(field.name, field.errors)} {...{ type, value, ...attributes }} class={mono ? 'mono' : ''} />
    </Labelled>
  );
};

/** A text of several lines. */
export const Lines = ({ value, rows, ...field }: FieldProps & { value: string; rows: number }) => (
  <Labelled {...field}>
    <textarea {...controlOf(field.name, field.errors)} rows={rows} class="mono" spellcheck={false}>
      {value}
    </textarea>
  </Labelled>
);

/** A choice of one value. A stored value that is not among the options stays selected. */
export const SelectField = (props: FieldProps & { value: string; options: readonly Option[] }) => {
  const { value, options, ...field } = props;
  const isKnown = options.some((option) => option.value === value);
  return (
    <Labelled {...field}>
      <select {...controlOf(field.name, field.errors)}>
        {(isKnown ? options : [{ value, label: value }, ...options]).map((option) => (
          <option value={option.value} selected={option.value === value}>
            {option.label}
          </option>
        ))}
      </select>
    </Labelled>
  );
};

/** A checkbox for yes or no. @param yes the meaning of yes */
export const Switch = (props: FieldProps & { yes: string; value: string; isOn: boolean }) => {
  const { yes, value, isOn, ...field } = props;
  return (
    <Fieldset {...field}>
      <div class="choices">
        <label class="choice">
          <FieldBox name={field.name} value={value} isOn={isOn} isFirst errors={field.errors} />
          <span>{yes}</span>
        </label>
      </div>
    </Fieldset>
  );
};

interface FieldBoxProps {
  readonly name: string;
  readonly value: string;
  readonly isOn: boolean;
  /** The first box of its field has the field's id, so that links lead there. */
  readonly isFirst: boolean;
  readonly errors: FieldErrors;
}

export const FieldBox = ({ name, value, isOn, isFirst: isFirstBox, errors }: FieldBoxProps) => (
  <input
    type="checkbox"
    id={isFirstBox ? name : undefined}
    name={name}
    value={value}
    checked={isOn}
    autofocus={isFirstBox && isFirst(name, errors)}
  />
);

/** A field of several controls. */
export const Fieldset = ({ children, ...field }: PropsWithChildren<FieldProps>) => (
  <fieldset class={classOf(field.name, field.errors)} aria-describedby={described(field.name, field.errors)}>
    <legend>{field.label}</legend>
    {children}
    <Explained {...field} />
  </fieldset>
);

/** A choice of any number of values. */
export const Choices = (props: FieldProps & { values: readonly string[]; chosen: readonly string[] }) => {
  const { values, chosen, ...field } = props;
  return (
    <Fieldset {...field}>
      <div class="choices">
        {values.map((value, at) => (
          <label class="choice">
            <FieldBox
              name={field.name}
              value={value}
              isOn={chosen.includes(value)}
              isFirst={at === 0}
              errors={field.errors}
            />
            <span>{value}</span>
          </label>
        ))}
      </div>
    </Fieldset>
  );
};
