/**
 * Which patient a PID or MRG means (design decisions §5, identity), and what an event does to it. A patient that was
 * merged away leads to its survivor, so that late messages with the old number find the right record.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../shared/json.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { locatePart } from '../../../shared/hl7/value.ts';
import { note, type MapContext } from '../mapping/context.ts';
import type { PatientContent } from '../message/outline.ts';
import { assigningAuthority } from '../mapping/datatypes/hd.ts';
import { textOf } from '../mapping/datatypes/text.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import type { PatientAction } from '../message/events.ts';
import { contributionsOf, fixed, type Contribution } from '../mapping/field-map.ts';
import { MRG } from '../segments/mrg.ts';
import { PD1 } from '../segments/pd1.ts';
import { identifyingPart } from '../segments/pid-values.ts';
import { PID } from '../segments/pid.ts';

export interface PatientMapping {
  readonly drafts: Drafts;
  readonly context: MapContext;
  readonly newId: () => string;
  readonly merges: { from: string; to: string }[];
}

/** The patient of a PID after the event, or undefined when it cannot be told: the reason has been reported. */
export function mapPatient(
  { pid, pd1, mrg }: PatientContent,
  action: PatientAction,
  mapping: PatientMapping,
): Draft | undefined {
  const { drafts, context } = mapping;
  const direct = candidates(pid, 3, mapping);
  const survivors = [...new Set(direct.map((patient) => survivorOf(patient, drafts)))];
  if (survivors.length > 1) {
    ambiguous(pid, 3, context);
    return undefined;
  }
  const [known] = survivors;
  if (known === undefined && action === 'deactivate') {
    unknown(pid, 3, 'E', context);
    return undefined;
  }
  const patient = known ?? drafts.create('Patient', mapping.newId());
  drafts.touch(patient);

  if (action === 'deactivate') drafts.apply(patient, [fixed('active', false)]);
  // The number of a patient that was merged away says nothing new about the survivor.
  const isOldNumber = known !== undefined && !direct.includes(known);
  const isWritten = known === undefined || ((action === 'upsert' || action === 'merge') && !isOldNumber);
  if (isWritten) drafts.apply(patient, demographics(pid, pd1, context));
  if (action === 'merge' && mrg !== undefined) mergeAway(mrg, patient, mapping);
  return patient;
}

function demographics(pid: Segment, pd1: Segment | undefined, context: MapContext): Contribution[] {
  return [fixed('active', true), ...contributionsOf(pid, PID, context), ...contributionsOf(pd1, PD1, context)];
}

/** Patients with an identifier that the one in the segment may be; exact ones only, where there are such. */
function candidates(segment: Segment, field: 1 | 3, { drafts, context }: PatientMapping): Draft[] {
  const part = identifyingPart(segment, field);
  const value = textOf(part, 1);
  if (value === undefined) return [];
  const sent: Sent = { value, type: textOf(part, 5), ...assigningAuthority(part, 4, context) };
  const having = (test: (sent: Sent, item: JsonObject) => boolean): Draft[] =>
    drafts.patients().filter(({ content }) => items(content['identifier']).some((item) => test(sent, item)));
  const exact = sent.system === undefined ? [] : having(isExact);
  return exact.length > 0 ? exact : having(isCompatible);
}

interface Sent {
  readonly value: string;
  readonly type: string | undefined;
  readonly system: string | undefined;
  readonly namespace: string | undefined;
}

const isExact = (sent: Sent, item: JsonObject): boolean =>
  item['value'] === sent.value && item['system'] === sent.system;

/**
 * The same value, and nothing that says it is another's: two known systems, two known namespaces or (without systems)
 * two known types that differ do.
 */
function isCompatible(sent: Sent, item: JsonObject): boolean {
  if (item['value'] !== sent.value) return false;
  const { system } = item;
  if (sent.system !== undefined && system !== undefined) return sent.system === system;
  // A namespace that the site has not named is not known to be the one of a system.
  if (system !== undefined && sent.namespace !== undefined) return false;
  const assigner = isJsonObject(item['assigner']) ? item['assigner']['display'] : undefined;
  if (assigner !== undefined && sent.namespace !== undefined && assigner !== sent.namespace) return false;
  const type = typeCode(item);
  return type === undefined || sent.type === undefined || type === sent.type;
}

function typeCode(item: JsonObject): Json | undefined {
  const { type } = item;
  return isJsonObject(type) ? items(type['coding'])[0]?.['code'] : undefined;
}

const items = (list: Json | undefined): JsonObject[] => (Array.isArray(list) ? list.filter(isJsonObject) : []);

/** Follows `replaced-by`; a loop that somebody wrote into the links ends at the patient it began with. */
function survivorOf(patient: Draft, drafts: Drafts): Draft {
  let at = patient;
  const seen = new Set([patient]);
  for (;;) {
    const next = replacementOf(at, drafts);
    if (next === undefined) return at;
    if (seen.has(next)) return patient;
    seen.add(next);
    at = next;
  }
}

function replacementOf({ content }: Draft, drafts: Drafts): Draft | undefined {
  const link = items(content['link']).find((item) => item['type'] === 'replaced-by');
  const other = link?.['other'];
  const reference = isJsonObject(other) ? other['reference'] : undefined;
  const id = typeof reference === 'string' ? /^Patient\/([^/]+)$/.exec(reference)?.[1] : undefined;
  return id === undefined ? undefined : drafts.byId('Patient', id);
}

const link = (type: 'replaced-by' | 'replaces', patient: Draft): Contribution => ({
  ...fixed('link', [{ other: { reference: `Patient/${patient.id}` }, type }]),
  adds: true,
});

/** The patient of MRG gives all it has to the survivor (HL7 v2.5.1 §3.3.40 and others). Repeated or inverted: nothing. */
function mergeAway(mrg: Segment, survivor: Draft, mapping: PatientMapping): void {
  const { drafts, context, merges } = mapping;
  const direct = candidates(mrg, 1, mapping);
  if (direct.length === 0) {
    unknown(mrg, 1, 'W', context);
    const stub = drafts.create('Patient', mapping.newId());
    drafts.apply(stub, [fixed('active', false), ...contributionsOf(mrg, MRG, context), link('replaced-by', survivor)]);
    drafts.apply(survivor, [link('replaces', stub)]);
    return;
  }
  const others = direct.filter((patient) => survivorOf(patient, drafts) !== survivor);
  const [other, ...more] = others;
  if (other === undefined) {
    const message = 'the patient of MRG-1 is, or has been merged into, the patient of PID-3: nothing was changed';
    note(context, 'W', '205', at(mrg, 1), message, 'already-merged');
  } else if (more.length > 0) {
    ambiguous(mrg, 1, context);
  } else if (survivorOf(other, drafts) !== other) {
    const message = 'the patient of MRG-1 has been merged into another patient than that of PID-3';
    note(context, 'E', '204', at(mrg, 1), message, 'merged-elsewhere');
  } else {
    drafts.apply(other, [fixed('active', false), link('replaced-by', survivor)]);
    drafts.apply(survivor, [link('replaces', other)]);
    merges.push({ from: other.id, to: survivor.id });
  }
}

function at(segment: Segment, field: 1 | 3): string {
  const part = identifyingPart(segment, field);
  return part === undefined ? `${segment.id}^${segment.sequence}^${field}` : locatePart(part, 1);
}

/** The type of the identifier, which is no patient data, so that the sender knows which of several is meant. */
function kind(segment: Segment, field: 1 | 3): string {
  const type = textOf(identifyingPart(segment, field), 5);
  return type === undefined || !/^[A-Z]{1,5}$/.test(type) ? 'the identifier' : `the identifier of type ${type}`;
}

function ambiguous(segment: Segment, field: 1 | 3, context: MapContext): void {
  const message = `${kind(segment, field)} in ${segment.id}-${field} matches more than one patient`;
  note(context, 'E', '205', at(segment, field), message, 'ambiguous-patient');
}

function unknown(segment: Segment, field: 1 | 3, severity: 'E' | 'W', context: MapContext): void {
  const message = `${kind(segment, field)} in ${segment.id}-${field} matches no patient`;
  note(context, severity, '204', at(segment, field), message, 'unknown-patient');
}
