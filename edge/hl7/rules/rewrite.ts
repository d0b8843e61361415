/** Writes at the places that a path of a rule selects. All other characters of a field stay as sent. */
import type { Message } from '../../../shared/hl7/message.ts';
import type { RulePath } from '../../../shared/hl7/rule-path.ts';
import { NULL, piece } from '../../../shared/hl7/value.ts';
import type { EditedMessage, Line } from './edited-message.ts';
import { hasValue, repetitionsOf, selectedLines, selectsRepetition } from './selection.ts';

/** A path with a field. */
export type FieldPath = RulePath & { readonly field: number };

/** The new raw value of a place; an equal value changes nothing. */
export type Rewrite = (raw: string, line: Line) => string;

/**
 * Rewrites the places of a path in the current segments.
 *
 * @param number the number of the rule
 * @param unit `field`: a path without selector and component is one value. `repetition`: it is a value in each repetition.
 * @param isMoving positions in the field no longer correspond to those sent
 */
export function rewrite(
  edited: EditedMessage,
  path: FieldPath,
  number: number,
  unit: 'field' | 'repetition',
  isMoving: boolean,
  change: Rewrite,
): void {
  const isField = unit === 'field' && path.repetitions === undefined && path.component === undefined;
  for (const line of selectedLines(edited, path)) {
    if (isTypeOfDocument(edited, line, path.field)) continue;
    if (isField) {
      const raw = edited.field(line, path.field);
      if (!edited.hasDocument(raw)) edited.write(line, path.field, change(raw, line), number, null);
      continue;
    }
    const all = repetitionsOf(edited, line, path.field);
    let changed: string[] | undefined;
    for (let at = 0; at < all.length; at += 1) {
      const raw = all[at] ?? '';
      if (edited.hasDocument(raw) || !selectsRepetition(raw, at + 1, path.repetitions, edited.message)) continue;
      const after = changeRepetition(raw, path, all.length === 1, edited.message, (part) => change(part, line));
      if (after !== raw) (changed ??= [...all])[at] = after;
    }
    if (changed === undefined) continue;
    const after = changed.join(edited.message.delimiters.repetition);
    edited.write(line, path.field, after, number, isMoving ? null : undefined);
  }
}

/** OBX-2 of a document: with another type it would no longer be read as one. */
const isTypeOfDocument = (edited: EditedMessage, { segment }: Line, field: number): boolean =>
  field === 2 && segment.id === 'OBX' && edited.message.documents.size > 0 && edited.hasDocument(segment.raw);

/**
 * A component beyond the first is only written beside a value: a coding system without a code has no meaning. So is an empty
 * repetition among others.
 */
function changeRepetition(
  raw: string,
  { component, subcomponent }: RulePath,
  isOnly: boolean,
  message: Message,
  change: (raw: string) => string,
): string {
  if (component === undefined) return change(raw);
  if ((component > 1 || !isOnly) && (raw === NULL || !hasValue(raw, message))) return raw;
  return changePiece(raw, message.delimiters.component, component, (part) => {
    if (subcomponent === undefined) return change(part);
    if (subcomponent > 1 && part === NULL) return part;
    return changePiece(part, message.delimiters.subcomponent, subcomponent, change);
  });
}

/** Changes the nth piece between separators. A message without subcomponents has only the first. */
function changePiece(raw: string, separator: string, number: number, change: (part: string) => string): string {
  if (separator === '') return number === 1 ? change(raw) : raw;
  const before = piece(raw, separator, number) ?? '';
  const after = change(before);
  if (after === before) return raw;
  const parts = raw.split(separator);
  while (parts.length < number) parts.push('');
  parts[number - 1] = after;
  return parts.join(separator);
}
