/** Warnings for codes that HL7's systems do not have, with their place, and only for systems in the table. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { generateCodeSystems } from '../../../../edge/fhir/validate/build/generate-code-systems.ts';
import { CODE_SYSTEMS } from '../../../../edge/fhir/validate/code-systems.generated.ts';
import { unknownCodes } from '../../../../edge/fhir/validate/unknown-codes.ts';
import { isResourceType, RESOURCE_TYPES } from '../../../../shared/resource-type.ts';
import type { Json, JsonObject } from '../../../../shared/json.ts';
import { ROOT } from '../../../stack/services/build.ts';
import { readExamples } from '../../../inputs/fhir-examples.ts';

const HL7 = 'http://terminology.hl7.org/CodeSystem/';
const coding = (system: string, code: string): JsonObject => ({ system: HL7 + system, code });
const concept = (...codings: Json[]): JsonObject => ({ coding: codings });
const observation = (more: JsonObject): JsonObject => ({ resourceType: 'Observation', ...more });
const placesOf = (resource: JsonObject): (string | undefined)[] =>
  unknownCodes('Observation', resource).map(({ at }) => at);

test('the table is the output of its generator, and has the documented systems of HL7 only', () => {
  const file = new URL('../../../../edge/fhir/validate/code-systems.generated.ts', import.meta.url);
  expect(readFileSync(file, 'utf8').trimEnd()).toBe(generateCodeSystems().trimEnd());
  const page = readFileSync(join(ROOT, 'edge', 'docs', 'behaviour.md'), 'utf8');
  for (const url of Object.keys(CODE_SYSTEMS)) {
    expect(url.startsWith(HL7), url).toBe(true);
    expect(page, url).toContain(`\`${url.slice(HL7.length)}\``);
  }
});

test('R4’s examples have no unknown code', () => {
  for (const { file, resource } of readExamples(RESOURCE_TYPES)) {
    const { resourceType: type } = resource;
    expect([file, isResourceType(type) ? unknownCodes(type, resource) : null]).toEqual([file, []]);
  }
});

describe('reports a code that its system does not have', () => {
  test.each<[string, JsonObject, string]>([
    ['in an element', { category: [concept(coding('observation-category', 'lab'))] }, 'category[0].coding[0].code'],
    [
      'beside a known code',
      {
        category: [concept(coding('observation-category', 'laboratory'), coding('observation-category', 'Laboratory'))],
      },
      'category[0].coding[1].code',
    ],
    [
      'in a choice',
      { valueCodeableConcept: concept(coding('v3-NullFlavor', 'X')) },
      'value.ofType(CodeableConcept).coding[0].code',
    ],
    ['in meta', { meta: { security: [coding('v3-Confidentiality', 'SECRET')] } }, 'meta.security[0].code'],
    [
      'in an extension',
      { extension: [{ url: 'urn:x', valueCoding: coding('v2-0203', 'XYZ') }] },
      'extension[0].value.ofType(Coding).code',
    ],
    [
      'in an extension of a primitive',
      { status: 'final', _status: { extension: [{ url: 'urn:x', valueCoding: coding('v2-0203', 'XYZ') }] } },
      'status.extension[0].value.ofType(Coding).code',
    ],
    [
      'in a contained resource',
      { contained: [{ resourceType: 'Patient', maritalStatus: concept(coding('v3-MaritalStatus', 'Q')) }] },
      'contained[0].maritalStatus.coding[0].code',
    ],
  ])('%s', (_, more, place) => {
    expect(placesOf(observation(more))).toEqual([`Observation.${place}`]);
  });

  test('is reported by its system, never by the sent code', () => {
    const [issue] = unknownCodes(
      'Observation',
      observation({ category: [concept(coding('observation-category', 'Jane Doe'))] }),
    );
    expect(issue).toMatchObject({
      code: 'code-invalid',
      message: expect.stringContaining(`${HL7}observation-category`),
    });
    expect(issue?.message).not.toContain('Jane');
  });
});

test.each<[string, JsonObject]>([
  ['a code that there is', concept(coding('observation-category', 'vital-signs'))],
  ['a code below another', concept(coding('v3-ActReason', 'ACCREQNA'))],
  ['another case in a system that is not case-sensitive', concept(coding('v2-0203', 'mr'))],
  ['a system of others', concept({ system: 'http://loinc.org', code: 'no-such-code' })],
  ['a system of HL7 that no element here is bound to', concept(coding('v2-0001', 'no-such-code'))],
  ['a local system, whose name is like a member of every object', concept({ system: 'constructor', code: 'x' })],
  ['a code without a system', concept({ code: 'lab' })],
  ['a system without a code', concept({ system: `${HL7}observation-category`, display: 'lab' })],
  ['a text alone', { text: 'lab' }],
  ['a value that is not a coding', { coding: ['lab', 7, null, { system: 1, code: 2 }] }],
])('nothing is said of %s', (_, category) => {
  expect(placesOf(observation({ category: [category] }))).toEqual([]);
});

test('ignores quantities, and ends in a resource of unbounded depth', () => {
  expect(
    placesOf(observation({ valueQuantity: { value: 1, system: `${HL7}observation-category`, code: 'x' } })),
  ).toEqual([]);
  let extension: JsonObject = { url: 'urn:x', valueCoding: coding('v2-0203', 'XYZ') };
  for (let depth = 0; depth < 500; depth += 1) extension = { url: 'urn:x', extension: [extension] };
  expect(placesOf(observation({ extension: [extension] })).length).toBeLessThanOrEqual(1);
});
