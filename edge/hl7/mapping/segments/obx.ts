/** OBX as Observation, with its parts of OBR and SPM (v2-to-FHIR `OBX[Observation]`, `OBX[Observation-Component]`). */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { repetitions } from '../../../../shared/hl7/value.ts';
import type { Json } from '../../../../shared/json.ts';
import { quietly, type MapContext } from '../context.ts';
import { concept, mappedConcept } from '../datatypes/cwe.ts';
import { entityIdentifier } from '../datatypes/hd.ts';
import { entity, inFunction, organization, practitioner, producer } from '../datatypes/party.ts';
import { decimal, unitOf } from '../datatypes/quantity.ts';
import {
  fieldText,
  first,
  isValued,
  joinedText,
  linesOf,
  plainTextOf,
  textOf,
  members,
  listOf,
} from '../datatypes/text.ts';
import { dateTime } from '../datatypes/time.ts';
import { contributionsOf, each, type FieldMap, one } from '../field-map.ts';
import { fixed, type Contribution } from '../../precedence/contribution.ts';
import { entityKey, join, observedKey } from '../key.ts';
import { INTERPRETATION, NATURE_OF_ABNORMAL_TESTING } from '../tables/concept-maps.ts';
import type { SentKey } from '../statement.ts';
import { valueSaid } from '../../precedence/value-text.ts';
import { annotations } from './nte.ts';
import { ABSENT, NO_LONGER_KNOWN, statusOf } from './obx-status.ts';
import { observedValues, type ObservedValue } from './obx-value.ts';
import { orderWithoutNumber, type OrderNumbers } from './orc.ts';
import { parentKey } from './parent-result.ts';
import type { GroupSegment } from './rule.ts';
import { categoryOfResults } from './service-section.ts';
import { specimenOf, type SpecimenSource } from './spm.ts';

const STRUCTURE = 'http://hl7.org/fhir/StructureDefinition';
/** R5 allows an Attachment as a value; this is its R4 form (rows 26, 27, 29 and 30). */
const VALUE_ATTACHMENT = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-Observation.value';
const SUB_ID = `${STRUCTURE}/observation-v2-subid`;
const OBSERVATION_TYPE = 'http://terminology.hl7.org/CodeSystem/v2-0936';

/** Row 37: `3.5-5.0` is also given as numbers. Repetitions are lines of one text. */
function referenceRange(segment: Segment, context: MapContext): Json | undefined {
  const text = joinedText(linesOf(segment, 7));
  if (text === undefined) return undefined;
  const bounds = /^(-?[\d.]+)\s*-\s*(-?[\d.]+)$/.exec(text);
  const low = decimal(bounds?.[1] ?? '');
  const high = decimal(bounds?.[2] ?? '');
  if (low === undefined || high === undefined || Number(low) > Number(high)) return [{ text }];
  const unit = unitOf(first(segment, 6), context);
  return [{ low: { value: low, ...unit }, high: { value: high, ...unit }, text }];
}

/** `OG[Extension-Subidentifier]` 3 to 10: group, sequence and identifier of OBX-4, else its text. */
function subId(segment: Segment): Json | undefined {
  const part = first(segment, 4);
  if (part === undefined) return undefined;
  const original = plainTextOf(part, 1);
  const group = decimal(textOf(part, 2) ?? '');
  const sequence = decimal(textOf(part, 3) ?? '');
  const identifier = textOf(part, 4);
  const extension = [
    ...(original === undefined ? [] : [{ url: 'original-sub-identifier', valueString: original }]),
    ...(group === undefined ? [] : [{ url: 'group', valueDecimal: group }]),
    ...(sequence === undefined ? [] : [{ url: 'sequence', valueDecimal: sequence }]),
    ...(identifier === undefined ? [] : [{ url: 'identifier', valueString: identifier }]),
  ];
  return extension.length === 0 ? undefined : { extension };
}

/** Rows 51, 53, 64 and 68 to 70: the persons and organizations that measured. */
function performers(segment: Segment, context: MapContext): Json | undefined {
  const found = [
    ...repetitions(segment, 16).map((part) => practitioner(part, context)),
    ...repetitions(segment, 15).map((part) => producer(part, context)),
    ...repetitions(segment, 23).map((part) => organization(part, context)),
    ...repetitions(segment, 25).map((part) => {
      const director = practitioner(part, context);
      return director && inFunction(director, 'http://terminology.hl7.org/CodeSystem/v2-0912', 'MDIR');
    }),
  ].filter((party) => party !== undefined);
  return found.length === 0 ? undefined : found;
}

const PERFORMER_FIELDS = [15, 16, 23, 25];

const FIELDS: readonly FieldMap[] = [
  { field: 3, rows: '5', element: 'code', map: (segment, context) => concept(segment, 3, context) },
  { field: 4, rows: '6', element: `extension ${SUB_ID}`, map: subId },
  { field: 7, rows: '37', element: 'referenceRange', map: referenceRange },
  {
    field: 8,
    rows: '38',
    element: 'interpretation',
    map: each(8, (part, context) => mappedConcept(part, context, INTERPRETATION)),
  },
  {
    field: 10,
    rows: '40, 41',
    element: `extension ${STRUCTURE}/observation-nature-of-abnormal-test`,
    map: each(10, (part, context) =>
      members({ valueCodeableConcept: mappedConcept(part, context, NATURE_OF_ABNORMAL_TESTING) }),
    ),
  },
  {
    field: 14,
    rows: '50',
    element: 'effective[x]',
    map: (segment, context) => members({ effectiveDateTime: dateTime(first(segment, 14), context) }),
  },
  ...PERFORMER_FIELDS.map((field, at): FieldMap => ({
    field,
    rows: '51, 53, 64, 68, 69, 70',
    element: 'performer',
    // All four make one list: the first with a value makes it.
    when: (segment) => PERFORMER_FIELDS.slice(0, at).every((other) => !isValued(segment, other)),
    map: performers,
  })),
  {
    field: 17,
    rows: '56',
    element: 'method',
    map: (segment, context) => concept(segment, 17, context),
  },
  {
    field: 18,
    rows: '57',
    element: 'device',
    map: one(18, (part, context) => entity('Device', part, context)),
  },
  {
    field: 19,
    rows: '58, 59',
    element: `extension ${STRUCTURE}/observation-analysis-date-time`,
    map: (segment, context) => members({ valueDateTime: dateTime(first(segment, 19), context) }),
  },
  {
    field: 20,
    rows: '60',
    element: 'bodySite',
    map: (segment, context) => concept(segment, 20, context),
  },
  {
    field: 21,
    rows: '61, 62',
    element: 'identifier',
    map: (segment, context) => listOf(entityIdentifier(first(segment, 21), context, 'FILL')),
  },
  {
    field: 29,
    rows: '74, 75',
    element: 'category',
    map: (segment) => {
      const code = fieldText(segment, 29);
      return code === undefined ? undefined : [{ coding: [{ system: OBSERVATION_TYPE, code }] }];
    },
  },
];

export const OBX: GroupSegment = {
  name: 'OBX',
  followsPid: true,
  source: 'OBX[Observation]',
  fields: FIELDS,
};

/** OBX-2, 5, 6, 7 and 8 are one statement: if there is a value, an empty field deletes its element. */
function valueContributions(segments: readonly Segment[], context: MapContext): Contribution[] {
  const value = valueOf(segments, context);
  return value.length === 0 ? [] : [...NO_VALUE, ...value];
}

/** The value of OBX-5, or the reason of OBX-11; nothing without either. */
function valueOf(segments: readonly Segment[], context: MapContext): Contribution[] {
  const [segment] = segments;
  if (segment === undefined) return [];
  const isDeleted = segments.every((line) => line.field(5) === '""');
  if (isDeleted) return [fixed('dataAbsentReason', NO_LONGER_KNOWN, 'OBX-5')];
  const values = segments.length > 1 ? joined(segments) : observedValues(segment, context);
  if (values.length === 0) {
    const reason = ABSENT.get(fieldText(segment, 11)?.toUpperCase() ?? '');
    return reason === undefined ? [] : [fixed('dataAbsentReason', reason, 'OBX-11')];
  }
  const [only] = values;
  const fields = isValued(segment, 6) ? 'OBX-5 OBX-6' : 'OBX-5';
  if (values.length === 1 && only !== undefined) {
    return [
      fixed('value[x]', only.value ?? null, fields),
      fixed(
        `extension ${VALUE_ATTACHMENT}`,
        only.attachment === undefined ? null : { valueAttachment: only.attachment },
        'OBX-5',
      ),
    ];
  }
  const code = concept(segment, 3, context) ?? {};
  const component = values.map(({ value, attachment }) => ({
    ...(attachment !== undefined && { extension: [{ url: VALUE_ATTACHMENT, valueAttachment: attachment }] }),
    code,
    ...value,
  }));
  return [fixed('component', component, `OBX-3 ${fields}`)];
}

const NO_VALUE: readonly Contribution[] = [
  fixed('value[x]', null, 'OBX-5'),
  fixed('component', null, 'OBX-5'),
  fixed(`extension ${VALUE_ATTACHMENT}`, null, 'OBX-5'),
  fixed('dataAbsentReason', null, 'OBX-5'),
  fixed('referenceRange', null, 'OBX-7'),
  fixed('interpretation', null, 'OBX-8'),
];

/** Consecutive OBX of a text are its lines; an empty line is a line. */
function joined(segments: readonly Segment[]): readonly ObservedValue[] {
  const valueString = joinedText(segments.flatMap((line) => (isValued(line, 5) ? linesOf(line, 5) : '')));
  return valueString === undefined ? [] : [{ value: { valueString } }];
}

/** The order of a result in its key. */
export interface OrderOfKey {
  readonly obr: Segment;
  readonly orc: Segment | undefined;
  readonly numbers: OrderNumbers;
}

/**
 * The key of a result. Its time is OBR-7 without OBX-14 (§7.4.2.14).
 *
 * @param sub OBX-4, `''` for a text whose OBX-4 counts its lines
 * @param recorded EVN-2, the time of a result without an order
 */
export function observationKey(
  obx: Segment,
  sub: string,
  order: OrderOfKey | undefined,
  recorded: string | undefined,
): SentKey {
  const instance = first(obx, 21);
  const numbers = order?.numbers ?? NO_NUMBERS;
  const time = fieldText(obx, 14) ?? (order === undefined ? recorded : fieldText(order.obr, 7));
  const { what: parentWhat, parent } = order === undefined ? NO_PARENT : parentKey(order.obr, order.orc);
  return {
    what: observedKey(first(obx, 3), [
      sub,
      instance === undefined ? '' : join(...entityKey(instance)),
      parentWhat,
      ...orderWithoutNumber(order?.obr, numbers, time),
    ]),
    ...numbers,
    parent,
    time,
  };
}

const NO_NUMBERS: OrderNumbers = { placer: undefined, filler: undefined };
const NO_PARENT = { what: '', parent: undefined };

/**
 * OBX-5 as a text: equal observations have equal texts.
 *
 * @param obx the lines of one text, else one
 */
export const observedAs = (obx: readonly Segment[], context: MapContext): string =>
  valueSaid(valueContributions(obx, context));

/** The segments of one Observation. */
export interface ObservationSource {
  /** Several for the lines of one text. */
  readonly obx: readonly Segment[];
  readonly obr: Segment | undefined;
  readonly specimen: SpecimenSource | undefined;
  readonly notes: readonly Segment[];
}

export function observation(source: ObservationSource, context: MapContext): Contribution[] {
  const [segment] = source.obx;
  if (segment === undefined) return [];
  return [
    ...statusOf(source.obx.at(-1) ?? segment, context),
    ...effectiveOfOrder(segment, source.obr, context),
    ...valueContributions(source.obx, context),
    ...withSection(contributionsOf(segment, FIELDS, context), source.obr, context),
    ...specimenOf(segment, source.specimen, source.obr, context),
    ...annotations(source.notes, context),
  ];
}

/** Adds the category of the order's section before the observation type of OBX-29. */
function withSection(said: readonly Contribution[], obr: Segment | undefined, context: MapContext): Contribution[] {
  const category = obr && categoryOfResults(obr, context);
  if (category === undefined) return [...said];
  const isType = ({ element }: Contribution) => element === 'category';
  const types = said.filter(isType).flatMap(({ value }) => (Array.isArray(value) ? value : []));
  const fields = types.length === 0 ? 'OBR-24' : 'OBR-24 OBX-29';
  return [...said.filter((one) => !isType(one)), fixed('category', [category, ...types], fields)];
}

/** HL7 v2.5.1 §7.4.2.14: without OBX-14 the time of the order's specimen or observation counts. */
function effectiveOfOrder(segment: Segment, obr: Segment | undefined, context: MapContext): Contribution[] {
  if (obr === undefined || isValued(segment, 14)) return [];
  // An invalid OBR-7 is reported with the report.
  const effectiveDateTime = dateTime(first(obr, 7), quietly(context));
  return effectiveDateTime === undefined ? [] : [fixed('effective[x]', { effectiveDateTime }, 'OBR-7')];
}
