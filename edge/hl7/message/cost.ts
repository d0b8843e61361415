/**
 * The size limits of a message (edge/docs/behaviour.md, Limits): counted in its segments, before it is looked up or locked.
 * They are far above any real message. A larger message is rejected for good, and delays no other.
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ErrorReason } from '../../../shared/hl7/error-reason.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { countOf, locate, repetitions } from '../../../shared/hl7/value.ts';
import { TABLE_TYPES, TEXT_TYPES, valueType } from '../mapping/segments/obx-value.ts';
import { isKnown } from '../mapping/segments/registry.ts';

/** Also of MRG. Each is a patient to look up, with a lock for each identifier. */
const MAX_PIDS = 100;
/** Limits for one field of patient identifiers, and for all of a message: each identifier is a lock. */
const MAX_REPETITIONS = 100;
const MAX_NUMBERS = 1000;
/** The limit of a FHIR client's write of one patient. */
const MAX_LIST = 1000;
/** PostgreSQL needs 0.4 ms of CPU for each, so that the largest message needs less than a second. */
const MAX_RESOURCES = 2000;

/** In all fields of a message, beyond the first of each. The database stores them in one or two seconds. */
const MAX_FURTHER_REPETITIONS = 20_000;
/** In all texts and tables: a waveform of 12 leads has 6,000 samples a second. */
const MAX_LINES = 500_000;
/** Characters that its resources repeat: order, specimen and visit of each result, code of each value. */
const MAX_REPEATED = 16 * 1024 * 1024;
/** Each becomes a result, in memory beside 10 MiB of documents. A scanned paper record has some hundred pages. */
const MAX_DOCUMENTS = 1000;

/** Fields of patient identifiers, by segment (HL7 v2.5.1 §3.4.2, §3.4.9). */
const NUMBERS: ReadonlyMap<string, readonly number[]> = new Map([
  ['PID', [2, 3, 4]],
  ['MRG', [1, 4]],
]);
/** Names, addresses and telephones of PID. */
const LISTS = [[5, 9], [11], [13, 14]];

/** @returns an error for each limit that the message exceeds, before it is known what it is about */
export function excessOf(segments: readonly Segment[]): AckError[] {
  // In this order: each limits the work of the next one.
  for (const excess of [documentExcess, repetitionExcess, patientExcess, repeatedExcess]) {
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

/** Each document that was cut out counts, also the same one again. A token begins and ends with U+0001. */
function documentExcess(segments: readonly Segment[]): AckError[] {
  if ((segments[0]?.source.documents.size ?? 0) === 0) return [];
  let documents = 0;
  for (const segment of segments) {
    if (segment.id !== 'OBX') continue;
    documents += countOf(segment.raw, '\u0001') / 2;
    if (documents <= MAX_DOCUMENTS) continue;
    const message = `A message may have ${MAX_DOCUMENTS} documents of 4 kB or more. Send several messages.`;
    return [refused(locate(segment, 5), message, 'too-many-documents')];
  }
  return [];
}

/** Empty repetitions are only separators. */
const count = (segment: Segment, field: number): number =>
  repetitions(segment, field).filter(({ raw }) => raw !== '').length;

function patientExcess(segments: readonly Segment[]): AckError[] {
  const pids = segments.filter(({ id }) => id === 'PID');
  const mrgs = segments.filter(({ id }) => id === 'MRG');
  const [beyond] = [pids, mrgs].flatMap((all) => all.slice(MAX_PIDS, MAX_PIDS + 1));
  if (beyond !== undefined) {
    const message = `A message may have ${MAX_PIDS} ${beyond.id} segments. Send several messages.`;
    return [refused(locate(beyond), message, beyond.id === 'PID' ? 'too-many-pids' : 'too-many-mrgs')];
  }
  const found: AckError[] = [];
  let numbers = 0;
  for (const segment of segments) {
    for (const field of NUMBERS.get(segment.id) ?? []) {
      const repeated = count(segment, field);
      numbers += repeated;
      if (repeated <= MAX_REPETITIONS) continue;
      const message = `${segment.id}-${field} may have ${MAX_REPETITIONS} repetitions.`;
      found.push(refused(locate(segment, field), message, 'too-many-repetitions'));
    }
  }
  for (const pid of pids) {
    for (const fields of LISTS) {
      const [first = 0] = fields;
      if (fields.reduce((sum, field) => sum + count(pid, field), 0) <= MAX_LIST) continue;
      const message = `PID-${fields.join(' and ')} may have ${MAX_LIST} repetitions.`;
      found.push(refused(locate(pid, first), message, 'too-many-repetitions'));
    }
  }
  if (found.length > 0 || numbers <= MAX_NUMBERS) return found;
  return [
    refused(
      'MSH^1',
      `A message may have ${MAX_NUMBERS} patient identifiers. Send several messages.`,
      'too-many-numbers',
    ),
  ];
}

/** The field whose repetitions, and in a table components, are lines of one value. */
function linesField(segment: Segment): number | undefined {
  if (segment.id === 'NTE') return 3;
  const type = segment.id === 'OBX' ? (valueType(segment) ?? '') : '';
  return TEXT_TYPES.has(type) || TABLE_TYPES.has(type) ? 5 : undefined;
}

/** Counts further repetitions, and the lines and samples of a text or table. */
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
    const message = `A message may have ${MAX_FURTHER_REPETITIONS} repetitions of fields beyond the first, beside lines of text and rows of numbers. Send several messages.`;
    return [refused(locate(repeated, mostRepeatedField(repeated)), message, 'too-many-repetitions')];
  }
  const long = worstOf('lines', MAX_LINES);
  if (long === undefined) return [];
  const message = `A message may have ${MAX_LINES} lines of text (TX, FT, NTE) and numbers of tables (NA, MA) in all. Send several messages.`;
  return [refused(locate(long, linesField(long) ?? 0), message, 'too-many-repetitions')];
}

function mostRepeatedField(segment: Segment): number {
  const lines = linesField(segment);
  const times = segment
    .fields()
    .map((raw, field) => (field === lines ? 0 : countOf(raw, segment.source.delimiters.repetition)));
  return times.reduce((most, each, field) => (each > (times[most] ?? 0) ? field : most), 0);
}

/** The fields of an OBX that distinguish two results. */
const KEY_FIELDS = [3, 4, 14, 21];

/** Checks whether a segment continues the text of the one before it: both become one resource. */
const isNextLine = (segment: Segment, before: Segment | undefined): boolean =>
  before?.id === 'OBX' &&
  segment.id === 'OBX' &&
  [segment, before].every((each) => TEXT_TYPES.has(valueType(each) ?? '')) &&
  KEY_FIELDS.every((field) => segment.field(field) === before.field(field));

/** Segments whose data each resource of their patient or order repeats. PID repeats the account (PID-18). */
const REPEATED = new Set(['MSH', 'PID', 'PV1', 'ORC', 'OBR', 'SPM']);
/** Segments whose NTE is repeated, too. */
const NOTED = new Set(['PID', 'SPM']);
/** The memory of an Annotation beside its text, in characters. */
const NOTE_OBJECTS = 100;
/** Segments that become a resource. */
const RESOURCES = new Set(['OBX', 'OBR', 'AL1', 'IAM', 'DG1', 'PR1', 'PRB', 'TXA']);

interface Head {
  readonly segment: Segment;
  length: number;
  /** Resources of its order before it. */
  readonly resourcesBefore: number;
}

/**
 * A result repeats data of its order, its specimen, its visit and its sender. The values of an OBX repeat its code. A long
 * field before many of them would become gigabytes.
 */
function repeatedExcess(segments: readonly Segment[]): AckError[] {
  const lengthOf = ({ start, end }: Segment): number => end - start;
  const repeated = new Map<Segment, number>();
  const add = (segment: Segment, characters: number): void =>
    void repeated.set(segment, (repeated.get(segment) ?? 0) + characters);
  const heads = new Map<string, Head>();
  let resources = 0;
  let specimens: Head[] = [];
  let behind = '';
  // The only specimen of an order is also that of the results before it.
  const endOrder = (): void => {
    const [only, ...more] = specimens;
    if (only !== undefined && more.length === 0) add(only.segment, only.length * only.resourcesBefore);
    resources = 0;
    specimens = [];
  };
  for (const [at, segment] of segments.entries()) {
    const { id } = segment;
    if (id === 'OBR') endOrder();
    if (id !== 'NTE') behind = id === 'PD1' ? 'PID' : id;
    if (REPEATED.has(id)) {
      const length = id === 'PID' ? (segment.field(18)?.length ?? 0) : lengthOf(segment);
      const head = { segment, length, resourcesBefore: resources };
      heads.set(id, head);
      if (id === 'SPM') specimens.push(head);
    }
    // The notes of a patient or a specimen are repeated with it.
    const noted = id === 'NTE' && NOTED.has(behind) ? heads.get(behind) : undefined;
    if (noted !== undefined) noted.length += lengthOf(segment) + NOTE_OBJECTS;
    if (!RESOURCES.has(id) || isNextLine(segment, segments[at - 1])) continue;
    resources += 1;
    for (const head of heads.values()) add(head.segment, head.length);
    if (segment.id !== 'OBX' || linesField(segment) !== undefined) continue;
    const value = segment.field(5) ?? '';
    add(segment, countOf(value, segment.source.delimiters.repetition) * (lengthOf(segment) - value.length));
  }
  endOrder();
  if (repeated.values().reduce((sum, characters) => sum + characters, 0) <= MAX_REPEATED) return [];
  const [[worst] = [undefined]] = [...repeated].toSorted(([, a], [, b]) => b - a);
  const message = `The results repeat more than ${MAX_REPEATED} characters of their order, specimen, visit, header and code. Shorten these, or send several messages.`;
  return [refused(worst === undefined ? 'MSH^1' : locate(worst), message, 'too-much-repeated')];
}

/** @param resources that the message would become */
export function resourceExcess(resources: number): AckError[] {
  if (resources <= MAX_RESOURCES) return [];
  return [
    refused(
      'MSH^1',
      `The message would become more than ${MAX_RESOURCES} resources. Send several messages.`,
      'too-many-resources',
    ),
  ];
}
