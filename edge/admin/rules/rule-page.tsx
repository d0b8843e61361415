/** The form of one rule of the draft. Its fields depend on the verb, which is chosen before. */
import type { Fault } from '../../../shared/fault.ts';
import { type FieldErrors, Lines, SelectField, Text } from '../web/fields.tsx';
import { Faults, Input, Notice, Section } from '../web/ui.tsx';
import {
  type ConditionTexts,
  CONDITION_TESTS,
  fieldsOf,
  issuesByField,
  RULE_VERBS,
  type RuleTexts,
} from './rule-form.ts';

const MAX_CONDITIONS = 10;

const NO_CONDITION: ConditionTexts = { path: '', test: 'equals', value: '' };

const TESTS = {
  equals: 'is equal to',
  like: 'is like the pattern',
  present: 'is present',
  absent: 'is absent or empty',
} as const satisfies Record<(typeof CONDITION_TESTS)[number], string>;

const Condition = ({ condition, at, errors }: { condition: ConditionTexts; at: number; errors: FieldErrors }) => {
  const id = `condition-${at}`;
  const messages = errors.get(id);
  return (
    <div role="group" aria-label={`Condition ${at + 1}`}>
      <div class="filter">
        <Input
          label="Path"
          id={id}
          name="condition-path"
          class="mono"
          value={condition.path}
          aria-invalid={messages === undefined ? undefined : 'true'}
          aria-describedby={messages === undefined ? undefined : `${id}-error`}
          autofocus={errors.keys().next().value === id}
          autocomplete="off"
        />
        <label>
          <span>Test</span>
          <select name="condition-test">
            {CONDITION_TESTS.map((test) => (
              <option value={test} selected={test === condition.test}>
                {TESTS[test]}
              </option>
            ))}
          </select>
        </label>
        <Input label="Text or pattern" name="condition-value" class="mono" value={condition.value} autocomplete="off" />
      </div>
      {messages === undefined ? null : (
        <ul class="errors" id={`${id}-error`}>
          {messages.map((message) => (
            <li>{message}</li>
          ))}
        </ul>
      )}
    </div>
  );
};

/** The content of the form. */
export interface RuleFormState extends RuleTexts {
  /** The position in the draft from 1, or the number of the rules and 1 for a new one. */
  readonly number: number;
  readonly isNew: boolean;
  /** As `edits` of the rules that were read. */
  readonly edits: string;
  readonly fault: Fault | undefined;
  /** Another condition was asked for. */
  readonly isWider: boolean;
}

const NotSaved = ({ fault, others }: { fault: Fault; others: readonly string[] }) => (
  <Notice tone="bad">
    <p>Not saved: {fault.kind === 'invalid' ? 'correct the marked fields' : fault.message}.</p>
    {fault.kind === 'precondition-failed' ? (
      <p>The fields still have your texts. Copy what you need, and open the rule again.</p>
    ) : null}
    <Faults of={others} />
  </Notice>
);

/** @param path the page of the key's rules */
export const RuleForm = ({ state, path }: { state: RuleFormState; path: string }) => {
  const { verb, texts, number, isNew, edits, fault } = state;
  const byField = issuesByField(fault?.issues ?? [], number - 1);
  const errors = new Map([...byField].filter(([field]) => field !== ''));
  // At least one is free.
  const count = Math.min(MAX_CONDITIONS, Math.max(2, state.conditions.length + (state.isWider ? 2 : 1)));
  const conditions = Array.from({ length: count }, (_, at) => state.conditions[at] ?? NO_CONDITION);
  const text = (name: string): string => texts[name] ?? '';
  return (
    <form class="record" method="post" action={`${path}/rule`}>
      {fault === undefined ? null : <NotSaved fault={fault} others={byField.get('') ?? []} />}
      <input type="hidden" name="edits" value={edits} />
      <input type="hidden" name="number" value={isNew ? '' : `${number}`} />
      <input type="hidden" name="verb" value={verb} />
      <Section id="deed" title={RULE_VERBS[verb].label}>
        {fieldsOf(verb).map(({ name, label, hint, options, rows }) => {
          const field = { name, label, hint, errors, value: text(name) };
          if (options !== undefined) return <SelectField {...field} options={options} />;
          return rows === undefined ? <Text {...field} mono /> : <Lines {...field} rows={rows} />;
        })}
        <Text
          name="name"
          label="Purpose"
          hint="The list shows it. It may be empty."
          value={text('name')}
          errors={errors}
        />
      </Section>
      <Section id="messages" title="Messages">
        <Text
          name="types"
          label="Message types"
          hint="Such as ADT^A08 ORU, with spaces between. Empty: every message."
          value={text('types')}
          errors={errors}
          mono
        />
        <Text
          name="application"
          label="Only of MSH-3"
          hint="The sending application. Empty: any."
          value={text('application')}
          errors={errors}
          mono
        />
        <Text
          name="facility"
          label="Only of MSH-4"
          hint="The sending facility. Empty: any."
          value={text('facility')}
          errors={errors}
          mono
        />
      </Section>
      <Section id="conditions" title="Conditions">
        <p class="hint">
          The message must fulfil each. In a pattern, * is any text, ? one character and # one digit. A condition
          without a path and text is left out.
        </p>
        {conditions.map((condition, at) => (
          <Condition {...{ condition, at, errors }} />
        ))}
      </Section>
      <p class="actions">
        <button>Save to the draft</button>
        {count < MAX_CONDITIONS ? (
          <button class="secondary" name="more" value="condition">
            Another condition
          </button>
        ) : null}
        <a href={path}>Cancel</a>
      </p>
    </form>
  );
};
