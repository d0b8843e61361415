/** Form fields with their rule and their errors beside them, tied to them for those who do not see the page. */
import type { Child } from 'hono/jsx';

export type FieldErrors = ReadonlyMap<string, readonly string[]>;

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint: Child;
  readonly errors: FieldErrors;
}

/** What describes a field: its error, if it has one, and its rule. */
export const described = (name: string, errors: FieldErrors) =>
  errors.has(name) ? `${name}-error ${name}-hint` : `${name}-hint`;

export const Errors = ({ name, errors }: { name: string; errors: FieldErrors }) => {
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

const Choice = ({
  name,
  value,
  chosen,
  label,
}: {
  name: string;
  value: string;
  chosen: readonly string[];
  label: string;
}) => (
  <label class="choice">
    <input type="checkbox" name={name} value={value} checked={chosen.includes(value)} />
    <span>{label}</span>
  </label>
);

export const Choices = (props: FieldProps & { values: readonly string[]; chosen: readonly string[] }) => {
  const { name, label, hint, errors, values, chosen } = props;
  return (
    <fieldset class={errors.has(name) ? 'field wrong' : 'field'} aria-describedby={described(name, errors)}>
      <legend>{label}</legend>
      <div class="choices">
        {values.map((value) => (
          <Choice {...{ name, value, chosen }} label={value} />
        ))}
      </div>
      <Errors {...{ name, errors }} />
      <p class="hint" id={`${name}-hint`}>
        {hint}
      </p>
    </fieldset>
  );
};
