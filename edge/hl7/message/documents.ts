/** The documents of a document message: each TXA with the OBX and NTE that follow it. */
import { ERROR_REASONS, type ErrorReason } from '../../../shared/hl7/error-reason.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { sortedJson, type Json, type JsonObject } from '../../../shared/json.ts';
import type { PatientRecord } from '../mapping/patient-record.ts';
import { note, type MapContext } from '../mapping/context.ts';
import { entityIdentifier } from '../mapping/datatypes/hd.ts';
import { fieldText, first, isValued, plainTextOf } from '../mapping/datatypes/text.ts';
import type { Draft } from '../mapping/drafts.ts';
import { timed } from '../precedence/clock.ts';
import type { Precedence } from '../precedence/precedence.ts';
import { ARRIVED, REPLACED } from '../precedence/stated-value.ts';
import { bareNumber, cancelledKey, numberedKey } from '../mapping/key.ts';
import { document, documentKey, type DocumentSource, type ParentDocument } from '../mapping/segments/txa.ts';
import type { DocumentAction, EventRule } from '../mapping/tables/events.ts';
import { groupsOf } from './segment-groups.ts';
import type { Statement } from '../mapping/statement.ts';
import { misplaced, missing, reportOtherNotes, type Report } from './structure-findings.ts';

/**
 * One DocumentReference for each TXA.
 *
 * @param recorded EVN-2
 * @param sender the authority of numbers without one
 */
export function documents(
  members: readonly Segment[],
  { document: action = 'store', hasContent }: EventRule,
  recorded: string | undefined,
  sender: string,
  report: Report,
): Statement[] {
  const groups = groupsOf(members, ['TXA']).filter(({ head }) => head !== undefined);
  if (groups.length === 0) report(missing('TXA^1', 'A document message needs a TXA segment.'));
  const before = groupsOf(members, ['TXA']).find(({ head }) => head === undefined)?.members ?? [];
  for (const segment of before) if (segment.id === 'OBX') report(misplaced(segment, 'a TXA'));
  reportOtherNotes(before, [], report);
  return groups.flatMap(({ head: txa, members: following }): Statement[] => {
    if (txa === undefined) return [];
    const key = documentKey(txa, 12, sender);
    if (key === undefined) {
      report(missing(`${locate(txa, 12)}^1^1`, 'TXA-12 (unique document number) is required.'));
      return [];
    }
    const source = {
      txa,
      obx: following.filter(({ id }) => id === 'OBX'),
      notes: following.filter(({ id }) => id === 'NTE'),
    };
    const isEmpty = source.obx.every((segment) => !isValued(segment, 5));
    // A stored document keeps its content. A new one has none.
    if (hasContent === true && isEmpty) report(finding('101', 'W', locate(txa), 'document-without-content'));
    const hasParent = action === 'append' || action === 'replace';
    const named = hasParent ? documentKey(txa, 13, sender) : undefined;
    // The document is stored beside the document that it should replace.
    if (hasParent && named === undefined) report(finding('101', 'W', locate(txa, 13), 'parent-missing'));
    return [statementOf(key, named === key ? undefined : named, source, action, recorded)];
  });
}

/**
 * The key of a document that replaced one which has not arrived yet. It begins with no bracket, as the key of a document does.
 *
 * @param key the replaced document's, or its `numberedKey` if TXA-13 has no authority
 */
const replacementKey = (key: string): string => `${REPLACES}${key}`;
const REPLACES = 'replaces';

/** The key of the replaced document, from a replacement key; undefined for another key. */
export const replacedKey = (key: string): string | undefined =>
  key.startsWith(REPLACES) ? key.slice(REPLACES.length) : undefined;

/** @param parentKey the key of the document that it is added to or replaces */
function statementOf(
  key: string,
  parentKey: string | undefined,
  source: DocumentSource,
  action: DocumentAction,
  recorded: string | undefined,
): Statement {
  const { txa } = source;
  const isCancelled = action === 'cancel';
  // A new document with another sender's number is another document.
  const bare = bareNumber(first(txa, 12));
  const number = isCancelled || action === 'change' ? bare : undefined;
  const anyNumber = numberOf(txa);
  const cancelled = cancelledKey(anyNumber);
  const parentNumber = parentKey === undefined ? undefined : bareNumber(first(txa, 13));
  return {
    type: 'DocumentReference',
    key,
    segment: txa,
    timing: timed(fieldText(txa, 8), recorded),
    subject: 'subject',
    refersTo: [
      ...[key, numberedKey(anyNumber)].map(replacementKey),
      cancelled,
      ...(parentKey === undefined ? [] : [parentKey, replacementKey(parentKey)]),
      ...(number === undefined ? [] : [numberedKey(number)]),
      ...(parentNumber === undefined ? [] : keysOfParent(parentNumber)),
    ],
    ...(number !== undefined && { number: { value: number, ifSeveral: severalDocuments(txa, 12) } }),
    // The sender of a cancellation may not be the sender of the document, which may arrive later.
    standsFor: { key: cancelled, isOpen: (stored) => isCancelled || !hasArrived(stored) },
    ...(isCancelled && {
      unlessKnown: finding('204', 'W', locate(txa, 12), 'unknown-document'),
      ...(bare !== undefined && { keyIfNew: cancelled }),
    }),
    contributions: (record, context, draft, precedence) => {
      const stating = { record, context, draft, precedence };
      replaceLate(txa, key, stating);
      // A later document with the number is listed: in another order of arrival the message would name it.
      const isByNumber =
        number !== undefined && (draft.stored === undefined || record.find('DocumentReference', key) !== draft);
      if (isByNumber && record.find('DocumentReference', cancelled) === undefined) {
        record.addKey(draft, cancelled);
        record.remember(draft, ARRIVED, precedence);
      }
      const parent = parentKey === undefined ? undefined : parentOf(txa, parentKey, action, stating);
      return document(source, { isCancelled, parent }, context);
    },
  };
}

const numberOf = (txa: Segment): string => plainTextOf(first(txa, 12), 1) ?? '';

const keysOfParent = (number: string): string[] => [
  numberedKey(number),
  replacementKey(numberedKey(number)),
  cancelledKey(number),
];

/**
 * Applies the replacements that arrived before their document. A number without an authority means the first document that
 * arrives with it. A later one is listed: it would be meant in another order of arrival.
 */
function replaceLate(txa: Segment, key: string, { record, context, draft, precedence }: Stating): void {
  const find = (each: string): Draft | undefined => record.find('DocumentReference', each);
  const value = numberOf(txa);
  const byAny = find(replacementKey(numberedKey(value)));
  const target = byNumber({ value });
  // It refers to a document by number until the document arrives.
  const isUsed = !sortedJson(byAny?.content ?? target).includes(sortedJson(target));
  const replacements = new Map([
    [isUsed ? undefined : byAny, target],
    [find(replacementKey(key)), numbered(txa, 12, context)],
  ]);
  if (!draft.remembered.registers.has(REPLACED))
    for (const [by, named] of replacements) {
      if (by === undefined || by === draft) continue;
      record.supersede(draft, precedence);
      record.rewrite(by, replacesNow(by.content, draft.id, named));
    }
  const others = [isUsed ? byAny : draft, find(cancelledKey(value)) ?? draft];
  if (draft.stored === undefined && others.some((each) => each !== draft))
    context.attend({
      kind: 'correction-unmatched',
      patients: [record.patient.id],
      about: `DocumentReference/${draft.id}`,
      detail: { at: locate(txa) },
    });
}

/** Checks whether a message named a document by its number alone, and no other document can become it. */
export const hasArrived = ({ remembered: { registers } }: Draft): boolean => registers.has(ARRIVED);

const finding = (
  code: AckError['code'],
  severity: AckError['severity'],
  at: string,
  reason: ErrorReason,
): AckError => ({
  code,
  severity,
  at,
  message: ERROR_REASONS[reason],
  reason,
});

const severalDocuments = (txa: Segment, field: 12 | 13): AckError =>
  finding('204', 'E', locate(txa, field), 'ambiguous-document');

interface Stating {
  readonly record: PatientRecord;
  readonly context: MapContext;
  readonly draft: Draft;
  readonly precedence: Precedence;
}

/** Applies TXA-13: the document is added to another one, or supersedes it. */
function parentOf(txa: Segment, key: string, action: DocumentAction, stating: Stating): ParentDocument {
  const { record, context, draft, precedence } = stating;
  const code = action === 'append' ? 'appends' : 'replaces';
  const number = bareNumber(first(txa, 13));
  const candidates = number === undefined ? [] : record.documentsNumbered(number).filter((each) => each !== draft);
  const known = record.find('DocumentReference', key);
  const isUnclear = known === undefined && candidates.length > 1;
  const cancelled = number === undefined ? undefined : record.find('DocumentReference', cancelledKey(number));
  const parent = known ?? (isUnclear ? undefined : (candidates[0] ?? cancelled));
  // The replaced document may arrive later: then it has been superseded already.
  if (code === 'replaces' && known === undefined)
    for (const each of number === undefined ? [key] : [key, numberedKey(number)])
      if (record.find('DocumentReference', replacementKey(each)) === undefined)
        record.addKey(draft, replacementKey(each));
  if (parent === undefined) {
    if (isUnclear) context.report(severalDocuments(txa, 13));
    else note(context, 'W', '204', locate(txa, 13), 'TXA-13 names an unknown parent document.', 'unknown-document');
    return { code, target: numbered(txa, 13, context) };
  }
  if (code === 'replaces') record.supersede(parent, precedence);
  return { code, target: { reference: `DocumentReference/${parent.id}` } };
}

const numbered = (txa: Segment, field: 12 | 13, context: MapContext): JsonObject =>
  byNumber(entityIdentifier(first(txa, field), context));

/** A logical reference to a document. */
export const byNumber = (identifier: Json | undefined): JsonObject => ({
  type: 'DocumentReference',
  ...(identifier !== undefined && { identifier }),
});

/**
 * Refers to the replaced document by id, once it has arrived.
 *
 * @param target the reference by number
 */
export function replacesNow(content: JsonObject, id: string, target: JsonObject): JsonObject {
  const logical = sortedJson({ code: 'replaces', target });
  const literal = { code: 'replaces', target: { reference: `DocumentReference/${id}` } };
  const known = Array.isArray(content['relatesTo']) ? content['relatesTo'] : [];
  const named = known.map((item) => (sortedJson(item) === logical ? literal : item));
  return { ...content, relatesTo: [...new Map(named.map((item) => [sortedJson(item), item])).values()] };
}
