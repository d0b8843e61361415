/**
 * The rules of one API key for the messages of its senders: a list, applied in order. A rule has a condition and one verb. This
 * is the stored document; edge/hl7/rules applies it.
 */
import * as z from 'zod';

import { fieldType } from '../../shared/hl7/field-types.ts';
import { MAX_PATH_CHARACTERS, parseRulePath, type RulePath } from '../../shared/hl7/rule-path.ts';
import { NULL } from '../../shared/hl7/value.ts';
import { dateFormatFault } from './sender-rules/date-format.ts';
import { MAX_PATTERN_CHARACTERS } from './sender-rules/pattern.ts';
import { mustKeepValue, sourceFault, targetFault, type Verb } from './sender-rules/targets.ts';

const MAX_RULES = 50;
/** Printed as JSON, in bytes of UTF-8. */
export const MAX_RULES_BYTES = 64 * 1024;
const MAX_CONDITIONS = 10;
const MAX_TYPES = 20;
const MAX_MAPPED = 500;
const MAX_NAME_CHARACTERS = 200;
const MAX_TEXT_CHARACTERS = 1000;
const MAX_CODE_CHARACTERS = 200;
const MAX_SEPARATOR_CHARACTERS = 10;
/** MSH-3 and MSH-4 are HD (HL7 v2.5.1 §2.15.9.3). */
const MAX_SENDER_CHARACTERS = 227;
const MAX_REJECT_CHARACTERS = 200;

// A control character in a value could end its segment, or look like a document (shared/hl7/document-token.ts).
// oxlint-disable-next-line no-control-regex
const NO_CONTROLS = /^[^\u0000-\u001f\u007f]*$/;

const text = (max: number) =>
  z
    .string({ error: 'must be a text' })
    .min(1, 'must not be empty')
    .max(max, `at most ${max} characters`)
    .regex(NO_CONTROLS, 'must not have control characters')
    .refine((given) => given.isWellFormed(), 'must not have half a surrogate pair');

const path = z
  .string({ error: 'must be a path, such as PID-8' })
  .max(MAX_PATH_CHARACTERS, `at most ${MAX_PATH_CHARACTERS} characters`)
  .superRefine((given, context) => {
    const parsed = parseRulePath(given);
    if (typeof parsed === 'string') context.addIssue({ code: 'custom', message: parsed });
  });

const condition = z
  .strictObject({
    path,
    is: z.enum(['present', 'absent'], { error: 'must be present or absent' }).optional(),
    equals: text(MAX_TEXT_CHARACTERS).optional(),
    like: text(MAX_PATTERN_CHARACTERS).optional(),
  })
  .superRefine(({ path: given, ...tests }, context) => {
    const [test, ...more] = Object.values(tests).filter((each) => each !== undefined);
    if (test === undefined || more.length > 0)
      context.addIssue({ code: 'custom', message: 'needs one of is, equals and like' });
    if (tests.is === undefined && parsedPath(given)?.field === undefined && typeof parseRulePath(given) !== 'string')
      context.addIssue({ code: 'custom', message: 'must name a field, such as PID-8', path: ['path'] });
  });

const when = z.strictObject({
  types: z
    .array(
      z.string().regex(/^[A-Z][A-Z0-9]{2}(?:\^[A-Z][A-Z0-9]{2})?$/, 'must be a message type, such as ADT or ADT^A08'),
    )
    .min(1, 'needs a message type')
    .max(MAX_TYPES, `at most ${MAX_TYPES} message types`)
    .optional(),
  all: z.array(condition).max(MAX_CONDITIONS, `at most ${MAX_CONDITIONS} conditions`).optional(),
});

const sender = z
  .strictObject({
    application: text(MAX_SENDER_CHARACTERS).optional(),
    facility: text(MAX_SENDER_CHARACTERS).optional(),
  })
  .refine(({ application, facility }) => application !== undefined || facility !== undefined, {
    error: 'needs an application or a facility',
  });

const common = {
  name: text(MAX_NAME_CHARACTERS).optional().meta({ description: 'The purpose of the rule.' }),
  sender: sender.optional().meta({ description: 'MSH-3.1 and MSH-4.1 of its messages, in any case.' }),
  when: when
    .optional()
    .meta({ description: 'About the message: a condition holds if any segment or repetition fits.' }),
};

const MAPPED_TEXT = `must be a text of at most ${MAX_CODE_CHARACTERS} characters without control characters`;

const verbs = {
  set: z.strictObject({ ...common, verb: z.literal('set'), path, value: text(MAX_TEXT_CHARACTERS) }),
  default: z.strictObject({ ...common, verb: z.literal('default'), path, value: text(MAX_TEXT_CHARACTERS) }),
  copy: z.strictObject({ ...common, verb: z.literal('copy'), from: path, path }),
  clear: z.strictObject({ ...common, verb: z.literal('clear'), path }),
  drop: z.strictObject({ ...common, verb: z.literal('drop'), path }),
  map: z.strictObject({
    ...common,
    verb: z.literal('map'),
    path,
    values: z
      .record(z.string(), z.union([text(MAX_CODE_CHARACTERS), z.literal('')], { error: MAPPED_TEXT }), {
        error: 'must be an object of texts',
      })
      .refine((values) => Object.keys(values).every((value) => text(MAX_CODE_CHARACTERS).safeParse(value).success), {
        error: `each sent value ${MAPPED_TEXT}`,
      })
      .refine((values) => Object.keys(values).length > 0, 'needs a value')
      .refine((values) => Object.keys(values).length <= MAX_MAPPED, `at most ${MAX_MAPPED} values`),
    otherwise: z.enum(['keep', 'clear'], { error: 'must be keep or clear' }).optional(),
  }),
  split: z.strictObject({
    ...common,
    verb: z.literal('split'),
    path,
    by: text(MAX_SEPARATOR_CHARACTERS),
    into: z.enum(['repetitions', 'components', 'subcomponents'], {
      error: 'must be repetitions, components or subcomponents',
    }),
  }),
  join: z.strictObject({ ...common, verb: z.literal('join'), path, by: text(MAX_SEPARATOR_CHARACTERS) }),
  trim: z.strictObject({ ...common, verb: z.literal('trim'), path }),
  date: z.strictObject({
    ...common,
    verb: z.literal('date'),
    path,
    format: z.string({ error: 'must be a format, such as DD.MM.YYYY' }).superRefine((given, context) => {
      const message = dateFormatFault(given);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    }),
  }),
  authority: z.strictObject({
    ...common,
    verb: z.literal('authority'),
    path,
    namespace: text(MAX_CODE_CHARACTERS),
    universalId: text(MAX_CODE_CHARACTERS).optional(),
    universalIdType: text(MAX_CODE_CHARACTERS).optional(),
    replaces: text(MAX_CODE_CHARACTERS).optional(),
  }),
  ignore: z.strictObject({ ...common, verb: z.literal('ignore') }),
  reject: z.strictObject({ ...common, verb: z.literal('reject'), text: text(MAX_REJECT_CHARACTERS) }),
} satisfies Readonly<Record<Verb, z.ZodType>>;

type Each = (typeof verbs)[Verb];

const rule = z
  // The table has a verb.
  .discriminatedUnion('verb', Object.values(verbs) as [Each, ...Each[]], {
    error: `must be one of ${Object.keys(verbs).join(', ')}`,
  })
  .superRefine((given, context) => {
    for (const [member, message] of faultsOf(given)) context.addIssue({ code: 'custom', message, path: [member] });
  });

/** One rule of a sender. */
export type SenderRule = z.output<Each>;
export type RuleCondition = z.output<typeof condition>;

/** The rules of a key, in the order in which they are applied. */
export const senderRules = z
  .array(rule, { error: 'must be a list of rules' })
  .max(MAX_RULES, `at most ${MAX_RULES} rules`)
  .refine((rules) => new TextEncoder().encode(JSON.stringify(rules)).length <= MAX_RULES_BYTES, {
    error: `at most ${MAX_RULES_BYTES} bytes`,
  });

const parsedPath = (given: string): RulePath | undefined => {
  const parsed = parseRulePath(given);
  return typeof parsed === 'string' ? undefined : parsed;
};

/** The rules that involve several members. A path that does not parse is reported already. */
function* faultsOf(given: SenderRule): Generator<readonly [member: string, message: string]> {
  if (!('path' in given)) return;
  const target = parsedPath(given.path);
  if (target === undefined) return;
  const refused = targetFault(given.verb, target);
  if (refused !== undefined) {
    yield ['path', refused];
    return;
  }
  const form = formFault(given, target);
  if (form !== undefined) yield form;
  if (given.verb !== 'copy') return;
  const from = parsedPath(given.from);
  const unreadable = from === undefined ? undefined : sourceFault(from, target);
  if (unreadable !== undefined) yield ['from', unreadable];
}

type WithPath = Extract<SenderRule, { readonly path: string }>;

function formFault(given: WithPath, target: RulePath): readonly [member: string, message: string] | undefined {
  const { segment, field, repetitions, component, subcomponent } = target;
  switch (given.verb) {
    case 'drop':
      if (field === undefined || (repetitions !== undefined && component === undefined)) return undefined;
      return ['path', `must be a segment or repetitions, such as NTE or ${segment}-${field}[2]`];
    case 'map': {
      const isEmptied = given.otherwise === 'clear' || Object.values(given.values).some(isNoValue);
      if (!isEmptied || !mustKeepValue(target)) return undefined;
      const member = given.otherwise === 'clear' ? 'otherwise' : 'values';
      return [member, `must not empty ${segment}-${field}`];
    }
    case 'split':
      if (
        given.into === 'subcomponents' ? component !== undefined && subcomponent === undefined : component === undefined
      )
        return undefined;
      return ['into', `${given.path} cannot be split into ${given.into}`];
    case 'join':
      return subcomponent === undefined ? undefined : ['path', 'must be a field, a repetition or a component'];
    case 'authority': {
      const type = fieldType(segment, field ?? 0, '');
      const isPair = type === 'EIP';
      const isPlaced = isPair
        ? component !== undefined && component <= 2 && subcomponent === undefined
        : component === undefined;
      if (isPlaced && AUTHORITY_TYPES.has(type ?? '')) return undefined;
      return [
        'path',
        isPair ? 'must name a component, such as SPM-2.1' : `must be a field of ${[...AUTHORITY_TYPES].join(', ')}`,
      ];
    }
    default:
      return undefined;
  }
}

const isNoValue = (value: string): boolean => value.trim() === '' || value === NULL;

/** The data types with an assigning authority. */
const AUTHORITY_TYPES: ReadonlySet<string> = new Set(['CX', 'EI', 'EIP', 'XCN', 'XON']);
