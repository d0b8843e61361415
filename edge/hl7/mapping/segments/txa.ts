/** TXA, with its OBX and NTE, as DocumentReference (v2-to-FHIR `TXA[…]`, `OBX[…]` and `NTE[DocumentReference]`). */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { locate, locatePart, repetitions } from '../../../../shared/hl7/value.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import { note, noteUnknownCode, type MapContext } from '../context.ts';
import { encapsulated, mediaType, plainText, pointer } from '../datatypes/attachment.ts';
import { concept, conceptOf, mappedConcept, sentAs, textOfConcept } from '../datatypes/cwe.ts';
import { entityIdentifier } from '../datatypes/hd.ts';
import { practitioner } from '../datatypes/party.ts';
import { structuredText, unitText } from '../datatypes/quantity.ts';
import {
  fieldText,
  first,
  isValued,
  joinedText,
  linesOf,
  plainFieldText,
  textOf,
  repetitionText,
  listOf,
  members,
} from '../datatypes/text.ts';
import { instant } from '../datatypes/time.ts';
import { contributionsOf, each, type FieldMap, one } from '../field-map.ts';
import { byDefault, fixed, type Contribution } from '../../precedence/contribution.ts';
import { join, numberKey } from '../key.ts';
import { DOCUMENT_CONFIDENTIALITY } from '../tables/concept-maps.ts';
import { COMPLETION_STATUS, DOCUMENT_STATUS } from '../tables/status.ts';
import { commentText } from './nte.ts';
import { isCodedType, TEXT_TYPES, valueType } from './obx-value.ts';
import type { GroupSegment } from './rule.ts';

/** US Core 6.1: of every clinical note. */
const DOCUMENT_CATEGORY = 'http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category';
const AVAILABILITY = 'http://terminology.hl7.org/CodeSystem/v2-0273';

const FIELDS: readonly FieldMap[] = [
  {
    field: 2,
    rows: '5',
    element: 'type',
    map: (segment, context) => concept(segment, 2, context),
  },
  {
    field: 6,
    rows: '9',
    element: 'date',
    map: (segment, context) => instant(first(segment, 6), context),
  },
  {
    field: 9,
    rows: '14',
    element: 'author',
    map: each(9, practitioner),
  },
  {
    field: 10,
    rows: '15',
    element: 'authenticator',
    map: one(10, practitioner),
  },
  {
    field: 12,
    rows: '17',
    element: 'masterIdentifier',
    map: (segment, context) => entityIdentifier(first(segment, 12), context),
  },
  {
    field: 16,
    rows: '21',
    element: 'identifier',
    map: (segment) => listOf(members({ value: fieldText(segment, 16) })),
  },
  {
    field: 17,
    rows: '22',
    element: 'docStatus',
    map: (segment, context) => {
      const status = COMPLETION_STATUS.get(fieldText(segment, 17)?.toUpperCase() ?? '');
      if (status === undefined) noteUnknownCode(segment, 17, 'table 0271', context);
      return status;
    },
  },
  {
    field: 18,
    rows: '23',
    element: 'securityLabel',
    map: (segment, context) => listOf(mappedConcept(first(segment, 18), context, DOCUMENT_CONFIDENTIALITY)),
  },
  {
    field: 25,
    rows: '32',
    element: 'description',
    map: (segment) => {
      const lines = repetitions(segment, 25).map(repetitionText).filter(Boolean);
      return lines.length === 0 ? undefined : lines.join(' ');
    },
  },
];

export const TXA: GroupSegment = {
  name: 'TXA',
  followsPid: true,
  source: 'TXA[DocumentReference]',
  fields: FIELDS,
};

/** Rows 3 and 24 to 26. */
function statusOf(segment: Segment, isCancelled: boolean, context: MapContext): Contribution[] {
  const sent = fieldText(segment, 19)?.toUpperCase();
  if (sent !== undefined && !DOCUMENT_STATUS.has(sent)) noteUnknownCode(segment, 19, 'table 0273', context);
  const status = isCancelled ? 'entered-in-error' : (DOCUMENT_STATUS.get(sent ?? '') ?? 'current');
  const original = sent === undefined || sent === 'AV' ? null : sentAs(conceptOf(AVAILABILITY, sent));
  return [fixed('status', status, 'TXA-19'), fixed('_status', original, 'TXA-19')];
}

/** `OBX[DocumentReference]` 7 to 12: one content for each document or pointer, and one for all lines of a text. */
function contents(source: DocumentSource, context: MapContext): JsonObject[] {
  const attached: JsonObject[] = [];
  const lines: string[] = [];
  const sections = sectionNames(source.obx);
  for (const segment of source.obx) {
    const type = valueType(segment);
    const section = sections.get(segment);
    if (section !== undefined) lines.push(...(lines.length === 0 ? [] : ['']), `${section}:`);
    // An empty line of a text is a line.
    if (!isValued(segment, 5)) lines.push('');
    else if (type !== 'ED' && type !== 'RP') lines.push(...linesOfValue(segment, type));
    else {
      for (const part of repetitions(segment, 5)) {
        const attachment = type === 'ED' ? encapsulated(part) : pointer(part);
        if (attachment !== undefined) attached.push(attachment);
        else {
          const message = `OBX-5 is not a valid ${type}. The document cannot be read.`;
          note(context, 'E', '102', locatePart(part, type === 'ED' ? 5 : 1), message, 'unreadable-document');
        }
      }
    }
  }
  const text = joinedText(lines);
  const comments = source.notes.map(commentText).filter((comment) => comment !== undefined);
  return [...attached, ...(text === undefined ? [] : [plainText(text)]), ...comments.map(plainText)];
}

/** The name of each OBX that begins a section; none if all texts have one name, which is that of the document. */
function sectionNames(obx: readonly Segment[]): ReadonlyMap<Segment, string> {
  const named = obx.flatMap((segment): [Segment, string][] => {
    const name = isValued(segment, 5) && isPlainText(segment) ? textOfConcept(first(segment, 3)) : undefined;
    return name === undefined ? [] : [[segment, name]];
  });
  const begins = named.filter(([, name], at) => name !== named[at - 1]?.[1]);
  return new Map(begins.length > 1 ? begins : []);
}

/** A text without a unit. */
function isPlainText(segment: Segment, type = valueType(segment) ?? 'ST'): boolean {
  return (type === 'ST' || TEXT_TYPES.has(type)) && !isValued(segment, 6);
}

/** A measured or coded value in a document has its name and unit beside it. */
function linesOfValue(segment: Segment, type = 'ST'): string[] {
  if (isPlainText(segment, type)) return linesOf(segment, 5);
  const name = textOfConcept(first(segment, 3));
  const unit = unitText(first(segment, 6));
  return repetitions(segment, 5).map((part) => {
    const value = isCodedType(type)
      ? textOfConcept(part)
      : (type === 'SN' && structuredText(part)) || repetitionText(part);
    if (value === undefined) return '';
    return `${name === undefined ? '' : `${name}: `}${value}${unit === undefined ? '' : ` ${unit}`}`;
  });
}

/**
 * TXA-12, or TXA-13 for the parent document.
 *
 * @param sender the authority of a number without one
 */
export function documentKey(txa: Segment, field: 12 | 13, sender: string): string | undefined {
  const id = first(txa, field);
  return textOf(id, 1) === undefined ? undefined : join(...numberKey(id, sender));
}

/** The segments of one DocumentReference. */
export interface DocumentSource {
  readonly txa: Segment;
  readonly obx: readonly Segment[];
  readonly notes: readonly Segment[];
}

interface DocumentOptions {
  /** T11: the document was cancelled (HL7 v2.5.1 §9.6.11). */
  readonly isCancelled: boolean;
  readonly parent: ParentDocument | undefined;
}

/** TXA-13: the document that this one is added to, or replaces. */
export interface ParentDocument {
  readonly code: 'appends' | 'replaces';
  /** A Reference. */
  readonly target: JsonObject;
}

export function document(source: DocumentSource, options: DocumentOptions, context: MapContext): Contribution[] {
  const { txa } = source;
  const attachments = contents(source, context);
  return [
    ...statusOf(txa, options.isCancelled, context),
    ...contributionsOf(txa, FIELDS, context),
    byDefault('category', [conceptOf(DOCUMENT_CATEGORY, 'clinical-note')]),
    ...(options.parent === undefined ? [] : [{ ...fixed('relatesTo', [{ ...options.parent }], 'TXA-13'), adds: true }]),
    attachments.length === 0
      ? byDefault('content', [{ attachment: announced(txa) }])
      : fixed(
          'content',
          attachments.map((attachment) => ({ attachment })),
          'OBX-5',
        ),
  ];
}

/** T01 announces a document without its content, which R4 requires (content 1..*). */
function announced(txa: Segment): JsonObject {
  const contentType = mediaType(fieldText(txa, 3), undefined);
  const title = plainFieldText(txa, 25) ?? fieldText(txa, 16) ?? textOf(first(txa, 12), 1) ?? locate(txa);
  return { ...(contentType !== undefined && { contentType }), title };
}
