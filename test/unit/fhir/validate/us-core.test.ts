/** The profiles of US Core: rules, and the same verdicts as HAPI's validator. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

import { claimedProfiles, profileFaults } from '../../../../edge/fhir/validate/profiles/profile.ts';
import { PROFILES, US_CORE } from '../../../../edge/fhir/validate/profiles/us-core.ts';
import { validate } from '../../../../edge/fhir/validate/validate.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../../../shared/json.ts';
import { usCoreMutants } from '../../../inputs/us-core-mutants.ts';
import { readObject } from '../../../stack/tools/exact-json.ts';
import { US_CORE_RESOURCES } from '../../../inputs/us-core-resources.ts';

const faultsOf = (resource: JsonObject) => profileFaults(claimedProfiles(resource), resource);
type Changes = Readonly<Record<string, unknown>>;
/** A valid resource of the profile, with changes; undefined removes a member. */
function changed(profile: string, changes: Changes): JsonObject {
  const found = US_CORE_RESOURCES.find((one) => claimedProfiles(one).includes(profile));
  if (found === undefined) throw new Error(profile);
  return readObject(JSON.stringify({ ...found, ...changes }));
}

test('each profile has a resource, which is valid', () => {
  const names = US_CORE_RESOURCES.map((resource) => {
    expect([...validate(resource), ...faultsOf(resource)]).toEqual([]);
    return claimedProfiles(resource);
  });
  expect(new Set(names.flat())).toEqual(new Set(Object.keys(PROFILES)));
});

/** Examples that break the profile of 6.1, with the fault. The reasons are in test/us-core-examples/README.md. */
const OF_OTHER_VERSIONS: Readonly<Record<string, string>> = {
  'source/examples/heart-rate.json': 'must be /min in us-core-heart-rate',
};
const EXAMPLES = readFileSync(new URL('../../../us-core-examples/examples.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => [line.split('"')[3] ?? '', line] as const);

test.each(EXAMPLES)("HL7's %s", (path, line) => {
  const example = parseJson(line);
  if (!isJsonObject(example)) throw new Error(path);
  const { profile, resource } = example;
  if (typeof profile !== 'string' || !isJsonObject(resource)) throw new Error(path);
  const found = [...validate(resource), ...profileFaults([profile], resource)].map(({ message }) => message);
  expect(found).toEqual([OF_OTHER_VERSIONS[path] ?? []].flat());
});

test('the verdicts are those of HAPI, which accepts a Coding with half of the code of a required binding', () => {
  const text = readFileSync(new URL('hapi/verdicts.json', import.meta.url), 'utf8');
  const verdicts = JSON.parse(text) as Readonly<Record<string, boolean>>;
  const mutants = usCoreMutants();
  expect(mutants.map(({ label }) => label)).toEqual(Object.keys(verdicts));
  expect(mutants.length).toBeGreaterThan(1000);
  const others = mutants.filter(({ label, resource }) => (faultsOf(resource).length === 0) !== verdicts[label]);
  expect(
    others.map(({ label }) => label.replaceAll(/\d+/g, '#')).filter((label, n, all) => all.indexOf(label) === n),
  ).toEqual([
    '# us-core-patient extension.#.extension.#.valueCoding.system removed',
    '# us-core-patient extension.#.extension.#.valueCoding.code removed',
  ]);
});

const ABSENT = { url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' };
const coding = (system: string, code: string): JsonObject => ({ coding: [{ system, code }] });

describe('a resource that other versions or ordinary senders make is valid', () => {
  test.each<[string, string, Changes]>([
    ['a name without parts, with its reason (7.0)', 'us-core-patient', { name: [{ extension: [ABSENT] }] }],
    ['one of two names is text only (6.1)', 'us-core-patient', { name: [{ family: 'Mori' }, { text: 'Ai' }] }],
    ['a family name without a value', 'us-core-patient', { name: [{ _family: { extension: [ABSENT] } }] }],
    ['a gender without a value', 'us-core-patient', { gender: undefined, _gender: { extension: [ABSENT] } }],
    ['another extension', 'us-core-patient', { extension: [{ url: 'urn:x', valueString: 'x' }] }],
    [
      'a local category first',
      'us-core-observation-lab',
      {
        category: [
          { text: 'chemistry' },
          coding('http://terminology.hl7.org/CodeSystem/observation-category', 'laboratory'),
        ],
      },
    ],
    ['a unit without a code', 'us-core-observation-lab', { valueQuantity: { value: 1, unit: 'pills' } }],
    [
      'a local code beside the one of LOINC',
      'us-core-bmi',
      { code: { coding: [{ code: 'BMI' }, { system: 'http://loinc.org', code: '39156-5' }] } },
    ],
    [
      'a vital sign over a period',
      'us-core-heart-rate',
      { effectiveDateTime: undefined, effectivePeriod: { start: '2024' } },
    ],
    [
      'pack years (7.0)',
      'us-core-smokingstatus',
      { valueCodeableConcept: undefined, valueQuantity: { value: 20, unit: 'packs' } },
    ],
    ['a procedure that was not done', 'us-core-procedure', { status: 'not-done', performedPeriod: undefined }],
    [
      'another version of the profile',
      'us-core-patient',
      { meta: { profile: [`${US_CORE}us-core-patient|3.1.1`] }, name: undefined },
    ],
  ])('%s', (_, profile, changes) => {
    expect(faultsOf(changed(profile, changes))).toEqual([]);
  });
});

describe('a fault has a place', () => {
  test.each<[string, string, Changes, string, RegExp]>([
    [
      'a reference to another type',
      'us-core-observation-lab',
      { subject: { reference: 'Device/d' } },
      'Observation.subject.reference',
      /must refer to Patient in us-core-observation-lab/,
    ],
    [
      'a required element',
      'us-core-patient',
      { gender: undefined },
      'Patient.gender',
      /is required by us-core-patient/,
    ],
    ['an element below', 'us-core-patient', { telecom: [{ value: '1' }] }, 'Patient.telecom[0].system', /is required/],
    [
      'a slice',
      'us-core-diagnosticreport-lab',
      { category: [{ text: 'LAB' }] },
      'DiagnosticReport.category',
      /v2-0074\|LAB is required/,
    ],
    [
      'a pattern',
      'us-core-bmi',
      { code: coding('http://loinc.org', '8302-2') },
      'Observation.code',
      /must have the coding http:\/\/loinc.org\|39156-5/,
    ],
    [
      'a unit',
      'us-core-bmi',
      { valueQuantity: { value: 1, unit: 'g', system: 'http://unitsofmeasure.org', code: 'g' } },
      'Observation.value.ofType(Quantity).code',
      /must be kg\/m2/,
    ],
    [
      'a type of a choice',
      'us-core-bmi',
      { valueQuantity: undefined, valueString: 'thin' },
      'Observation.value.ofType(string)',
      /must be Quantity/,
    ],
    [
      'an invariant',
      'us-core-documentreference',
      { content: [{ attachment: { title: 'x' } }] },
      'DocumentReference.content[0].attachment',
      /needs url or data \(us-core-6 of/,
    ],
    [
      'a number of elements',
      'us-core-documentreference',
      { context: { encounter: [{ reference: 'Encounter/1' }, { reference: 'Encounter/2' }] } },
      'DocumentReference.context.encounter',
      /once only/,
    ],
    [
      'an extension',
      'us-core-patient',
      { extension: [{ url: `${US_CORE}us-core-birthsex`, valueCode: 'male' }] },
      'Patient.extension[0].value.ofType(code)',
      /must be M or F/,
    ],
    [
      'an extension in an extension',
      'us-core-patient',
      {
        extension: [
          { url: `${US_CORE}us-core-tribal-affiliation`, extension: [{ url: 'isEnrolled', valueBoolean: true }] },
        ],
      },
      'Patient.extension[0].extension',
      /URL tribalAffiliation is required/,
    ],
    [
      'an extension of another type',
      'us-core-procedure',
      { extension: [{ url: `${US_CORE}us-core-birthsex`, valueCode: 'F' }] },
      'Procedure.extension[0]',
      /is an extension of Patient/,
    ],
    [
      'a profile of another type',
      'us-core-procedure',
      { meta: { profile: [`${US_CORE}us-core-patient|6.1.0`] } },
      'Procedure.meta.profile',
      /is a profile of Patient/,
    ],
  ])('%s', (_, profile, changes, at, message) => {
    expect(faultsOf(changed(profile, changes))).toEqual([
      expect.objectContaining({ at, message: expect.stringMatching(message) }),
    ]);
  });
});

test('any shape is checked without a bug, and a claim of many profiles is one', () => {
  const odd: JsonObject = {
    resourceType: 'Observation',
    meta: { profile: [...Object.keys(PROFILES), ...Object.keys(PROFILES)].map((name) => US_CORE + name) },
    category: 7,
    code: [null, { coding: { code: 1 } }],
    component: [null, 3, { code: 'x' }, { valueQuantity: [] }],
    valueQuantity: 'x',
    extension: [null, { url: 1 }, { url: `${US_CORE}us-core-race`, extension: 5 }],
  };
  expect(faultsOf(odd).length).toBeGreaterThan(20);
});
