/** The Observations and DiagnosticReports of a result message, and the Observations of an admission. */
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { hasConcept } from '../mapping/datatypes/cwe.ts';
import { fieldText } from '../mapping/datatypes/text.ts';
import { reportKey, report as diagnosticReport, type ReportSource } from '../segments/obr.ts';
import { TEXT_TYPES, valueType } from '../segments/obx-value.ts';
import { textOfKey, type SentKey } from '../results/result-key.ts';
import { observation, observationKey, observedAs } from '../segments/obx.ts';
import { orderNumbers, type OrderNumbers } from '../segments/orc.ts';
import { groupsOf } from './segment-groups.ts';
import type { Statement } from './statement.ts';
import { misplaced, missing, type Report } from './structure-findings.ts';

/**
 * Segments after OBR belong to it, an ORC to the OBR after it.
 *
 * @param hasPatientResults OBX before the first OBR are results of the patient without an order; else they are misplaced
 */
export function results(members: readonly Segment[], hasPatientResults: boolean, report: Report): Statement[] {
  const groups = groupsOf(members, ['OBR']);
  const statements: Statement[] = [];
  const isObx = ({ id }: Segment) => id === 'OBX';
  if (!groups.some(({ head, members: own }) => head !== undefined || (hasPatientResults && own.some(isObx)))) {
    report(missing('OBR^1', 'a result message needs an OBR segment'));
  }

  let orc: Segment | undefined;
  for (const { head: obr, members: following } of groups) {
    if (obr === undefined && hasPatientResults) {
      statements.push(...admission(following, report));
    } else if (obr === undefined) {
      for (const segment of following) if (segment.id === 'OBX') report(misplaced(segment, 'an OBR'));
    } else {
      const numbers = orderNumbers(obr, orc);
      if (!hasConcept(obr, 4)) report(missing(locate(obr, 4), 'OBR-4 (universal service identifier) is required'));
      const observations = observationsOf(following, obr, numbers, report);
      const firstObx = following.findIndex(({ id }) => id === 'OBX');
      const notes = following.filter(({ id }, at) => id === 'NTE' && (firstObx < 0 || at < firstObx));
      const specimens = following.filter(({ id }) => id === 'SPM');
      const obx = following.filter(({ id }) => id === 'OBX');
      const source = { obr, orc, notes, specimens, obx };
      statements.push(...observations, reportOf(source, reportKey(obr, numbers), observations));
    }
    // An ORC among what follows is the next OBR's.
    orc = following.findLast(({ id }) => id === 'ORC');
  }
  return statements;
}

/** @param observations of the group: the report's results */
function reportOf(source: ReportSource, sent: SentKey, observations: readonly Statement[]): Statement {
  const { obr } = source;
  return {
    type: 'DiagnosticReport',
    key: textOfKey(sent),
    // Of a report with results those say what is corrected.
    result: { sent, value: () => '', isCorrection: observations.length === 0 && isCorrection(fieldText(obr, 25)) },
    segment: source.obr,
    subject: 'subject',
    contributions: (_draft, chart, context) => {
      const drafts = observations.map(({ segment }) => chart.resultOf(segment)).filter((draft) => draft !== undefined);
      const references = new Set(drafts.map(({ id }) => `Observation/${id}`));
      return diagnosticReport(source, [...references], context);
    },
  };
}

/** OBX of an admission, or of a patient: measured without an order. */
export function admission(members: readonly Segment[], report: Report): Statement[] {
  return observationsOf(members, undefined, { placer: undefined, filler: undefined }, report);
}

/** A result that corrects one that was sent before: corrected, wrong, deleted (table 0085; table 0123 has C). */
const isCorrection = (status: string | undefined): boolean => ['C', 'W', 'D'].includes(status?.toUpperCase() ?? '');

interface ObservationGroup {
  readonly sent: SentKey;
  readonly obx: [Segment, ...Segment[]];
  readonly specimen: Segment | undefined;
  readonly notes: Segment[];
}

/**
 * One Observation for each OBX; but lines of one text (TX, FT with the same OBX-3 and OBX-4, one after the other) are
 * one, and a repetition of another type is another: its key counts.
 */
function observationsOf(
  segments: readonly Segment[],
  obr: Segment | undefined,
  numbers: OrderNumbers,
  report: Report,
): Statement[] {
  const groups: ObservationGroup[] = [];
  const specimens = segments.filter(({ id }) => id === 'SPM');
  let base = '';
  let isBehindObx = false;
  for (const segment of segments) {
    const last = groups.at(-1);
    if (segment.id === 'NTE' && isBehindObx) last?.notes.push(segment);
    if (segment.id !== 'NTE') isBehindObx = segment.id === 'OBX';
    if (segment.id !== 'OBX') continue;

    if (!hasConcept(segment, 3)) report(missing(locate(segment, 3), 'OBX-3 (observation identifier) is required'));
    const sent = observationKey(segment, obr, numbers);
    const key = JSON.stringify([sent.what, sent.time]);
    const isLine = last !== undefined && key === base && last.notes.length === 0;
    if (isLine && [segment, last.obx[0]].every((line) => TEXT_TYPES.has(valueType(line) ?? ''))) {
      last.obx.push(segment);
      continue;
    }
    base = key;
    const specimen = specimens.length === 1 ? specimens[0] : specimens.findLast((spm) => spm.index < segment.index);
    groups.push({ sent, obx: [segment], specimen, notes: [] });
  }
  return groups.map(({ sent, ...source }) => ({
    type: 'Observation',
    key: textOfKey(sent),
    result: {
      sent,
      value: (context) => observedAs(source.obx, context),
      isCorrection: isCorrection(fieldText(source.obx.at(-1) ?? source.obx[0], 11) ?? (obr && fieldText(obr, 25))),
    },
    segment: source.obx[0],
    subject: 'subject',
    contributions: (_draft, _chart, context) => observation({ ...source, obr }, context),
  }));
}
