/** Schemas that members of several records share. */
import * as z from 'zod';

import { CHARSETS, charsetNamed } from '../../shared/hl7/charset.ts';
import { isTimeZone } from '../../shared/hl7/zone.ts';
import { numberOf } from './input.ts';

const MAX_NAME_CHARACTERS = 200;
const MAX_LIST_ITEMS = 200;
// oxlint-disable-next-line no-control-regex
const NO_CONTROLS = /^[^\u0000-\u001f\u007f]*$/;

/** A list, or one text with commas. Items are trimmed, duplicates removed. */
export const list = (checkItem: (item: string) => string | undefined) =>
  z
    .union([z.array(z.string()), z.string()], { error: 'must be a list of texts, or one text with commas' })
    .transform((given, context) => {
      const texts = typeof given === 'string' ? given.split(',') : given;
      const items = [...new Set(texts.map((text) => text.trim()).filter((text) => text !== ''))];
      if (items.length > MAX_LIST_ITEMS) context.addIssue({ code: 'custom', message: `at most ${MAX_LIST_ITEMS}` });
      for (const item of items) {
        const message = checkItem(item);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      }
      return items;
    });

/** A list of known values. @param what completes `"x" is not …` */
export const choices = (what: string, known: readonly string[]) =>
  list((item) =>
    known.includes(item) ? undefined : `${JSON.stringify(item)} is not ${what}: choose from ${known.join(', ')}`,
  );

/** A required label. */
export const name = z
  .string({ error: 'is required' })
  .trim()
  .min(1, 'is required')
  .max(MAX_NAME_CHARACTERS, `at most ${MAX_NAME_CHARACTERS} characters`)
  .regex(NO_CONTROLS, 'must not have control characters');

/** One line of text, trimmed; null if empty. */
export const optionalText = (maxCharacters: number) =>
  z
    .string({ error: 'must be a text, or null' })
    .max(maxCharacters, `at most ${maxCharacters} characters`)
    .regex(NO_CONTROLS, 'must not have control characters')
    .transform((text) => (text.trim() === '' ? null : text.trim()))
    .nullable();

// oxlint-disable-next-line no-control-regex
const NO_CONTROLS_BUT_LINES = /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$/;

/** Several lines of text, trimmed; null if empty. */
export const optionalLines = (maxCharacters: number) =>
  z
    .string({ error: 'must be a text, or null' })
    .max(maxCharacters, `at most ${maxCharacters} characters`)
    .regex(NO_CONTROLS_BUT_LINES, 'must not have control characters')
    .transform((text) => (text.trim() === '' ? null : text.trim().replaceAll('\r\n', '\n')))
    .nullable();

/** A boolean; null and an empty text become `initial`. */
const yesOrNo = (initial: boolean) =>
  z
    .union([z.boolean(), z.literal(''), z.null()], { error: 'must be true or false' })
    .transform((given) => (typeof given === 'boolean' ? given : initial));

/** An IANA time zone that this runtime knows, or null. */
export const timeZone = optionalText(100).refine((zone) => zone === null || isTimeZone(zone), {
  error: ({ input }) => `${JSON.stringify(input)} is not a known IANA name, such as Europe/Berlin`,
});

/** A character set by any of its names, stored by the name that IANA prefers; null if empty. */
export const charset = optionalText(40).transform((given, context) => {
  const known = given === null ? null : charsetNamed(given);
  if (known !== undefined) return known;
  const message = `${JSON.stringify(given)} is not a supported character set: choose from ${CHARSETS.join(', ')}`;
  context.addIssue({ code: 'custom', message });
  return null;
});

/** HL7 table 0103 (MSH-11.1): production, training, debugging. */
export const PROCESSING_IDS = ['P', 'T', 'D'] as const;
export const processingIds = choices('a processing id', PROCESSING_IDS);

/** A member that is a text or null, null at first. */
export const optional = <Schema extends z.ZodType>(schema: Schema) => ({
  schema,
  initial: null,
  answer: z.string().nullable(),
  input: { kind: 'text' } as const,
});

/** A member that is a whole number, or its digits as text; null if empty, and at first. */
export const optionalInteger = (min: number, max: number) => ({
  ...optional(
    z
      .union([z.number(), z.string(), z.null()], { error: `must be a whole number from ${min} to ${max}, or null` })
      .transform((given) => (typeof given === 'string' ? numberOf(given) : given))
      .refine((number) => number === null || (Number.isInteger(number) && number >= min && number <= max), {
        error: `must be a whole number from ${min} to ${max}, or null`,
      }),
  ),
  answer: z.number().int().nullable(),
});

/** A member that is a list of texts, empty at first. */
export const several = <Schema extends z.ZodType>(schema: Schema) => ({
  schema,
  initial: [],
  answer: z.array(z.string()),
  input: { kind: 'list' } as const,
});

/** A member that is one of the values; null and an empty text become `initial`. */
export const oneOf = <const Value extends string>(values: readonly Value[], initial: Value) => ({
  schema: z
    .union([z.enum(values), z.literal(''), z.null()], { error: `must be one of ${values.join(', ')}` })
    .transform((given): Value => (given === '' || given === null ? initial : given)),
  initial,
  answer: z.enum(values),
});

/** A member that is true or false. */
export const truth = (initial: boolean) => ({ schema: yesOrNo(initial), initial, answer: z.boolean() });
