/**
 * SPM as a Specimen that its results and reports contain (v2-to-FHIR `SPM[Specimen]`); OBX-33 and OBR-15 (in older versions) as
 * a reference without it (`OBR[Specimen]` 20). The gateway stores no Specimen by itself.
 */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { child, componentOf, locate, repetitions } from '../../../../shared/hl7/value.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../../shared/json.ts';
import type { MapContext } from '../context.ts';
import { codeableConcept, concept, concepts, textOfConcept } from '../datatypes/cwe.ts';
import { clean, first, isValued, members, repetitionText, textOf } from '../datatypes/text.ts';
import { dateTime, period } from '../datatypes/time.ts';
import { fixed, type Contribution } from '../../precedence/contribution.ts';
import { annotation } from './nte.ts';
import type { GroupSegment } from './rule.ts';

export const SPM: GroupSegment = { name: 'SPM' };

/** The segments of one specimen. */
export interface SpecimenSource {
  readonly spm: Segment;
  /** NTE after SPM. */
  readonly notes: readonly Segment[];
}

/** `contained` and `specimen` are always stated together, so that each contained Specimen is referred to. */
const stated = (specimens: readonly JsonObject[], specimen: Json, field = 'SPM'): Contribution[] => [
  fixed('contained', specimens.length === 0 ? null : [...specimens], field),
  fixed('specimen', specimen, field),
];

/** Rows 85 and 86 of `OBX[Observation]`; else the specimen of the group (`ORU_R01` 75), else the source in OBR. */
export function specimenOf(
  segment: Segment,
  specimen: SpecimenSource | undefined,
  obr: Segment | undefined,
  context: MapContext,
): Contribution[] {
  const own = first(segment, 33);
  const value = own === undefined ? undefined : (textOf(own, 1) ?? textOf(own, 2));
  if (value !== undefined && (specimen === undefined || idOf(specimen.spm) !== value)) {
    return stated([], { type: 'Specimen', identifier: { value } }, 'OBX-33');
  }
  if (specimen === undefined) {
    const source = obr && specimenSource(obr);
    return source === undefined ? [] : stated([], source, 'OBR-15');
  }
  const { resource, reference } = specimenResource(specimen, 'specimen', context);
  const site = isValued(segment, 20) ? undefined : bodySite(specimen.spm, context);
  return [
    ...(reference === undefined ? [] : stated(resource === undefined ? [] : [resource], reference)),
    ...(site === undefined ? [] : [fixed('bodySite', site, 'SPM-8')]),
  ];
}

/** The specimens of a report: those of SPM, else the source in OBR. */
export function specimensOf(specimens: readonly SpecimenSource[], obr: Segment, context: MapContext): Contribution[] {
  if (specimens.length === 0) {
    const source = specimenSource(obr);
    return source === undefined ? [] : stated([], [source], 'OBR-15');
  }
  const found = specimens.map((each, at) => specimenResource(each, `specimen-${at + 1}`, context));
  const references = found.flatMap(({ reference }) => (reference === undefined ? [] : [reference]));
  const resources = found.flatMap(({ resource }) => (resource === undefined ? [] : [resource]));
  return references.length === 0 ? [] : stated(resources, references);
}

/** Keeps what FHIR clients added to `contained`. */
export function withContained(contributions: readonly Contribution[], content: JsonObject): Contribution[] {
  const stored = Array.isArray(content['contained']) ? content['contained'] : [];
  const others = stored.filter((item) => !isOwn(item));
  return contributions.map((said) => {
    if (said.element !== 'contained' || others.length === 0) return said;
    return { ...said, value: [...others, ...(Array.isArray(said.value) ? said.value : [])] };
  });
}

const isOwn = (item: Json): boolean =>
  isJsonObject(item) && typeof item['id'] === 'string' && /^specimen(?:-\d+)?$/.test(item['id']);

/** SPM-2: the filler's id, else the placer's. */
function idOf(spm: Segment): string | undefined {
  const pair = first(spm, 2);
  return textOf(pair, 2) ?? textOf(pair, 1);
}

interface ContainedSpecimen {
  /** Undefined without anything but an id. */
  readonly resource: JsonObject | undefined;
  readonly reference: JsonObject | undefined;
}

/** `SPM[Specimen]` 4 to 11, 16, 19, 20 and 26. */
function specimenResource({ spm, notes }: SpecimenSource, id: string, context: MapContext): ContainedSpecimen {
  const value = idOf(spm);
  const identifier = value === undefined ? undefined : { value };
  const type = codeableConcept(first(spm, 4), context);
  const content = members({
    type,
    receivedTime: dateTime(first(spm, 18), context),
    collection: members({
      ...collected(spm, context),
      method: concept(spm, 7, context),
      bodySite: bodySite(spm, context),
    }),
    container: concepts(spm, 6, context).map((additiveCodeableConcept) => ({ additiveCodeableConcept })),
    condition: concepts(spm, 24, context),
    note: [
      ...repetitions(spm, 14)
        .flatMap((part) => repetitionText(part) ?? [])
        .map((text) => ({ text })),
      ...notes.flatMap((nte) => annotation(nte, context) ?? []),
    ],
  });
  const display = displayOf(type);
  const about = members({ identifier, display });
  if (content === undefined) {
    return { resource: undefined, reference: about === undefined ? undefined : { type: 'Specimen', ...about } };
  }
  return {
    resource: {
      resourceType: 'Specimen',
      id,
      ...(identifier !== undefined && { identifier: [identifier] }),
      ...content,
    },
    reference: { reference: `#${id}`, type: 'Specimen', ...about },
  };
}

function displayOf(type: JsonObject | undefined): string | undefined {
  const [coding] = [type?.['coding'] ?? []].flat();
  const display = isJsonObject(coding) && 'display' in coding ? coding['display'] : type?.['text'];
  return typeof display === 'string' ? display : undefined;
}

/** SPM-17: the time of collection, or its begin and end. */
function collected(spm: Segment, context: MapContext): JsonObject | undefined {
  const part = first(spm, 17);
  const start = dateTime(part, context, 1);
  const end = dateTime(part, context, 2);
  if (end === undefined) return start === undefined ? undefined : { collectedDateTime: start };
  const collectedPeriod = period(start, end, context, locate(spm, 17));
  return collectedPeriod === undefined ? undefined : { collectedPeriod };
}

/** SPM-8 with SPM-9: R4 has no element for a side or another modifier, so the text has it. */
function bodySite(spm: Segment, context: MapContext): JsonObject | undefined {
  const site = concept(spm, 8, context);
  const modifiers = repetitions(spm, 9).flatMap((part) => textOfConcept(part) ?? []);
  if (modifiers.length === 0) return site;
  return { ...site, text: [textOfConcept(first(spm, 8)) ?? [], modifiers].flat().join(', ') };
}

/** CWE.3 of senders that write OBR-15 as a coded value: `BLD^Blood^HL70070`. */
const CODING_SYSTEM = /^(?:HL7\d{4}|SCT|SNM|SNOMED.*|LN|L|99\w*)$/i;

/**
 * OBR-15, an SPS: the source and the body site of the specimen, each a coded value within its component (HL7 v2.5.1 §2.A.68).
 */
function specimenSource(obr: Segment): JsonObject | undefined {
  const part = first(obr, 15);
  if (part === undefined) return undefined;
  const nameOf = (component: number): string | undefined => {
    const concept = componentOf(part, component);
    return concept && (clean(child(concept, 2)) ?? clean(child(concept, 1)));
  };
  const isCoded = CODING_SYSTEM.test(textOf(part, 3) ?? '');
  const display = isCoded ? (textOf(part, 2) ?? textOf(part, 1)) : [nameOf(1), nameOf(4)].filter(Boolean).join(', ');
  return display === undefined || display === '' ? undefined : { type: 'Specimen', display };
}
