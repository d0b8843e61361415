/** The texts in the form of one rule: from a stored rule, and to a rule that is not checked yet. The fields depend on the verb. */
import type { Issue } from '../../../shared/fault.ts';
import type { RuleCondition, SenderRule } from '../../members/sender-rules.ts';
import type { Verb } from '../../members/sender-rules/targets.ts';
import type { Option } from '../web/ui.tsx';

interface Field {
  readonly label: string;
  readonly hint: string;
  /** For a choice of one. */
  readonly options?: readonly Option[];
  /** A text of several lines. */
  readonly rows?: number;
}

const choice = (...values: string[]): Option[] => values.map((value) => ({ value, label: value }));

/** The members that only some verbs have, in the order of the form. */
const FIELDS = {
  from: { label: 'Copy from', hint: 'The path of the value to copy, such as OBR-20.' },
  path: {
    label: 'Path',
    hint: 'The place that the rule changes, such as PID-8, PID-3[2].4.1 or OBX[OBX-3.1=2951-2]-5.',
  },
  value: { label: 'New value', hint: 'Written as it is.' },
  values: {
    label: 'Values',
    hint: 'One in a line: the sent value, =, and the new value. Nothing behind = clears the value.',
    rows: 6,
  },
  otherwise: {
    label: 'Any other value',
    hint: 'A value that is not in the list.',
    options: [
      { value: '', label: 'stays as sent' },
      { value: 'keep', label: 'keep: stays as sent' },
      { value: 'clear', label: 'clear: is removed' },
    ],
  },
  by: { label: 'Separator', hint: 'The characters between the parts. A space counts.' },
  into: {
    label: 'Split into',
    hint: 'The parts that the value becomes.',
    options: choice('repetitions', 'components', 'subcomponents'),
  },
  format: { label: 'Format of the sender', hint: 'Such as DD.MM.YYYY or YYYY-MM-DD HH:mm.' },
  namespace: { label: 'Namespace', hint: 'The name of the assigning authority.' },
  universalId: { label: 'Universal id', hint: 'Such as an OID. It may be empty.' },
  universalIdType: { label: 'Type of the universal id', hint: 'Such as ISO. It may be empty.' },
  replaces: { label: 'Only in place of', hint: 'The namespace as sent. Empty: any.' },
  text: { label: 'Text of the error', hint: 'The sender receives it with AE. No patient data.' },
} as const satisfies Readonly<Record<string, Field>>;
type FieldName = keyof typeof FIELDS;

/** Empty texts of these are left out. */
const OPTIONAL: ReadonlySet<FieldName> = new Set(['otherwise', 'universalId', 'universalIdType', 'replaces']);

export const RULE_VERBS: Readonly<Record<Verb, { readonly label: string; readonly fields: readonly FieldName[] }>> = {
  set: { label: 'set: write a value', fields: ['path', 'value'] },
  default: { label: 'default: write a value where it is empty', fields: ['path', 'value'] },
  copy: { label: 'copy: copy a value', fields: ['from', 'path'] },
  clear: { label: 'clear: empty a field', fields: ['path'] },
  drop: { label: 'drop: remove repetitions or segments', fields: ['path'] },
  map: { label: 'map: replace values by others', fields: ['path', 'values', 'otherwise'] },
  split: { label: 'split: split a value', fields: ['path', 'by', 'into'] },
  join: { label: 'join: join parts of a value', fields: ['path', 'by'] },
  trim: { label: 'trim: remove white space around a value', fields: ['path'] },
  date: { label: 'date: read a local format of dates', fields: ['path', 'format'] },
  authority: {
    label: 'authority: set the assigning authority of identifiers',
    fields: ['path', 'namespace', 'universalId', 'universalIdType', 'replaces'],
  },
  ignore: { label: 'ignore: accept the message and apply nothing of it', fields: [] },
  reject: { label: 'reject: reject the message with an error', fields: ['text'] },
};

export const isVerb = (text: string | undefined): text is Verb => text !== undefined && Object.hasOwn(RULE_VERBS, text);

/** The fields of a verb, with their names. */
export const fieldsOf = (verb: Verb): readonly (Field & { readonly name: FieldName })[] =>
  RULE_VERBS[verb].fields.map((name) => ({ name, ...FIELDS[name] }));

export const CONDITION_TESTS = ['equals', 'like', 'present', 'absent'] as const;

export interface ConditionTexts {
  readonly path: string;
  /** One of `CONDITION_TESTS`. */
  readonly test: string;
  readonly value: string;
}

/** The texts that a form shows, or that were typed into it. */
export interface RuleTexts {
  readonly verb: Verb;
  readonly texts: Readonly<Record<string, string>>;
  readonly conditions: readonly ConditionTexts[];
}

const BETWEEN = ' = ';

/** @returns undefined for a rule that the form cannot show: a sent value contains `=`, or has white space around it */
export function textsOf(rule: SenderRule): RuleTexts | undefined {
  const { name = '', sender, when, verb, ...members } = rule;
  const texts: Record<string, string> = {
    name,
    application: sender?.application ?? '',
    facility: sender?.facility ?? '',
    types: (when?.types ?? []).join(' '),
  };
  for (const [member, value] of Object.entries<unknown>(members)) if (typeof value === 'string') texts[member] = value;
  if (rule.verb === 'map') texts['values'] = printPairs(Object.entries(rule.values));
  const conditions = (when?.all ?? []).map(textsOfCondition);
  const shown = { verb, texts, conditions };
  const isShown = rule.verb !== 'map' || JSON.stringify(ruleOf(shown)['values']) === JSON.stringify(rule.values);
  return isShown ? shown : undefined;
}

const printPairs = (pairs: readonly (readonly [string, string])[]): string =>
  pairs.map(([from, to]) => `${from}${BETWEEN}${to}`.trim()).join('\n');

const textsOfCondition = ({ path, is, equals, like }: RuleCondition): ConditionTexts => {
  if (equals !== undefined) return { path, test: 'equals', value: equals };
  return like === undefined ? { path, test: is ?? 'present', value: '' } : { path, test: 'like', value: like };
};

/** Reads a posted form. Conditions without a path and a value are left out. */
export function readTexts(verb: Verb, form: URLSearchParams): RuleTexts {
  const [paths, tests, values] = ['condition-path', 'condition-test', 'condition-value'].map((name) =>
    form.getAll(name),
  );
  const conditions = (paths ?? []).map((path, at) => ({
    path: path.trim(),
    test: tests?.[at] ?? '',
    value: values?.[at] ?? '',
  }));
  return {
    verb,
    texts: Object.fromEntries(form),
    conditions: conditions.filter(({ path, value }) => path !== '' || value !== ''),
  };
}

/** The rule as the JSON API gets it: `senderRules` checks it. */
export function ruleOf({ verb, texts, conditions }: RuleTexts): Readonly<Record<string, unknown>> {
  const given = (name: string): string => texts[name] ?? '';
  const some = (members: Readonly<Record<string, string>>): object | undefined => {
    const filled = Object.entries(members).filter(([, value]) => value !== '');
    return filled.length === 0 ? undefined : Object.fromEntries(filled);
  };
  const types = given('types')
    .split(/[\s,]+/)
    .filter((type) => type !== '');
  const when = {
    ...(types.length > 0 && { types }),
    ...(conditions.length > 0 && { all: conditions.map(conditionOf) }),
  };
  const sender = some({ application: given('application'), facility: given('facility') });
  const members = RULE_VERBS[verb].fields
    .filter((name) => !OPTIONAL.has(name) || given(name) !== '')
    .map((name) => [
      name,
      name === 'values'
        ? readPairs(given(name))
        : name === 'path' || name === 'from'
          ? given(name).trim()
          : given(name),
    ]);
  return {
    ...some({ name: given('name') }),
    ...(sender !== undefined && { sender }),
    ...(Object.keys(when).length > 0 && { when }),
    verb,
    ...Object.fromEntries(members),
  };
}

const conditionOf = ({ path, test, value }: ConditionTexts): object =>
  test === 'equals' || test === 'like' ? { path, [test]: value } : { path, is: test };

/** A line without `=` is a sent value without a text, which the schema rejects. */
const readPairs = (text: string): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    text
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const at = line.indexOf('=');
        return at < 0 ? [line.trim(), null] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
      }),
  );

/** Issues of the draft by field of the form of one rule; those of the list or of other rules have the field `''`. */
export function issuesByField(issues: readonly Issue[], index: number): ReadonlyMap<string, readonly string[]> {
  const located = issues.map(({ at = '', message }) => ({ field: fieldAt(at, index), message }));
  return new Map(
    [...Map.groupBy(located, ({ field }) => field)].map(([field, found]) => [
      field,
      found.map(({ message }) => message),
    ]),
  );
}

/** `rules[2].when.all[0].equals` is of the first condition, if the rule has the index 2. */
function fieldAt(at: string, index: number): string {
  const prefix = `rules[${index}].`;
  if (!at.startsWith(prefix)) return '';
  const member = at.slice(prefix.length);
  const [, number] = /^when\.all\[(\d+)\]/.exec(member) ?? [];
  if (number !== undefined) return `condition-${number}`;
  if (member.startsWith('when.all')) return 'condition-0';
  if (member.startsWith('when')) return 'types';
  if (member.startsWith('sender')) return member.endsWith('facility') ? 'facility' : 'application';
  const [field = ''] = member.split(/[.[]/);
  return Object.hasOwn(FIELDS, field) || field === 'name' ? field : '';
}
