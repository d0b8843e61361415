/** The Observations and DiagnosticReports of a result message, and the Observations of an admission. */
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { isJsonObject } from '../../../shared/json.ts';
import type { PatientRecord } from '../mapping/patient-record.ts';
import type { MapContext } from '../mapping/context.ts';
import { hasConcept } from '../mapping/datatypes/cwe.ts';
import { entityIdentifier } from '../mapping/datatypes/hd.ts';
import { fieldText, isValued } from '../mapping/datatypes/text.ts';
import type { Draft } from '../mapping/drafts.ts';
import { fixed, type Contribution } from '../precedence/contribution.ts';
import { reportKey, report as diagnosticReport, type ReportSource } from '../mapping/segments/obr.ts';
import { linesIn, type ObservationLines } from '../mapping/segments/obx-lines.ts';
import { TEXT_TYPES, valueType } from '../mapping/segments/obx-value.ts';
import { textOfKey } from '../results/result-key.ts';
import type { SentKey } from '../mapping/statement.ts';
import { observation, observationKey, observedAs } from '../mapping/segments/obx.ts';
import { orderNumbers, type OrderNumbers } from '../mapping/segments/orc.ts';
import {
  parentNumbers,
  parentsAmong,
  parentText,
  type Order,
  type Parents,
} from '../mapping/segments/parent-result.ts';
import { basedOn } from '../mapping/segments/service-request.ts';
import { withContained, type SpecimenSource } from '../mapping/segments/spm.ts';
import { instantMs, type Timing } from '../precedence/clock.ts';
import { timeOfId } from '../precedence/precedence.ts';
import { standingOfReport, standingOfResult } from '../precedence/standing.ts';
import { groupsOf, type SegmentGroup } from './segment-groups.ts';
import type { Statement } from '../mapping/statement.ts';
import { misplaced, missing, notedSegment, reportOtherNotes, type Report } from './structure-findings.ts';

/**
 * Segments after an OBR belong to it, an ORC to the OBR after it.
 *
 * @param recorded EVN-2
 * @param hasPatientResults OBX before the first OBR are results of the patient without an order; else they are misplaced
 */
export function results(
  members: readonly Segment[],
  hasPatientResults: boolean,
  recorded: string | undefined,
  report: Report,
): Statement[] {
  const groups = groupsOf(members, ['OBR']);
  const statements: Statement[] = [];
  const ofPatient = patientNotes(members);
  const isObx = ({ id }: Segment) => id === 'OBX';
  if (!groups.some(({ head, members: own }) => head !== undefined || (hasPatientResults && own.some(isObx)))) {
    report(missing('OBR^1', 'A result message needs an OBR segment.'));
  }

  const orders = ordersOf(groups);
  const parents = parentsAmong([...orders.values()]);
  for (const { head: obr, members: following } of groups) {
    const order = obr && orders.get(obr);
    if (order === undefined && hasPatientResults) {
      statements.push(...patientResults(following, ofPatient, recorded, report));
    } else if (order === undefined) {
      for (const segment of following) if (segment.id === 'OBX') report(misplaced(segment, 'an OBR'));
      reportOtherNotes(following, ofPatient, report);
    } else {
      if (!hasConcept(order.obr, 4))
        report(missing(locate(order.obr, 4), 'OBR-4 (universal service identifier) is required.'));
      const specimens = specimensIn(following);
      const observations = observationsOf(following, { order, parents, recorded: undefined, ofPatient }, report);
      // An ORC, and the notes after it, belong to the next order.
      const others = following.findIndex(({ id }) => id === 'OBX' || id === 'ORC');
      const ofSpecimens = new Set(specimens.flatMap(({ notes }) => notes));
      const own = following.filter(
        (segment, at) => segment.id === 'NTE' && (others < 0 || at < others) && !ofSpecimens.has(segment),
      );
      reportOtherNotes(following, [...own, ...ofSpecimens], report);
      const source = { ...order, notes: [...ofPatient, ...own], specimens };
      statements.push(...observations, reportOf(source, reportKey(order.obr, order.numbers), observations, parents));
    }
  }
  return statements;
}

/** NTE directly after PID or PD1: notes about the patient, which this message's results keep. */
function patientNotes(members: readonly Segment[]): Segment[] {
  const end = members.findIndex(({ id }) => id !== 'NTE' && id !== 'PD1');
  return members.slice(0, end < 0 ? members.length : end).filter(({ id }) => id === 'NTE');
}

/** Each SPM with the NTE directly after it. */
function specimensIn(members: readonly Segment[]): SpecimenSource[] {
  const specimens: { spm: Segment; notes: Segment[] }[] = [];
  let isBehindSpecimen = false;
  for (const segment of members) {
    if (segment.id === 'SPM') specimens.push({ spm: segment, notes: [] });
    if (segment.id !== 'NTE') isBehindSpecimen = segment.id === 'SPM';
    else if (isBehindSpecimen) specimens.at(-1)?.notes.push(segment);
  }
  return specimens;
}

/** All orders of the message's patient, by their OBR: a result may have its parent under another order. */
function ordersOf(groups: readonly SegmentGroup[]): ReadonlyMap<Segment, Order> {
  const orders = new Map<Segment, Order>();
  for (const [at, { head: obr, members }] of groups.entries()) {
    if (obr === undefined) continue;
    // An ORC after an OBR belongs to the next OBR.
    const orc = groups[at - 1]?.members.findLast(({ id }) => id === 'ORC');
    orders.set(obr, { obr, orc, numbers: orderNumbers(obr, orc), obx: members.filter(({ id }) => id === 'OBX') });
  }
  return orders;
}

/** @param observations the report's results */
function reportOf(
  source: ReportSource,
  sent: SentKey,
  observations: readonly Statement[],
  parents: Parents,
): Statement {
  const { obr, orc } = source;
  return {
    type: 'DiagnosticReport',
    key: textOfKey(sent),
    // A report with results is corrected by its results.
    result: {
      sent,
      value: () => '',
      isText: false,
      isCorrection: observations.length === 0 && isCorrection(fieldText(obr, 25)),
      obr,
    },
    segment: source.obr,
    timing: timingOf(source, undefined, undefined),
    subject: 'subject',
    contributions: (record, context, draft) => {
      const referenceTo = (segment: Segment) => {
        const found = record.resultOf(segment);
        return found && `Observation/${found.id}`;
      };
      const numbers = parentNumbers(obr, orc);
      const parent = parents.orderOf(numbers);
      const id = parent === undefined || parent.obr === obr ? undefined : record.resultOf(parent.obr)?.id;
      const said = withContained(diagnosticReport(source, referenceTo, context), draft.content);
      return [...said, ...partOf(numbers, id, context)];
    },
  };
}

/**
 * OBX of an admission, or of a patient: measured without an order.
 *
 * @param recorded EVN-2
 */
export const admission = (members: readonly Segment[], recorded: string | undefined, report: Report): Statement[] =>
  patientResults(members, [], recorded, report);

/** @param ofPatient notes that each of the results keeps */
function patientResults(
  members: readonly Segment[],
  ofPatient: readonly Segment[],
  recorded: string | undefined,
  report: Report,
): Statement[] {
  const ofSpecimens = specimensIn(members).flatMap(({ notes }) => notes);
  reportOtherNotes(members, [...ofPatient, ...ofSpecimens], report);
  return observationsOf(members, { order: undefined, parents: NO_PARENTS, recorded, ofPatient }, report);
}

/** OBR-22 is the time of the report or of its status change. OBX-19 and TXA-6 stay the same in a correction. */
function timingOf(
  order: Pick<Order, 'obr' | 'orc'> | undefined,
  obx: Segment | undefined,
  recorded: string | undefined,
): Timing {
  const report = standingOfReport(order && fieldText(order.obr, 25), order?.orc && fieldText(order.orc, 5));
  const standing = obx === undefined ? report : standingOfResult(fieldText(obx, 11), report);
  return { times: [order === undefined ? recorded : fieldText(order.obr, 22)], standing };
}

const NO_PARENTS = parentsAmong([]);

/** The report of the parent's order: by its id if it is in the same message, else by its number. */
function partOf(numbers: OrderNumbers, id: string | undefined, context: MapContext): Contribution[] {
  const identifier =
    entityIdentifier(numbers.filler, context, 'FILL') ?? entityIdentifier(numbers.placer, context, 'PLAC');
  if (identifier === undefined) return [];
  const reference = id === undefined ? {} : { reference: `DiagnosticReport/${id}` };
  return [
    fixed(`extension ${PART_OF}`, { valueReference: { ...reference, type: 'DiagnosticReport', identifier } }, 'OBR-29'),
  ];
}
const PART_OF = 'http://hl7.org/fhir/StructureDefinition/event-partOf';

/**
 * The parent's result of OBR-26, such as a susceptibility's isolate: by its id if it is in the same message, else by its
 * display. A stored reference by id stays if the message has the same display.
 */
function derivedFrom(child: Order, parents: Parents, { content }: Draft, record: PatientRecord): Contribution[] {
  const display = parentText(child.obr);
  if (display === undefined) return [];
  const parent = parents.obxOf(child);
  const id = parent === undefined ? undefined : record.resultOf(parent)?.id;
  const stored = [content['derivedFrom'] ?? []].flat();
  if (id === undefined && stored.some((item) => isJsonObject(item) && item['display'] === display)) return [];
  const reference = id === undefined ? {} : { reference: `Observation/${id}` };
  return [fixed('derivedFrom', [{ ...reference, type: 'Observation', display }], 'OBR-26')];
}

/** The result corrects an earlier one: corrected, wrong, deleted (table 0085; table 0123 has C). */
const isCorrection = (status: string | undefined): boolean => ['C', 'W', 'D'].includes(status?.toUpperCase() ?? '');

/** A result of an admission without OBX-14 is dated by EVN-2: several weights are then in order. */
function issuedOf(obx: Segment, recorded: string | undefined, { zone, messageId }: MapContext): Contribution[] {
  if (isValued(obx, 14)) return [];
  const ms = instantMs(recorded, zone, timeOfId(messageId));
  return ms === undefined ? [] : [fixed('issued', new Date(ms).toISOString(), 'EVN-2')];
}

interface OrderOfResults {
  readonly order: Order | undefined;
  readonly parents: Parents;
  /** EVN-2, for results without an order. */
  readonly recorded: string | undefined;
  /** NTE after PID. */
  readonly ofPatient: readonly Segment[];
}

interface ObservationGroup extends ObservationLines {
  readonly specimen: SpecimenSource | undefined;
  readonly notes: Segment[];
}

/** One Observation for each OBX, or for the lines of one text. */
function observationsOf(
  segments: readonly Segment[],
  { order, parents, recorded, ofPatient }: OrderOfResults,
  report: Report,
): Statement[] {
  const { obr, orc } = order ?? { obr: undefined, orc: undefined };
  return groupsOfLines(segments, report).map(({ obx, sub, specimen, notes }) => {
    const [first] = obx;
    const last = obx.at(-1) ?? first;
    const sent = observationKey(first, sub, order, recorded);
    return {
      type: 'Observation',
      key: textOfKey(sent),
      result: {
        sent,
        value: (context) => observedAs(obx, context),
        isText: obx.some((line) => TEXT_TYPES.has(valueType(line) ?? '')),
        isCorrection: isCorrection(fieldText(last, 11) ?? (obr && fieldText(obr, 25))),
        obr,
      },
      segment: first,
      timing: timingOf(order, last, recorded),
      subject: 'subject',
      contributions: (record, context, draft) => [
        ...withContained(observation({ obx, obr, specimen, notes: [...ofPatient, ...notes] }, context), draft.content),
        ...(obr === undefined ? issuedOf(first, recorded, context) : basedOn(obr, orc, context)),
        ...(order === undefined ? [] : derivedFrom(order, parents, draft, record)),
      ],
    };
  });
}

/** The OBX of each result, with its specimen and the notes behind it. */
function groupsOfLines(segments: readonly Segment[], report: Report): ObservationGroup[] {
  const groups: ObservationGroup[] = [];
  const specimens = specimensIn(segments);
  const sourceOf = new Map(specimens.map((specimen) => [specimen.spm, specimen]));
  let latest: SpecimenSource | undefined;
  let run: Segment[] = [];
  let behind = '';
  const endRun = (): void => {
    const specimen = specimens.length === 1 ? specimens[0] : latest;
    for (const lines of linesIn(run)) groups.push({ ...lines, specimen, notes: [] });
    run = [];
  };
  for (const segment of segments) {
    if (segment.id === 'OBX') {
      if (!hasConcept(segment, 3)) report(missing(locate(segment, 3), 'OBX-3 (observation identifier) is required.'));
      run.push(segment);
    } else endRun();
    if (segment.id === 'NTE' && behind === 'OBX') groups.at(-1)?.notes.push(segment);
    behind = notedSegment(segment, behind);
    if (segment.id === 'SPM') latest = sourceOf.get(segment);
  }
  endRun();
  return groups;
}
