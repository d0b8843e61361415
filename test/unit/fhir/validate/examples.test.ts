/** The examples of the specification are valid, but for those that are not. */
import { describe, expect, test } from 'vitest';

import { CARRIED } from '../../../../edge/fhir/validate/build/generate.ts';
import { validate } from '../../../../edge/fhir/validate/validate.ts';
import { checkXhtml } from '../../../../edge/fhir/validate/xhtml.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../../shared/json.ts';
import { readExamples } from '../../../inputs/fhir-examples.ts';
import { isResourceType, RESOURCE_TYPES } from '../../../../shared/resource-type.ts';
import { everyNth, sized } from '../../../stack/tools/size.ts';

/** Examples that break their own specification, with the one place where they do and why. */
const INVALID: Readonly<Record<string, { at: string; why: string }>> = {
  'Observation-clinical-gender.json': {
    at: 'Observation.performer[0].reference',
    why: 'an Encounter performs, which Observation.performer does not allow',
  },
  'MedicationRequest-medrx0301.json': {
    at: 'Observation.contained[0].dispenseRequest.performer.reference',
    why: 'a Practitioner dispenses, where only an Organization may',
  },
};

describe('examples of the seven types', () => {
  const examples = readExamples(RESOURCE_TYPES);

  test('exist', () => {
    expect(examples).toHaveLength(127);
    expect(new Set(examples.map(({ resource }) => resource['resourceType'])).size).toBe(RESOURCE_TYPES.length);
  });

  test.each(everyNth(2, examples))('$file', ({ file, resource }) => {
    const places = validate(resource).map(({ at }) => at);
    expect(places).toEqual(file in INVALID ? [INVALID[file]?.at] : []);
  });
});

describe('resources of the seven types within the example Bundles', () => {
  test('are valid, all of them', () => {
    const entries = everyNth(2, readExamples(['Bundle'])).flatMap(({ file, resource }) => {
      const { entry } = resource;
      const resources = Array.isArray(entry) ? entry.map((item) => (isJsonObject(item) ? item['resource'] : null)) : [];
      return resources.flatMap((inner) => (isServed(inner) ? [{ file, inner }] : []));
    });
    expect(entries.length).toBeGreaterThan(sized(50, 150));
    for (const { file, inner } of entries) expect(validate(inner), file).toEqual([]);
  });

  function isServed(resource: Json | undefined): resource is JsonObject {
    if (!isJsonObject(resource)) return false;
    const { resourceType } = resource;
    return isResourceType(resourceType);
  }
});

describe('narratives of all the examples', () => {
  // Empty divs, which txt-2 forbids.
  const EMPTY = [
    'ActivityDefinition-blood-tubes-supply.json',
    'ActivityDefinition-heart-valve-replacement.json',
    'EventDefinition-example.json',
    'Questionnaire-zika-virus-exposure-assessment.json',
  ];

  /** Their narratives have many lengths, and an empty div. */
  const SAMPLED_TYPES = [...RESOURCE_TYPES, 'EventDefinition', 'Encounter', 'Questionnaire', 'Condition'];

  test('are valid, but for those that are empty', () => {
    const divs = readExamples(sized(SAMPLED_TYPES, undefined)).flatMap(({ file, resource: { text } }) => {
      const div = isJsonObject(text) ? text['div'] : undefined;
      return typeof div === 'string' ? [{ file, div }] : [];
    });
    expect(divs.length).toBeGreaterThan(sized(100, 3000));
    const read = new Set(divs.map(({ file }) => file));
    const refused = divs.filter(({ div }) => checkXhtml(div) !== undefined).map(({ file }) => file);
    expect(refused).toEqual(EMPTY.filter((file) => read.has(file)));
  });
});

describe('examples of the types they carry, contained in an Observation', () => {
  /** Without the elements that dom-2, dom-4 and dom-5 forbid in a contained resource. */
  function carry(resource: JsonObject): JsonObject {
    const { contained: _, meta, ...rest } = resource;
    const { security: _s, versionId: _v, lastUpdated: _l, ...kept } = isJsonObject(meta) ? meta : {};
    const carried = { ...rest, id: 'carried' };
    return Object.keys(kept).length === 0 ? carried : { ...carried, meta: kept };
  }

  test.each(everyNth(3, readExamples(CARRIED)))('$file', ({ file, resource }) => {
    const issues = validate({
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'a' },
      focus: [{ reference: '#carried' }],
      contained: [carry(resource)],
    });
    // The resources that the example itself contains are gone, and with them what its references name.
    const places = issues.filter(({ message }) => !message.includes('ref-1')).map(({ at }) => at);
    expect(places).toEqual(file in INVALID ? [INVALID[file]?.at] : []);
  });
});
