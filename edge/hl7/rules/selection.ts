/** The segments, repetitions and texts that a path of a rule selects. */
import { unescape } from '../../../shared/hl7/escapes.ts';
import type { Message } from '../../../shared/hl7/message.ts';
import type { RulePath, Selector, ValueSelector } from '../../../shared/hl7/rule-path.ts';
import { piece } from '../../../shared/hl7/value.ts';
import type { EditedMessage, Line } from './edited-message.ts';

/** The current segments, without dropped ones. */
export function selectedLines(edited: EditedMessage, { segment, segments }: RulePath): readonly Line[] {
  const lines = edited.named(segment);
  edited.spend(lines.length);
  if (segments === undefined) return lines;
  if ('number' in segments) return lines.slice(segments.number - 1, segments.number);
  return lines.filter((line) =>
    repetitionsOf(edited, line, segments.field).some((raw) => hasSelected(raw, segments, edited.message)),
  );
}

/** The raw repetitions of a field, at least one. */
export function repetitionsOf(edited: EditedMessage, line: Line, field: number): readonly string[] {
  const raw = edited.field(line, field);
  const { repetition } = edited.message.delimiters;
  if (!raw.includes(repetition) || (line.segment.isDeclaring && field <= 2)) return [raw];
  const all = raw.split(repetition);
  edited.spend(all.length);
  return all;
}

/** Checks for the nth repetition, from 1, or for one with the value. */
export function selectsRepetition(
  raw: string,
  number: number,
  selector: Selector | undefined,
  message: Message,
): boolean {
  if (selector === undefined) return true;
  return 'number' in selector ? selector.number === number : hasSelected(raw, selector, message);
}

const hasSelected = (raw: string, { component, subcomponent, value }: ValueSelector, message: Message): boolean =>
  textIn(raw, component, subcomponent, message) === value;

/** A raw component or subcomponent of a raw repetition; `''` if absent. */
export function rawIn(
  repetition: string,
  component: number | undefined,
  subcomponent: number | undefined,
  { delimiters }: Message,
): string {
  if (component === undefined) return repetition;
  const raw = piece(repetition, delimiters.component, component) ?? '';
  return subcomponent === undefined ? raw : (piece(raw, delimiters.subcomponent, subcomponent) ?? '');
}

/** The text of a raw repetition at a place, where a level without a number is the first; `""` for HL7's null. */
export function textIn(
  repetition: string,
  component: number | undefined,
  subcomponent: number | undefined,
  message: Message,
): string {
  return textOf(rawIn(repetition, component ?? 1, subcomponent ?? 1, message), message);
}

/** The text of a raw value; `""` for HL7's null. */
export const textOf = (raw: string, message: Message): string =>
  raw.includes(message.delimiters.escape) ? unescape(raw, message) : raw;

/** Checks for content beside delimiters and white space. `""` is content. */
export function hasValue(raw: string, { separators }: Message): boolean {
  const { component, repetition, subcomponent } = separators;
  for (let at = 0; at < raw.length; at += 1) {
    const code = raw.charCodeAt(at);
    if (code <= 0x20 || code === component || code === repetition || code === subcomponent) continue;
    if (code < 0x80 || raw.charAt(at).trim() !== '') return true;
  }
  return false;
}
