/**
 * Paths such as `PID-5[2].1`: which segment of its name, field, which repetition, component, subcomponent. How tests
 * name a value; the gateway itself reads by numbers (`shared/hl7/value.ts`).
 */
import { Fault } from '../../../shared/fault.ts';
import type { Message } from '../../../shared/hl7/message.ts';
import { valueAt, type Value } from '../../../shared/hl7/value.ts';

export interface Path {
  readonly segment: string;
  /** The number among the segments of this name, from 1. */
  readonly sequence: number;
  readonly field: number;
  readonly repetition: number;
  readonly component: number;
  readonly subcomponent: number;
}

const PATH =
  /^([A-Z][A-Z0-9]{2})(?:\[([1-9]\d{0,4})\])?-(\d{1,3})(?:\[([1-9]\d{0,4})\])?(?:\.(\d{1,3}))?(?:\.(\d{1,3}))?$/;

/**
 * Parses `PID-5`, `PID-5[2].1`, `OBX[3]-5`, `PID-3[1].4.2`. An omitted number is 1.
 *
 * @throws Fault `invalid` for anything else
 */
export function parsePath(path: string): Path {
  const match = PATH.exec(path);
  if (match === null) throw new Fault('invalid', 'not a path of the form PID-5[2].1.1', { code: 'bad-path' });
  const number = (group: number): number => Number(match[group] ?? 1);
  return {
    segment: match[1] ?? '',
    sequence: number(2),
    field: number(3),
    repetition: number(4),
    component: number(5),
    subcomponent: number(6),
  };
}

/** The value at a path; undefined when the segment or any step to it is absent. */
export function readPath(message: Message, path: string | Path): Value {
  const parsed = typeof path === 'string' ? parsePath(path) : path;
  const { sequence, field, repetition, component, subcomponent } = parsed;
  const segment = sequence === 1 ? message.first(parsed.segment) : message.named(parsed.segment)[sequence - 1];
  return segment === undefined ? undefined : valueAt(segment, field, repetition, component, subcomponent);
}
