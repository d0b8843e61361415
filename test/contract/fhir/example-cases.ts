/** Nothing is lost: every R4 example of the seven types is returned as it was sent, digit for digit. */
import { expect, test } from 'vitest';

import { readExampleTexts } from '../../inputs/fhir-examples.ts';
import { everyNth, sized } from '../../stack/tools/size.ts';
import { isJsonObject, type JsonObject, readObject } from '../../stack/tools/exact-json.ts';
import { expectOutcome, patient, type Subject, TYPES } from './subject.ts';

/** Invalid by R4 itself (test/unit/fhir/validate/examples.test.ts says why). */
const INVALID = ['Observation-clinical-gender.json'];

/** Every number of a resource as it was written, in order. */
const numbersOf = (resource: JsonObject): readonly string[] =>
  JSON.stringify(resource)
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
    .match(/-?\d[\d.eE+-]*/g) ?? [];

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
    const examples = everyNth(3, readExampleTexts(TYPES));
    expect(examples.length).toBeGreaterThan(sized(30, 100));
    let numbers = 0;
    for (const { file, text } of examples) {
      const { id: _, ...sent } = withPatient(readObject(text), id);
      const path = `/${file.split('-')[0]}`;
      const made = await subject().call('POST', path, { body: JSON.stringify(sent), token });
      if (INVALID.includes(file)) {
        expectOutcome(made, 400, 'value');
        continue;
      }
      expect(made.status, `${file} ${made.text}`).toBe(201);
      const read = await subject().call('GET', `${path}/${made.body['id']}`, { token });
      expect(read.text).toBe(made.text);
      const got = readObject(read.text);
      expect(numbersOf(got), file).toEqual(numbersOf(sent));
      numbers += numbersOf(got).length;
      const { id: __, meta, ...content } = got;
      const { versionId: _v, lastUpdated: _l, ...kept } = meta as JsonObject;
      const { meta: sentMeta, ...sentContent } = sent;
      expect(content, file).toEqual(sentContent);
      const { versionId: _sv, lastUpdated: _sl, ...sentKept } = (sentMeta ?? {}) as JsonObject;
      expect(kept, file).toEqual(sentKept);
    }
    expect(numbers).toBeGreaterThan(sized(20, 100));
  });
}
