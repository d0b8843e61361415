/** Links between merged patients (FHIR R4, Patient.link), and the survivor that they lead to. */
import { isJsonObject, objectsOf, type Json, type JsonObject } from '../../../shared/json.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { fixed, type Contribution } from '../precedence/contribution.ts';

/** Follows `replaced-by`. A loop of links ends at the patient that it began with. */
export const survivorOf = (patient: Draft, drafts: Drafts): Draft => pathOfMerges(patient, drafts).at(-1) ?? patient;

/** The patient, the patient that it was merged into, and so on to the survivor. If the links are a loop, only the patient. */
export function pathOfMerges(patient: Draft, drafts: Drafts): readonly Draft[] {
  const path = new Set([patient]);
  for (let at = replacementOf(patient, drafts); at !== undefined; at = replacementOf(at, drafts)) {
    if (path.has(at)) return [patient];
    path.add(at);
  }
  return [...path];
}

function replacementOf({ content }: Draft, drafts: Drafts): Draft | undefined {
  const id = replacementIdOf(content);
  return id === undefined ? undefined : drafts.byId('Patient', id);
}

/** The id in the first `replaced-by` of a Patient, as the column `resource.replaced_by` has it. */
export function replacementIdOf(patient: JsonObject): string | undefined {
  const link = objectsOf(patient['link']).find((item) => item['type'] === 'replaced-by');
  const other = link?.['other'];
  const reference = isJsonObject(other) ? other['reference'] : undefined;
  if (typeof reference !== 'string') return undefined;
  return /^Patient\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/_history\/[^/]+)?$/.exec(reference)?.[1];
}

type LinkType = 'replaced-by' | 'replaces' | 'seealso';

export const link = (type: LinkType, patient: Draft): Contribution => ({
  ...fixed('link', [{ other: { reference: `Patient/${patient.id}` }, type }]),
  adds: true,
});

export const isLinked = (from: Draft, type: LinkType, to: Draft): boolean =>
  objectsOf(from.content['link']).some((item) => item['type'] === type && isTo(item['other'], to));

/** @returns true if there was such a link */
export function unlink(from: Draft, type: LinkType, to: Draft, drafts: Drafts): boolean {
  if (!isLinked(from, type, to)) return false;
  const { link: links, ...others } = from.content;
  const kept = objectsOf(links).filter((item) => item['type'] !== type || !isTo(item['other'], to));
  drafts.rewrite(from, kept.length === 0 ? others : { ...others, link: kept });
  return true;
}

const isTo = (other: Json | undefined, patient: Draft): boolean =>
  isJsonObject(other) && other['reference'] === `Patient/${patient.id}`;
