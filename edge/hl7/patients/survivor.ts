/** Links between merged patients (FHIR R4, Patient.link), and the survivor that they lead to. */
import { isJsonObject, type Json, type JsonObject } from '../../../shared/json.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { fixed, type Contribution } from '../precedence/contribution.ts';

/** Follows `replaced-by`. A loop of links ends at the patient that it began with. */
export function survivorOf(patient: Draft, drafts: Drafts): Draft {
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
  const id = replacementIdOf(content);
  return id === undefined ? undefined : drafts.byId('Patient', id);
}

/** The id in the first `replaced-by` of a Patient, as the column `resource.replaced_by` has it. */
export function replacementIdOf(patient: JsonObject): string | undefined {
  const link = itemsOf(patient['link']).find((item) => item['type'] === 'replaced-by');
  const other = link?.['other'];
  const reference = isJsonObject(other) ? other['reference'] : undefined;
  if (typeof reference !== 'string') return undefined;
  return /^Patient\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/_history\/[^/]+)?$/.exec(reference)?.[1];
}

export const link = (type: 'replaced-by' | 'replaces' | 'seealso', patient: Draft): Contribution => ({
  ...fixed('link', [{ other: { reference: `Patient/${patient.id}` }, type }]),
  adds: true,
});

/** The objects of a list in a stored resource. A FHIR client may have written other values into it. */
export const itemsOf = (list: Json | undefined): JsonObject[] => (Array.isArray(list) ? list.filter(isJsonObject) : []);
