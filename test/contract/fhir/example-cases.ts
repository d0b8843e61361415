/** Nothing is lost: every R4 example of the seven types comes back as it was sent, digit for digit. */
import { expect, test } from 'vitest';

import { isJsonObject, type Json, JsonNumber, type JsonObject, parseJson, printJson } from '../../../shared/json.ts';
import { readExamples } from '../../unit/fhir/validate/examples.ts';
import { expectOutcome, patient, type Subject, TYPES } from './subject.ts';

/** Invalid by R4 itself (test/unit/fhir/validate/examples.test.ts says why). */
const INVALID = ['Observation-clinical-gender.json'];

/** Every number of a value as it was written, in order. */
function numbersOf(value: Json): string[] {
  if (typeof value === 'number') return [String(value)];
  if (value instanceof JsonNumber) return [value.source];
  if (Array.isArray(value)) return value.flatMap(numbersOf);
  return isJsonObject(value) ? Object.values(value).flatMap(numbersOf) : [];
}

/** The patient that the site has, in place of the specification's. */
function withPatient(resource: JsonObject, id: string): JsonObject {
  const changed = { ...resource };
  for (const element of ['subject', 'patient']) {
    const reference = changed[element];
    if (!isJsonObject(reference) || typeof reference['reference'] !== 'string') continue;
    if (reference['reference'].startsWith('Patient/')) changed[element] = { ...reference, reference: `Patient/${id}` };
  }
  return changed;
}

export function exampleCases(subject: () => Subject): void {
  test('every example is kept', async () => {
    const { token } = await subject().newSite();
    const id = await subject().create(patient('examples'), token);
    const examples = readExamples(TYPES);
    expect(examples.length).toBeGreaterThan(100);
    let numbers = 0;
    for (const { file, resource } of examples) {
      const { id: _, ...sent } = withPatient(resource, id);
      const path = `/${file.split('-')[0]}`;
      const made = await subject().call('POST', path, { body: printJson(sent), token });
      if (INVALID.includes(file)) {
        expectOutcome(made, 400, 'value');
        continue;
      }
      expect(made.status, `${file} ${made.text}`).toBe(201);
      const read = await subject().call('GET', `${path}/${made.body['id']}`, { token });
      expect(read.text).toBe(made.text);
      const got = parseJson(read.text);
      if (!isJsonObject(got) || !isJsonObject(got['meta'] ?? null)) throw new Error('no resource');
      expect(numbersOf(got), file).toEqual(numbersOf(sent));
      numbers += numbersOf(got).length;
      const { id: __, meta, ...content } = got;
      const { versionId: _v, lastUpdated: _l, ...kept } = meta as JsonObject;
      const { meta: sentMeta, ...sentContent } = sent;
      expect(content, file).toEqual(sentContent);
      const { versionId: _sv, lastUpdated: _sl, ...sentKept } = (sentMeta ?? {}) as JsonObject;
      expect(kept, file).toEqual(sentKept);
    }
    expect(numbers).toBeGreaterThan(100);
  });
}
