/**
 * The search keys of a stored message: identifiers and names of its patients, and its errors. A message that cannot be read has
 * the keys that its bytes allow.
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import { latin1 } from '../../../shared/hl7/charset.ts';
import { attempt } from '../../../shared/fault.ts';
import { readMessage, type Message, type Segment } from '../../../shared/hl7/message.ts';
import { componentOf, pathOf, repetitions, type Part } from '../../../shared/hl7/value.ts';
import { type MessageKey, nameTerms, numberKey, REASON, termsText } from '../../store/message-key.ts';
import { plainTextOf, textOf } from '../mapping/datatypes/text.ts';
import type { Reading } from './reading.ts';

/** A real message has a handful. A message that is rejected for its size may have any number. */
const MAX_KEYS = 2000;
const MAX_REASONS = 20;
const MAX_TEXT = 200;

/** Fields with CX, and with XPN (HL7 v2.5.1 §3.4.2, §3.4.9). */
const FIELDS: Readonly<Record<string, { readonly numbers: readonly number[]; readonly names: readonly number[] }>> = {
  PID: { numbers: [3, 2, 4], names: [5, 9] },
  MRG: { numbers: [1, 4], names: [7] },
};

/** @param reading as sent and as its key's rules changed it: a person may know either; undefined if the bytes could not be read */
export function keysOf(
  { opened: { sent }, message }: Pick<Reading, 'opened' | 'message'>,
  bytes: Uint8Array,
  findings: readonly AckError[],
): MessageKey[] {
  const read = new Set([sent ?? salvaged(bytes), message]);
  const segments = Object.entries(FIELDS).flatMap(([id, { numbers, names }]) => {
    const named = [...read].flatMap((each) => each?.named(id) ?? []);
    // Few rules change these fields.
    const rawOf = (segment: Segment): string => [...numbers, ...names].map((field) => segment.field(field)).join('\r');
    return [...new Map(named.map((segment) => [rawOf(segment), segment])).values()];
  });
  return [...eachOnce(segments.flatMap(keysOfSegment)).slice(0, MAX_KEYS), ...keysOfFindings(findings)];
}

function keysOfSegment(segment: Segment): MessageKey[] {
  const { numbers = [], names = [] } = FIELDS[segment.id] ?? {};
  const each = (field: number, keys: (part: Part, at: string) => MessageKey[]): MessageKey[] =>
    repetitions(segment, field, MAX_KEYS).flatMap((part) => keys(part, `${segment.id}-${field}`));
  return [...numbers.flatMap((field) => each(field, numberKeys)), ...names.flatMap((field) => each(field, nameKeys))];
}

/** An identifier, also with its check digit (CX.2) as some systems print it. */
function numberKeys(part: Part, field: string): MessageKey[] {
  const value = plainTextOf(part, 1);
  if (value === undefined || value.length > MAX_TEXT) return [];
  const hd = [4, 6].map((component) => componentOf(part, component)).find((one) => textOf(one, 1) ?? textOf(one, 2));
  const authority = [1, 2]
    .map((number) => textOf(hd, number) ?? '')
    .join('&')
    .replace(/&$/, '')
    .slice(0, MAX_TEXT);
  const forms = [value, `${value}${textOf(part, 2) ?? ''}`];
  const keys = new Set(forms.flatMap((form) => numberKey(form) ?? []));
  return [...keys].map((key) => ({ key, field, value, authority: authority.toWellFormed() }));
}

/** Scripts without a space between family and given name. */
const JOINED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Each term of surname, own and partner's surname, given and further names (XPN.1 to 3). */
function nameKeys(part: Part, field: string): MessageKey[] {
  const fn = componentOf(part, 1);
  const family = [1, 3, 5].map((subcomponent) => textOf(fn, subcomponent) ?? '').join(' ');
  const given = [2, 3].map((component) => plainTextOf(part, component) ?? '').join(' ');
  const terms = [...new Set([...nameTerms(family), ...nameTerms(given)])];
  const text = `${family}${given}`;
  const joined = JOINED.test(text) ? nameTerms(text.replaceAll(' ', '')) : [];
  const value = termsText([...terms, ...joined])
    .slice(0, 2 * MAX_TEXT)
    .toWellFormed();
  return [...new Set([...terms, ...joined])].map((key) => ({ key: key.toWellFormed(), field, value, authority: '' }));
}

/** Reason, severity and code of each error and warning, with its field; also that a rule ignored the message. */
const keysOfFindings = (findings: readonly AckError[]): MessageKey[] =>
  eachOnce(
    findings
      .filter(({ severity, reason }) => severity !== 'I' || reason === 'rule-ignored')
      .map(({ reason, severity, code, at = '' }) => ({
        key: `${REASON}${reason ?? code}`,
        field: pathOf(at.split('^').slice(0, 3).join('^')).replaceAll(/\[\d+\]/g, ''),
        value: `${severity} ${code}`,
        authority: '',
      })),
  ).slice(0, MAX_REASONS);

const eachOnce = (keys: readonly MessageKey[]): MessageKey[] => [
  ...new Map(keys.map((key) => [Object.values(key).join('\n'), key])).values(),
];

/**
 * Reads the patient lines of bytes that are not a valid message: characters outside their set, too many segments. Each byte is
 * a character, which is right for identifiers and for the ASCII part of names.
 */
function salvaged(bytes: Uint8Array): Message | undefined {
  const lines = latin1(bytes)
    .replaceAll('\0', '')
    .split(/[\r\n]+/);
  const start = lines.findIndex((line) => line.trimStart().startsWith('MSH'));
  const kept = lines.slice(start + 1).filter((line) => Object.hasOwn(FIELDS, line.slice(0, 3)));
  if (start < 0) return undefined;
  return attempt(() => readMessage([lines[start], ...kept.slice(0, MAX_KEYS)].join('\r')));
}
