/**
 * From the content of a message and what the database knows of it to the resources it makes: pure, so that a dry run is
 * the same code. Everything that could not be mapped is reported to the context.
 */
import type { JsonObject } from '../../../shared/json.ts';
import { locate, repetitions } from '../../../shared/hl7/value.ts';
import { note, type MapContext } from '../mapping/context.ts';
import type { Content } from '../message/outline.ts';
import { entityIdentifier } from '../mapping/datatypes/hd.ts';
import { createDrafts, type Draft, type DraftResult, type Drafts, type Found } from '../mapping/drafts.ts';
import type { EventRule } from '../message/events.ts';
import { fixed, type Contribution } from '../mapping/field-map.ts';
import { keyOf } from '../mapping/key.ts';
import { mapPatient } from '../identity/patient.ts';
import { allergy } from '../segments/al1-iam.ts';
import { condition } from '../segments/dg1.ts';
import { observation } from '../segments/obx.ts';
import { report } from '../segments/obr.ts';
import { procedure } from '../segments/pr1.ts';
import { document } from '../segments/txa.ts';
import type { Unit } from '../message/unit.ts';

export interface MapRequest {
  readonly content: Content;
  readonly rule: EventRule;
  readonly found: readonly Found[];
  /** Of the key: AL1, IAM, DG1 and PR1 are mapped only where their type may be written. */
  readonly allowedScopes: ReadonlySet<string>;
  readonly context: MapContext;
  readonly newId: () => string;
  /** `meta.source` of what is made or changed: which message it was. */
  readonly source: string;
}

export interface Effects extends DraftResult {
  /** Patients all of whose data go to another. */
  readonly merges: readonly { readonly from: string; readonly to: string }[];
}

export function mapMessage(request: MapRequest): Effects {
  const { content, rule, context, newId } = request;
  const drafts = createDrafts(request.found);
  const merges: { from: string; to: string }[] = [];
  for (const patientContent of content.patients) {
    const patient = mapPatient(patientContent, rule.patient, { drafts, context, newId, merges });
    if (patient !== undefined) mapUnits(patientContent.units, patient, drafts, request);
  }
  return { ...drafts.result(request.source), merges };
}

function mapUnits(units: readonly Unit[], patient: Draft, drafts: Drafts, request: MapRequest): void {
  const { context, newId } = request;
  const skipped = new Set<string>();
  for (const unit of units) {
    if (!mayWrite(unit, request.allowedScopes)) {
      if (!skipped.has(unit.type)) reportSkipped(unit, context);
      skipped.add(unit.type);
      continue;
    }
    const key = keyOf(unit.key, patient.id);
    const known = drafts.byKey(unit.type, key);
    if (unit.type === 'DocumentReference' && unit.action === 'cancel' && known === undefined) {
      const { txa } = unit.source;
      note(context, 'E', '204', locate(txa, 12), 'no document with this number can be cancelled', 'unknown-document');
      continue;
    }
    const draft = known ?? drafts.create(unit.type, newId(), key);
    const subject = unit.type === 'AllergyIntolerance' ? 'patient' : 'subject';
    drafts.apply(draft, [
      fixed(subject, { reference: `Patient/${patient.id}` }),
      ...contributionsOfUnit(unit, draft, patient, drafts, context),
    ]);
  }
}

/** Types that a message may make in passing, beside what it is about. */
const SCOPED: ReadonlySet<string> = new Set(['Condition', 'Procedure', 'AllergyIntolerance']);

const mayWrite = (unit: Unit, scopes: ReadonlySet<string>): boolean =>
  !SCOPED.has(unit.type) || scopes.has(`system/${unit.type}.write`);

function reportSkipped(unit: Unit, context: MapContext): void {
  if (!('segment' in unit)) return;
  const { segment, type } = unit;
  const message = `${segment.id} was not mapped: the key's Allowed scopes lack system/${type}.write`;
  note(context, 'W', '207', locate(segment), message, 'scope-missing');
}

function contributionsOfUnit(
  unit: Unit,
  draft: Draft,
  patient: Draft,
  drafts: Drafts,
  context: MapContext,
): readonly Contribution[] {
  switch (unit.type) {
    case 'Observation':
      return observation(unit.source, context);
    case 'DiagnosticReport': {
      const results = unit.results
        .map((key) => drafts.byKey('Observation', keyOf(key, patient.id)))
        .filter((result) => result !== undefined)
        .map(({ id }) => `Observation/${id}`);
      return report(unit.source, results, context);
    }
    case 'DocumentReference': {
      const isCancelled = unit.action === 'cancel';
      const hasContent = Array.isArray(draft.content['content']);
      return document(
        unit.source,
        { isCancelled, hasContent, parent: parentOf(unit, patient, drafts, context) },
        context,
      );
    }
    case 'AllergyIntolerance':
      return allergy(unit.segment, context);
    case 'Condition':
      return condition(unit.segment, context);
    case 'Procedure':
      return procedure(unit.segment, context);
  }
}

/** TXA-13: the document that this one is added to, or takes the place of and so makes superseded. */
function parentOf(
  unit: Extract<Unit, { type: 'DocumentReference' }>,
  patient: Draft,
  drafts: Drafts,
  context: MapContext,
): { code: 'appends' | 'replaces'; target: JsonObject } | undefined {
  if (unit.parentKey === undefined || unit.parentKey === unit.key) return undefined;
  const code = unit.action === 'append' ? 'appends' : 'replaces';
  const parent = drafts.byKey('DocumentReference', keyOf(unit.parentKey, patient.id));
  if (parent === undefined) {
    const { txa } = unit.source;
    note(context, 'W', '204', locate(txa, 13), 'the parent document of TXA-13 is not known', 'unknown-document');
    const identifier = entityIdentifier(repetitions(txa, 13)[0], context);
    return { code, target: { type: 'DocumentReference', ...(identifier !== undefined && { identifier }) } };
  }
  if (code === 'replaces') drafts.apply(parent, [fixed('status', 'superseded'), fixed('_status', null)]);
  return { code, target: { reference: `DocumentReference/${parent.id}` } };
}
