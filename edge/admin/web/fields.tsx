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

export const Text = (
  props: FieldProps & { value: string; type?: string; mono?: boolean; attributes?: Record<string, string> },
) => {
  const { name, label, hint, errors, value, type = 'text', mono = false, attributes = {} } = props;
  return (
    <div class={errors.has(name) ? 'field wrong' : 'field'}>
      <label for={name}>{label}</label>
      <input
        {...{ id: name, name, type, value, ...attributes }}
        class={mono ? 'mono' : ''}
        autofocus={isFirst(name, errors)}
        aria-describedby={described(name, errors)}
        aria-invalid={errors.has(name) ? 'true' : undefined}
      />
      <Errors {...{ name, errors }} />
      <p class="hint" id={`${name}-hint`}>
        {hint}
      </p>
    </div>
  );
};

/** A text of several lines. */
export const Lines = ({ name, label, hint, errors, value, rows }: FieldProps & { value: string; rows: number }) => (
  <div class={errors.has(name) ? 'field wrong' : 'field'}>
    <label for={name}>{label}</label>
    <textarea
      {...{ id: name, name, rows }}
      class="mono"
      spellcheck={false}
      autofocus={isFirst(name, errors)}
      aria-describedby={described(name, errors)}
      aria-invalid={errors.has(name) ? 'true' : undefined}
    >
      {value}
    </textarea>
    <Errors {...{ name, errors }} />
    <p class="hint" id={`${name}-hint`}>
      {hint}
    </p>
  </div>
);

/** A choice of one value. A stored value that is not among the options stays selected. */
export const SelectField = (props: FieldProps & { value: string; options: readonly Option[] }) => {
  const { name, label, hint, errors, value, options } = props;
  const isKnown = options.some((option) => option.value === value);
  return (
    <div class={errors.has(name) ? 'field wrong' : 'field'}>
      <label for={name}>{label}</label>
      <select
        {...{ id: name, name }}
        autofocus={isFirst(name, errors)}
        aria-describedby={described(name, errors)}
        aria-invalid={errors.has(name) ? 'true' : undefined}
      >
        {(isKnown ? options : [{ value, label: value }, ...options]).map((option) => (
          <option value={option.value} selected={option.value === value}>
            {option.label}
          </option>
        ))}
      </select>
      <Errors {...{ name, errors }} />
      <p class="hint" id={`${name}-hint`}>
        {hint}
      </p>
    </div>
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
export const Fieldset = ({ name, label, hint, errors, children }: PropsWithChildren<FieldProps>) => (
  <fieldset class={errors.has(name) ? 'field wrong' : 'field'} aria-describedby={described(name, errors)}>
    <legend>{label}</legend>
    {children}
    <Errors {...{ name, errors }} />
    <p class="hint" id={`${name}-hint`}>
      {hint}
    </p>
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
