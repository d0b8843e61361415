/**
 * The fields that each verb of a rule may change. Some fields decide about the patient, order, time or status of a statement.
 * For these, only verbs are allowed that begin with a value of the sender.
 */
import type { RulePath } from '../../../shared/hl7/rule-path.ts';

export type Verb =
  | 'set'
  | 'default'
  | 'copy'
  | 'clear'
  | 'drop'
  | 'map'
  | 'split'
  | 'join'
  | 'trim'
  | 'date'
  | 'authority'
  | 'ignore'
  | 'reject';

interface Guard {
  /** By segment: fields, or `any`. */
  readonly fields: Readonly<Record<string, readonly number[] | 'any'>>;
  readonly verbs: readonly Verb[];
  /** Completes `OBX-11 …`. */
  readonly reason: string;
}

/** The first guard with the field counts. Other fields are open to each verb. */
const GUARDS: readonly Guard[] = [
  {
    fields: { MSH: 'any', FHS: 'any', BHS: 'any' },
    verbs: [],
    reason: 'is of the header, by which the message is read, answered and recognized',
  },
  {
    fields: { EVN: [1, 2], OBR: [22], TXA: [8], PRB: [2] },
    verbs: [],
    reason: 'is the event, or decides which statement is newer',
  },
  {
    fields: {
      OBX: [11],
      OBR: [25],
      ORC: [1, 5],
      TXA: [17, 19],
      IAM: [6, 17],
      PRB: [1, 13, 14],
      DG1: [21],
      PR1: [20],
      SPM: [11],
    },
    verbs: ['map'],
    reason: 'is a status or action, which may withdraw data',
  },
  {
    fields: {
      PID: [2, 3, 4, 18, 21],
      MRG: 'any',
      PV1: [19],
      ORC: [2, 3, 8],
      OBR: [2, 3, 4, 26, 29],
      OBX: [3, 4, 21],
      TXA: [12, 13],
      SPM: [2],
      AL1: [3],
      IAM: [3, 7],
      DG1: [3, 4, 20, 22],
      PR1: [3, 4, 19, 25],
      PRB: [3, 4],
    },
    verbs: ['authority', 'copy', 'drop', 'map', 'trim'],
    reason: 'identifies the patient, order, result or document',
  },
  {
    fields: { OBR: [7], OBX: [14], DG1: [5], PR1: [5] },
    verbs: ['copy', 'date', 'map', 'trim'],
    reason: 'is a time that identifies the result, diagnosis or procedure',
  },
  {
    fields: { PID: [7] },
    verbs: ['clear', 'copy', 'date', 'map', 'trim'],
    reason: 'is the birth date, by which patients are compared',
  },
  {
    fields: { OBX: [2] },
    verbs: ['default', 'map', 'set', 'trim'],
    reason: 'is the type of the value',
  },
];

/** The segments behind these belong to them, and would belong to another patient or order. */
const KEPT_SEGMENTS: ReadonlySet<string> = new Set('MSH FHS BHS EVN PID MRG ORC OBR TXA SPM'.split(' '));

const guardOf = ({ segment, field }: Pick<RulePath, 'segment' | 'field'>): Guard | undefined =>
  GUARDS.find(({ fields }) => {
    const guarded = Object.hasOwn(fields, segment) ? fields[segment] : undefined;
    return guarded === 'any' || (field !== undefined && guarded?.includes(field) === true);
  });

/** Checks for a field that a rule must not empty: an identifier or a status. */
export const mustKeepValue = (path: Pick<RulePath, 'segment' | 'field'>): boolean => {
  const verbs = guardOf(path)?.verbs;
  return verbs !== undefined && verbs.includes('map') && !verbs.includes('clear') && !verbs.includes('set');
};

/** @returns why the verb must not write there; undefined if it may */
export function targetFault(verb: Verb, path: RulePath): string | undefined {
  const { segment, field } = path;
  if (verb === 'drop' && field === undefined) {
    if (!KEPT_SEGMENTS.has(segment)) return undefined;
    return `${segment} must not be dropped: the segments behind it would belong to another patient or order`;
  }
  if (field === undefined) return `must name a field, such as ${segment}-3`;
  const guard = guardOf(path);
  if (guard === undefined || guard.verbs.includes(verb)) return undefined;
  const allowed = guard.verbs.length === 0 ? 'No rule may change it.' : `Use ${guard.verbs.join(', ')}.`;
  return `${segment}-${field} ${guard.reason}. ${allowed}`;
}

/**
 * The sequence of segments in a message. `copy` reads a segment before its target. A segment of a later level precedes its
 * target only as a part of another order or result.
 */
const LEVELS: ReadonlyMap<string, number> = new Map([
  ['PID', 1],
  ['ORC', 3],
  ['OBR', 4],
  ['TXA', 4],
  ['SPM', 5],
  ['OBX', 6],
  ['NTE', 7],
]);
/** The level of the patient's segments, such as PV1. */
const OF_PATIENT = 2;

export const levelOf = (segment: string): number => LEVELS.get(segment) ?? OF_PATIENT;

/** Checks for a segment of an order, result or document. */
export const isOfOrder = (segment: string): boolean => levelOf(segment) > OF_PATIENT && segment !== 'NTE';

/** @returns why `copy` must not read there */
export function sourceFault(from: RulePath, target: RulePath): string | undefined {
  if (from.field === undefined) return `must name a field, such as ${from.segment}-3`;
  if (from.segment === 'MSH') {
    if (from.field <= 2) return `MSH-${from.field} has the delimiters, not a text`;
    // All patients of a sender would have one identifier. Its authority is in a later component.
    const isIdentifier = mustKeepValue(target) && (target.component ?? 1) === 1;
    return isIdentifier ? `MSH does not identify ${target.segment}-${target.field}` : undefined;
  }
  if (from.segment === target.segment) {
    return from.segments === undefined
      ? undefined
      : 'must not select a segment: the value of the same segment is copied';
  }
  const [source, own] = [levelOf(from.segment), levelOf(target.segment)];
  const isBefore = source < own || (source === OF_PATIENT && own === OF_PATIENT);
  if (isBefore && from.segment !== 'EVN') return undefined;
  return `${from.segment} does not precede ${target.segment} as a part of the same patient and order`;
}
