/**
 * How much one message may be about (edge/README.md, Limits): counted in its segments, before anything of it is looked up
 * or held. Far above any real message; what exceeds it is refused for good, and holds up nobody else.
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ErrorReason } from '../../../shared/hl7/error-reason.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate, repetitions } from '../../../shared/hl7/value.ts';

/** And of MRG: each is a chart that is looked for, and held by all of its numbers. */
const MAX_PIDS = 100;
/** Of one field that says which patient is meant, and of all of them in a message: each number is held by itself. */
const MAX_REPETITIONS = 100;
const MAX_NUMBERS = 1000;
/** What a FHIR client may write of one patient. */
const MAX_LIST = 1000;
/** What the database stores in some seconds. */
const MAX_RESOURCES = 5000;
/** `hl7_known` finds no more than one beyond. */
const MAX_EQUAL_RESULTS = 5000;

/** Patient identifiers (HL7 v2.5.1 §3.4.2, §3.4.9); before them the segment. */
const NUMBERS: ReadonlyMap<string, readonly number[]> = new Map([
  ['PID', [2, 3, 4]],
  ['MRG', [1, 4]],
]);
/** Names, addresses and telephones of PID. */
const LISTS = [[5, 9], [11], [13, 14]];

const refused = (at: string, message: string, reason: ErrorReason): AckError => ({
  code: '207',
  severity: 'E',
  at,
  message,
  reason,
});

/** Empty ones are no more than separators. */
const count = (segment: Segment, field: number): number =>
  repetitions(segment, field).filter(({ raw }) => raw !== '').length;

/** @returns what is too much of patients; nothing for every real message */
export function patientExcess(segments: readonly Segment[]): AckError[] {
  const pids = segments.filter(({ id }) => id === 'PID');
  const mrgs = segments.filter(({ id }) => id === 'MRG');
  const [beyond] = [pids, mrgs].flatMap((all) => all.slice(MAX_PIDS, MAX_PIDS + 1));
  if (beyond !== undefined) {
    const message = `a message may have ${MAX_PIDS} ${beyond.id} segments: send several`;
    return [refused(locate(beyond), message, beyond.id === 'PID' ? 'too-many-pids' : 'too-many-mrgs')];
  }
  const found: AckError[] = [];
  let numbers = 0;
  for (const segment of segments) {
    for (const field of NUMBERS.get(segment.id) ?? []) {
      const repeated = count(segment, field);
      numbers += repeated;
      if (repeated <= MAX_REPETITIONS) continue;
      const message = `${segment.id}-${field} may have ${MAX_REPETITIONS} repetitions`;
      found.push(refused(locate(segment, field), message, 'too-many-repetitions'));
    }
  }
  for (const pid of pids) {
    for (const fields of LISTS) {
      const [first = 0] = fields;
      if (fields.reduce((sum, field) => sum + count(pid, field), 0) <= MAX_LIST) continue;
      const message = `PID-${fields.join(' and ')} may have ${MAX_LIST} repetitions`;
      found.push(refused(locate(pid, first), message, 'too-many-repetitions'));
    }
  }
  if (found.length > 0 || numbers <= MAX_NUMBERS) return found;
  return [refused('MSH^1', `a message may have ${MAX_NUMBERS} numbers of patients: send several`, 'too-many-numbers')];
}

/** @param resources how many the message stands for */
export function resourceExcess(resources: number): AckError[] {
  if (resources <= MAX_RESOURCES) return [];
  return [refused('MSH^1', `the message stands for more than ${MAX_RESOURCES} resources`, 'too-many-resources')];
}

/** @param results how many are stored that nothing tells apart from the one that is sent */
export function equalResultsExcess(results: number, segment: Segment): AckError[] {
  if (results <= MAX_EQUAL_RESULTS) return [];
  const message = `more than ${MAX_EQUAL_RESULTS} stored results have the order number, code and time of this one`;
  return [refused(locate(segment), message, 'too-many-resources')];
}
