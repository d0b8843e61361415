/**
 * The lines of one text: adjacent OBX of type TX or FT with equal OBX-3 and OBX-11. Their OBX-4 are equal, or count the lines. An
 * OBX of type ST is a line only beside them, without OBX-6 to OBX-8, and if it is not a number.
 */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { decimal } from '../datatypes/quantity.ts';
import { fieldText, isValued } from '../datatypes/text.ts';
import { TEXT_TYPES, valueType } from './obx-value.ts';

/** The OBX of one result. */
export interface ObservationLines {
  readonly obx: readonly [Segment, ...Segment[]];
  /** OBX-4; `''` if it only counts the lines. */
  readonly sub: string;
}

/** @param run OBX without other segments between them */
export function linesIn(run: readonly Segment[]): ObservationLines[] {
  const found: ObservationLines[] = [];
  let at = 0;
  while (at < run.length) {
    const begin = at;
    at += 1;
    while (at < run.length && isSameText(run[at - 1], run[at])) at += 1;
    found.push(...textsIn(run.slice(begin, at)));
  }
  return found;
}

/** @param lines OBX with equal code and status */
function textsIn(lines: readonly Segment[]): ObservationLines[] {
  const [first, ...more] = lines;
  if (first === undefined) return [];
  if (!lines.some(isText)) return lines.map((obx) => ({ obx: [obx], sub: subOf(obx) }));
  const subs = lines.map(subOf);
  if (subs.every((sub, at) => sub === String(at + 1))) return [{ obx: [first, ...more], sub: '' }];
  if (subs.every((sub) => sub === subs[0])) return [{ obx: [first, ...more], sub: subs[0] ?? '' }];
  const texts: { obx: [Segment, ...Segment[]]; sub: string }[] = [];
  for (const obx of lines) {
    const last = texts.at(-1);
    const isLine = last !== undefined && last.sub === subOf(obx) && (isText(obx) || last.obx.some(isText));
    if (isLine) last.obx.push(obx);
    else texts.push({ obx: [obx], sub: subOf(obx) });
  }
  return texts;
}

/** OBX-4 as sent. */
const subOf = (obx: Segment): string => (obx.field(4) ?? '').trim();

const isText = (obx: Segment): boolean => TEXT_TYPES.has(valueType(obx) ?? '');

const LINE_FIELDS = [3, 11, 14, 21];

function isSameText(a: Segment | undefined, b: Segment | undefined): boolean {
  if (a === undefined || b === undefined || !isLike(a) || !isLike(b)) return false;
  return LINE_FIELDS.every((field) => (a.field(field) ?? '') === (b.field(field) ?? ''));
}

function isLike(obx: Segment): boolean {
  if (isText(obx)) return true;
  if (valueType(obx) !== 'ST' || [6, 7, 8].some((field) => isValued(obx, field))) return false;
  return decimal(fieldText(obx, 5) ?? '') === undefined;
}
