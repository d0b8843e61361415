/** The documents of a document message: each TXA with the OBX and NTE that follow it. */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import type { JsonObject } from '../../../shared/json.ts';
import type { Chart } from '../mapping/chart.ts';
import { note, type MapContext } from '../mapping/context.ts';
import { entityIdentifier } from '../mapping/datatypes/hd.ts';
import { first } from '../mapping/datatypes/text.ts';
import { fixed } from '../mapping/field-map.ts';
import { document, documentKey, type DocumentSource, type ParentDocument } from '../segments/txa.ts';
import type { DocumentAction } from './events.ts';
import { groupsOf } from './segment-groups.ts';
import type { Statement } from './statement.ts';
import { misplaced, missing, type Report } from './structure-findings.ts';

/** One DocumentReference for each TXA. */
export function documents(members: readonly Segment[], action: DocumentAction, report: Report): Statement[] {
  const groups = groupsOf(members, ['TXA']).filter(({ head }) => head !== undefined);
  if (groups.length === 0) report(missing('TXA^1', 'a document message needs a TXA segment'));
  for (const segment of groupsOf(members, ['TXA']).find(({ head }) => head === undefined)?.members ?? []) {
    if (segment.id === 'OBX') report(misplaced(segment, 'a TXA'));
  }
  return groups.flatMap(({ head: txa, members: following }): Statement[] => {
    if (txa === undefined) return [];
    const key = documentKey(txa, 12);
    if (key === undefined) {
      report(missing(`${locate(txa, 12)}^1^1`, 'TXA-12 (unique document number) is required'));
      return [];
    }
    const source = {
      txa,
      obx: following.filter(({ id }) => id === 'OBX'),
      notes: following.filter(({ id }) => id === 'NTE'),
    };
    return [statementOf(key, source, action)];
  });
}

function statementOf(key: string, source: DocumentSource, action: DocumentAction): Statement {
  const { txa } = source;
  const parentKey = action === 'append' || action === 'replace' ? documentKey(txa, 13) : undefined;
  const isCancelled = action === 'cancel';
  return {
    type: 'DocumentReference',
    key,
    segment: txa,
    subject: 'subject',
    refersTo: parentKey === undefined ? [] : [parentKey],
    ...(isCancelled && { unlessKnown: unknownDocument(txa) }),
    contributions: (draft, chart, context) => {
      const hasContent = Array.isArray(draft.content['content']);
      const parent =
        parentKey === undefined || parentKey === key ? undefined : parentOf(txa, parentKey, action, chart, context);
      return document(source, { isCancelled, hasContent, parent }, context);
    },
  };
}

const unknownDocument = (txa: Segment): AckError => ({
  code: '204',
  severity: 'W',
  at: locate(txa, 12),
  message: 'no document with this number is known: it is kept as cancelled, without its content',
  reason: 'unknown-document',
});

/** TXA-13: the document that this one is added to, or takes the place of and so makes superseded. */
function parentOf(
  txa: Segment,
  key: string,
  action: DocumentAction,
  chart: Chart,
  context: MapContext,
): ParentDocument {
  const code = action === 'append' ? 'appends' : 'replaces';
  const parent = chart.find('DocumentReference', key);
  if (parent === undefined) {
    note(context, 'W', '204', locate(txa, 13), 'the parent document of TXA-13 is not known', 'unknown-document');
    const identifier = entityIdentifier(first(txa, 13), context);
    const target: JsonObject = { type: 'DocumentReference', ...(identifier !== undefined && { identifier }) };
    return { code, target };
  }
  if (code === 'replaces') chart.apply(parent, [fixed('status', 'superseded'), fixed('_status', null)]);
  return { code, target: { reference: `DocumentReference/${parent.id}` } };
}
