/** OBR, with the order numbers of its ORC, as DiagnosticReport (v2-to-FHIR `OBR[DiagnosticReport]`, `ORC[DiagnosticReport]`). */
import { ERROR_REASONS } from '../../../../shared/hl7/error-reason.ts';
import type { Segment } from '../../../../shared/hl7/message.ts';
import { locate, repetitions } from '../../../../shared/hl7/value.ts';
import type { Json, JsonObject } from '../../../../shared/json.ts';
import { note, type MapContext } from '../context.ts';
import { sizeOf } from '../datatypes/attachment.ts';
import { concept, textOfConcept } from '../datatypes/cwe.ts';
import { entityIdentifier } from '../datatypes/hd.ts';
import { inFunction, observer } from '../datatypes/party.ts';
import { fieldText, first, isValued } from '../datatypes/text.ts';
import { dateTime, instant, period } from '../datatypes/time.ts';
import { contributionsOf, each, type FieldMap } from '../field-map.ts';
import { byDefault, fixed, type Contribution } from '../../precedence/contribution.ts';
import { observedKey } from '../key.ts';
import type { SentKey } from '../statement.ts';
import { REFUSED_REPORT_STATUS, REPORT_STATUS } from '../tables/status.ts';
import { annotation } from './nte.ts';
import { isInError, noteUnknownStatus } from './obx-status.ts';
import { attachmentsOf } from './obx-value.ts';
import { orderNumber, orderNumberField, orderWithoutNumber, type OrderNumbers } from './orc.ts';
import type { GroupSegment } from './rule.ts';
import { basedOn, reason } from './service-request.ts';
import { categoriesOfReport } from './service-section.ts';
import { specimensOf, type SpecimenSource } from './spm.ts';

/** R5's DiagnosticReport.note in R4. */
const NOTE = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-DiagnosticReport.note';
const PARTICIPATION = 'http://terminology.hl7.org/CodeSystem/v3-ParticipationType';

/** Several OBR may report one order number. The reported service and the collection time distinguish them. */
export function reportKey(obr: Segment, numbers: OrderNumbers): SentKey {
  const time = fieldText(obr, 7);
  const more = ['', '', '', ...orderWithoutNumber(obr, numbers, time)];
  return { what: observedKey(first(obr, 4), more), ...numbers, parent: undefined, time };
}

function effective(segment: Segment, context: MapContext): JsonObject | undefined {
  const start = dateTime(first(segment, 7), context);
  const end = dateTime(first(segment, 8), context);
  // One end of a period that has both would be another period.
  if (start === undefined && isValued(segment, 7)) return undefined;
  if (end === undefined) return start === undefined ? undefined : { effectiveDateTime: start };
  const effectivePeriod = period(start, end, context, locate(segment, 8));
  return effectivePeriod === undefined ? undefined : { effectivePeriod };
}

function observers(segment: Segment): Json[] {
  return [
    ...repetitions(segment, 34)
      .map(observer)
      .map((party) => party && inFunction(party, PARTICIPATION, 'SPRF')),
    ...repetitions(segment, 35)
      .map(observer)
      .map((party) => party && inFunction(party, PARTICIPATION, 'TRANS')),
  ].filter((found) => found !== undefined);
}

const FIELDS: readonly FieldMap[] = [
  {
    field: 4,
    rows: '10',
    element: 'code',
    map: (segment, context) => concept(segment, 4, context),
  },
  { field: 7, rows: '13, 14', element: 'effective[x]', map: effective },
  {
    field: 8,
    rows: '15',
    element: 'effective[x]',
    when: (segment) => !isValued(segment, 7) && isValued(segment, 8),
    map: effective,
  },
  {
    field: 22,
    rows: '29',
    element: 'issued',
    map: (segment, context) => instant(first(segment, 22), context),
  },
  {
    field: 24,
    rows: '31',
    element: 'category',
    map: categoriesOfReport,
  },
  {
    field: 32,
    rows: '40',
    element: 'resultsInterpreter',
    map: each(32, observer),
  },
  { field: 34, rows: '42, 43, 44, 45', element: 'performer', map: observers },
  {
    field: 35,
    rows: '46, 47, 48, 49',
    element: 'performer',
    when: (segment) => !isValued(segment, 34),
    map: observers,
  },
];

export const OBR: GroupSegment = {
  name: 'OBR',
  followsPid: true,
  source: 'OBR[DiagnosticReport]',
  fields: FIELDS,
};

/**
 * Row 32. Row 33 makes a missing OBR-25 an error. Senders of older versions omit it, so it is a warning here. The report then
 * keeps its status.
 */
function statusOf(segment: Segment, context: MapContext): Contribution {
  const sent = fieldText(segment, 25)?.toUpperCase();
  if (sent !== undefined && REFUSED_REPORT_STATUS.has(sent)) {
    note(context, 'E', '103', locate(segment, 25), ERROR_REASONS['no-result'], 'no-result');
  }
  const status = REPORT_STATUS.get(sent ?? '');
  if (status === undefined && !REFUSED_REPORT_STATUS.has(sent ?? '')) {
    noteUnknownStatus(segment, 25, '0123', context);
  }
  return status === undefined ? byDefault('status', 'unknown') : fixed('status', status, 'OBR-25');
}

/** The segments of one DiagnosticReport. */
export interface ReportSource {
  readonly obr: Segment;
  readonly orc: Segment | undefined;
  readonly notes: readonly Segment[];
  readonly specimens: readonly SpecimenSource[];
  readonly obx: readonly Segment[];
}

/**
 * A document of a report is stored once, in its Observation. There each result has its own precedence, and none replaces
 * another's document. The report has the document's type, size and title, and the Observation as its URL.
 */
function presented(attachment: JsonObject, obx: Segment, result: string | undefined): JsonObject {
  const { data, ...about } = attachment;
  const size = sizeOf(data);
  if (size === undefined || result === undefined) return attachment;
  const title = textOfConcept(first(obx, 3));
  return { ...about, url: result, size, ...(title !== undefined && { title }) };
}

/** @param referenceTo the Observation of an OBX in the group */
export function report(
  source: ReportSource,
  referenceTo: (obx: Segment) => string | undefined,
  context: MapContext,
): Contribution[] {
  const { obr, orc } = source;
  const identifiers = ([2, 3] as const).flatMap((number) => {
    const identifier = entityIdentifier(orderNumber(obr, orc, number), context, number === 2 ? 'PLAC' : 'FILL');
    return identifier === undefined ? [] : [{ identifier, field: orderNumberField(obr, number) }];
  });
  const results = [...new Set(source.obx.map(referenceTo).filter((reference) => reference !== undefined))];
  const presentedForm = source.obx
    .filter((obx) => !isInError(obx))
    .flatMap((obx) => attachmentsOf(obx, context).map((attachment) => presented(attachment, obx, referenceTo(obx))));
  const notes = source.notes.map((nte) => annotation(nte, context)).filter((found) => found !== undefined);
  return [
    statusOf(obr, context),
    ...(identifiers.length === 0
      ? []
      : [
          fixed(
            'identifier',
            identifiers.map(({ identifier }) => identifier),
            identifiers.map(({ field }) => field).join(' '),
          ),
        ]),
    ...contributionsOf(obr, FIELDS, context),
    ...basedOn(obr, orc, context),
    ...reason(obr, orc, context),
    ...(results.length === 0
      ? []
      : [
          {
            ...fixed(
              'result',
              results.map((reference) => ({ reference })),
              'OBX',
            ),
            adds: true,
          },
        ]),
    ...specimensOf(source.specimens, obr, context),
    ...(presentedForm.length === 0 ? [] : [fixed('presentedForm', presentedForm, 'OBX-5')]),
    ...(notes.length === 0
      ? []
      : [
          fixed(
            `extension ${NOTE}`,
            notes.map((valueAnnotation) => ({ valueAnnotation })),
            'NTE',
          ),
        ]),
  ];
}
