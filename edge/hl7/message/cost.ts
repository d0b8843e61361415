/**
 * How much one message may be about (edge/docs/behaviour.md, Limits): counted in its segments, before anything of it is looked up
 * or held. Far above any real message; what exceeds it is refused for good, and holds up nobody else.
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ErrorReason } from '../../../shared/hl7/error-reason.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { countOf, locate, repetitions } from '../../../shared/hl7/value.ts';
import { TABLE_TYPES, TEXT_TYPES, valueType } from '../mapping/segments/obx-value.ts';
import { isKnown } from '../mapping/segments/registry.ts';

/** And of MRG: each is a chart that is looked for, and held by all of its numbers. */
const MAX_PIDS = 100;
/** Of one field that says which patient is meant, and of all of them in a message: each number is held by itself. */
const MAX_REPETITIONS = 100;
const MAX_NUMBERS = 1000;
/** What a FHIR client may write of one patient. */
const MAX_LIST = 1000;
/** What the database stores in some seconds. */
const MAX_RESOURCES = 5000;

/** Of all fields of a message, beyond the first of each: what they make is stored in a second or two. */
const MAX_FURTHER_REPETITIONS = 20_000;
/** Of all texts and tables: a waveform of 12 leads has 6,000 samples a second. */
const MAX_LINES = 500_000;
/** Characters of what its resources repeat: the order, the specimen and the visit of each result, the code of each value. */
const MAX_REPEATED = 16 * 1024 * 1024;

/** Patient identifiers (HL7 v2.5.1 §3.4.2, §3.4.9); before them the segment. */
const NUMBERS: ReadonlyMap<string, readonly number[]> = new Map([
  ['PID', [2, 3, 4]],
  ['MRG', [1, 4]],
]);
/** Names, addresses and telephones of PID. */
const LISTS = [[5, 9], [11], [13, 14]];

/** @returns what is too much of a message before it is known what it stands for; nothing for every real one */
export function excessOf(segments: readonly Segment[]): AckError[] {
  // In this order: each bounds what the next one looks at.
  for (const excess of [repetitionExcess, patientExcess, repeatedExcess]) {
    const found = excess(segments);
    if (found.length > 0) return found;
  }
  return [];
}

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

/** @returns what is too much of patients */
function patientExcess(segments: readonly Segment[]): AckError[] {
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

/** The field whose repetitions, and in a table components, are lines of one value. */
function linesField(segment: Segment): number | undefined {
  if (segment.id === 'NTE') return 3;
  const type = segment.id === 'OBX' ? (valueType(segment) ?? '') : '';
  return TEXT_TYPES.has(type) || TABLE_TYPES.has(type) ? 5 : undefined;
}

/** Of a segment: what its fields are repeated, and the lines and samples of the one that is a text or a table. */
function repetitionsOf(segment: Segment): { readonly further: number; readonly lines: number } {
  const { repetition, component } = segment.source.delimiters;
  const field = linesField(segment);
  const text = field === undefined ? '' : (segment.field(field) ?? '');
  const rows = countOf(text, repetition);
  const samples = field === 5 && TABLE_TYPES.has(valueType(segment) ?? '') ? countOf(text, component) : 0;
  return { further: countOf(segment.raw, repetition) - rows, lines: rows + samples };
}

/** Empty repetitions count: each of them is read. */
function repetitionExcess(segments: readonly Segment[]): AckError[] {
  const counted = segments
    .filter(({ id, isDeclaring }) => isKnown(id) && !isDeclaring)
    .map((segment) => ({ segment, ...repetitionsOf(segment) }));
  const worstOf = (of: 'further' | 'lines', most: number): Segment | undefined =>
    counted.reduce((sum, each) => sum + each[of], 0) <= most
      ? undefined
      : counted.reduce((a, b) => (b[of] > a[of] ? b : a)).segment;
  const repeated = worstOf('further', MAX_FURTHER_REPETITIONS);
  if (repeated !== undefined) {
    const message = `a message may have ${MAX_FURTHER_REPETITIONS} further repetitions of fields in all, beside lines of text and rows of numbers: send several`;
    return [refused(locate(repeated, mostRepeatedField(repeated)), message, 'too-many-repetitions')];
  }
  const long = worstOf('lines', MAX_LINES);
  if (long === undefined) return [];
  const message = `a message may have ${MAX_LINES} lines of text (TX, FT, NTE) and numbers of tables (NA, MA) in all: send several`;
  return [refused(locate(long, linesField(long) ?? 0), message, 'too-many-repetitions')];
}

function mostRepeatedField(segment: Segment): number {
  const lines = linesField(segment);
  const times = segment
    .fields()
    .map((raw, field) => (field === lines ? 0 : countOf(raw, segment.source.delimiters.repetition)));
  return times.reduce((most, each, field) => (each > (times[most] ?? 0) ? field : most), 0);
}

/** What tells two results apart, as far as an OBX says it. */
const KEY_FIELDS = [3, 4, 14, 21];

/** Whether a segment goes on with the text of the one before it: both make one resource. */
const isNextLine = (segment: Segment, before: Segment | undefined): boolean =>
  before?.id === 'OBX' &&
  segment.id === 'OBX' &&
  [segment, before].every((each) => TEXT_TYPES.has(valueType(each) ?? '')) &&
  KEY_FIELDS.every((field) => segment.field(field) === before.field(field));

/** Segments of which every resource behind them repeats something; of PID it is the account (PID-18). */
const REPEATED = new Set(['MSH', 'PID', 'PV1', 'ORC', 'OBR', 'SPM']);
/** Segments that become a resource. */
const RESOURCES = new Set(['OBX', 'OBR', 'AL1', 'IAM', 'DG1', 'PR1', 'TXA']);

/**
 * A result repeats what is said once of its order, its specimen, its visit and its sender; the values of an OBX repeat its
 * code. A long field before many of them would make gigabytes of a message.
 */
function repeatedExcess(segments: readonly Segment[]): AckError[] {
  const lengthOf = ({ start, end }: Segment): number => end - start;
  const repeated = new Map<Segment, number>();
  const add = (segment: Segment, characters: number): void =>
    void repeated.set(segment, (repeated.get(segment) ?? 0) + characters);
  const heads = new Map<string, Segment>();
  for (const [at, segment] of segments.entries()) {
    if (REPEATED.has(segment.id)) heads.set(segment.id, segment);
    if (segment.id === 'OBR') heads.delete('SPM');
    if (!RESOURCES.has(segment.id) || isNextLine(segment, segments[at - 1])) continue;
    for (const [id, head] of heads) add(head, id === 'PID' ? (head.field(18)?.length ?? 0) : lengthOf(head));
    if (segment.id !== 'OBX' || linesField(segment) !== undefined) continue;
    const value = segment.field(5) ?? '';
    add(segment, countOf(value, segment.source.delimiters.repetition) * (lengthOf(segment) - value.length));
  }
  if (repeated.values().reduce((sum, characters) => sum + characters, 0) <= MAX_REPEATED) return [];
  const [[worst] = [undefined]] = [...repeated].toSorted(([, a], [, b]) => b - a);
  const message = `what the results of a message repeat of their order, specimen, visit, header and code may have ${MAX_REPEATED} characters in all: shorten it, or send several`;
  return [refused(worst === undefined ? 'MSH^1' : locate(worst), message, 'too-much-repeated')];
}

/** @param resources how many the message stands for */
export function resourceExcess(resources: number): AckError[] {
  if (resources <= MAX_RESOURCES) return [];
  return [refused('MSH^1', `the message stands for more than ${MAX_RESOURCES} resources`, 'too-many-resources')];
}
