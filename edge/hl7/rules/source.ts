/** The value that `copy` reads: of the same segment, or of the nearest one before it that belongs to the same patient and order. */
import { splitBy } from '../../../shared/hl7/value.ts';
import { isOfOrder, levelOf } from '../../members/sender-rules/targets.ts';
import type { EditedMessage, Line } from './edited-message.ts';
import type { FieldPath } from './rewrite.ts';
import { rawIn, repetitionsOf, selectedLines, selectsRepetition } from './selection.ts';

/**
 * The raw value for a place, reduced to the level of the place: a component has no repetitions, a subcomponent is one text.
 *
 * @returns `''` for no value
 */
export function copiedValue(edited: EditedMessage, source: Line, from: FieldPath, path: FieldPath): string {
  const { message } = edited;
  const isField = from.repetitions === undefined && from.component === undefined;
  const isFieldTarget = path.repetitions === undefined && path.component === undefined;
  if (isField && isFieldTarget) return edited.field(source, from.field);
  const repetition = repetitionsOf(edited, source, from.field).find((raw, at) =>
    from.repetitions === undefined ? at === 0 : selectsRepetition(raw, at + 1, from.repetitions, message),
  );
  if (repetition === undefined) return '';
  const raw = rawIn(repetition, from.component, from.subcomponent, message);
  if (path.component === undefined) return raw;
  const [component = ''] = splitBy(raw, message.delimiters.component);
  if (path.subcomponent === undefined) return component;
  return splitBy(component, message.delimiters.subcomponent)[0] ?? '';
}

/**
 * The segment that `copy` reads for each target, by the index of the target. It is the nearest selected one before the target,
 * but never of another patient or order. A segment of the patient must precede all orders.
 */
export function sourcesOf(edited: EditedMessage, from: FieldPath): readonly (Line | undefined)[] {
  if (from.segment === 'ORC' && edited.isOrcBehindObr) return [];
  const selected = new Set(selectedLines(edited, from));
  const level = levelOf(from.segment);
  let source: Line | undefined;
  let isBeforeOrders = true;
  let ordersOfSource = 0;
  edited.spend(edited.lines.length >> 1);
  return edited.lines.map((line) => {
    const { id } = line.segment;
    const isOrder = isOfOrder(id);
    if (id === 'PID' || (isOrder && levelOf(id) < level)) source = undefined;
    // The second OBR after an ORC has no ORC.
    if (id === 'OBR' && from.segment === 'ORC' && (ordersOfSource += 1) > 1) source = undefined;
    const found = source;
    if (id === 'PID') isBeforeOrders = true;
    if (isOrder) isBeforeOrders = false;
    if (id !== from.segment || line.isDropped) return found;
    ordersOfSource = 0;
    if (selected.has(line)) source = isOrder || isBeforeOrders ? line : source;
    else if (isOrder) source = undefined;
    return found;
  });
}
