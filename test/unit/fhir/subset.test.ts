/** Parts of a resource, against R4's own marks (Σ and ?! of the resource pages). */
import { expect, test } from 'vitest';

import { subset } from '../../../edge/fhir/subset.ts';
import type { JsonObject } from '../../../shared/json.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';

const attachment = { contentType: 'application/pdf', data: 'JVBERg==', title: 'Discharge letter' };
const document: JsonObject = {
  resourceType: 'DocumentReference',
  id: 'a',
  meta: { versionId: '1', tag: [{ code: 'mine' }] },
  text: { status: 'generated', div: '<div>x</div>' },
  extension: [{ url: 'urn:x', valueString: 'y' }],
  modifierExtension: [{ url: 'urn:not', valueBoolean: true }],
  status: 'current',
  date: '2026-01-02T03:04:05Z',
  content: [{ attachment }],
  context: { event: [{ text: 'visit' }], facilityType: { text: 'ward' } },
};

const keys = (resource: JsonObject): string => Object.keys(resource).toSorted().join(' ');

test('a summary omits large values inside the elements that it keeps', () => {
  const part = subset('DocumentReference', document, 'true');
  expect(keys(part)).toBe('content context date id meta modifierExtension resourceType status');
  expect(part['content']).toEqual([{ attachment: { contentType: 'application/pdf', title: 'Discharge letter' } }]);
  expect(part['meta']).toMatchObject({ versionId: '1', tag: [{ code: 'mine' }, { code: 'SUBSETTED' }] });
});

test('text, data and elements keep the elements that change the meaning of others', () => {
  expect(keys(subset('DocumentReference', document, 'text'))).toBe(
    'content id meta modifierExtension resourceType status text',
  );
  expect(subset('DocumentReference', document, 'data')).not.toHaveProperty('text');
  expect(subset('DocumentReference', document, 'data')['content']).toEqual([{ attachment }]);
  expect(keys(subset('DocumentReference', document, ['date']))).toBe(
    'content date id meta modifierExtension resourceType status',
  );
});

test.each<[ResourceType, JsonObject]>([
  ['Patient', { active: false, deceasedBoolean: true, link: [{ other: {}, type: 'replaced-by' }] }],
  ['Condition', { clinicalStatus: {}, verificationStatus: {} }],
  ['AllergyIntolerance', { clinicalStatus: {}, verificationStatus: {} }],
  ['Observation', { status: 'entered-in-error' }],
  ['Procedure', { status: 'not-done' }],
  ['DiagnosticReport', { status: 'final' }],
  ['DocumentReference', { status: 'superseded' }],
])('each part of a %s keeps modifiers', (type, modifiers) => {
  const complete: JsonObject = { resourceType: type, implicitRules: 'urn:r', ...modifiers };
  for (const part of ['true', 'text', 'data', ['meta']] as const) {
    expect(subset(type, complete, part)).toMatchObject({ implicitRules: 'urn:r', ...modifiers });
  }
});

test('a primitive keeps its extensions', () => {
  const unknown = { extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason' }] };
  const patient: JsonObject = { resourceType: 'Patient', _birthDate: unknown, contact: [{ name: { family: 'A' } }] };
  expect(subset('Patient', patient, 'true')).toMatchObject({ _birthDate: unknown });
  expect(subset('Patient', patient, 'true')).not.toHaveProperty('contact');
});
