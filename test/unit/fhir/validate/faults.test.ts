/** Every fault is found where it is, alone, and says nothing of the resource's content. */
import { describe, expect, test } from 'vitest';

import { MAX_ISSUES } from '../../../../edge/fhir/validate/findings.ts';
import { validate } from '../../../../edge/fhir/validate/validate.ts';
import { JsonNumber, parseJson, type Json } from '../../../../shared/json.ts';
import { FAULTS } from './faults/all.ts';
import { VALID } from './faults/valid.ts';

describe('one fault', () => {
  test('at least a hundred faults are tested', () => {
    expect(FAULTS.length).toBeGreaterThanOrEqual(100);
  });

  test.each(Object.entries(VALID))('the %s the faults are made of is valid', (_, resource) => {
    expect(validate(resource, resource.resourceType)).toEqual([]);
  });

  test.each(FAULTS)('%s', (_, resource, at, code) => {
    const issues = validate(resource);
    expect(issues.map((issue) => [issue.at, issue.code])).toEqual([[at, code]]);
  });
});

describe('valid resources', () => {
  const OBSERVATION = '"resourceType":"Observation","status":"final","code":{"text":"a"}';
  const ALLOWED: readonly (readonly [string, string])[] = [
    ['decimals of any digits', `{${OBSERVATION},"valueQuantity":{"value":1.50}}`],
    ['a decimal of 18 digits', `{${OBSERVATION},"valueQuantity":{"value":-0.123456789012345678}}`],
    ['an exponent', `{${OBSERVATION},"valueQuantity":{"value":1E-2}}`],
    ['the largest integer', `{${OBSERVATION},"valueInteger":2147483647}`],
    ['the least integer', `{${OBSERVATION},"valueInteger":-2147483648}`],
    ['a leap second', `{${OBSERVATION},"effectiveDateTime":"2016-12-31T23:59:60Z"}`],
    ['29 February', `{${OBSERVATION},"effectiveDateTime":"2000-02-29"}`],
    ['any fraction of a second', `{${OBSERVATION},"issued":"2001-02-03T04:05:06.123456789-14:00"}`],
    [
      'no value but its absence',
      `{${OBSERVATION},"_valueString":{"extension":[{"url":"http://a","valueCode":"unknown"}]}}`,
    ],
    [
      'a required element by its extension',
      '{"resourceType":"Observation","_status":{"extension":[{"url":"http://a","valueCode":"unknown"}]},"code":{"text":"a"}}',
    ],
    [
      'arrays with aligned nulls',
      '{"resourceType":"Patient","name":[{"given":[null,"b"],"_given":[{"extension":[{"url":"http://a","valueCode":"unknown"}]},null]}]}',
    ],
    [
      'a sibling array that is shorter',
      '{"resourceType":"Patient","name":[{"given":["a","b"],"_given":[{"id":"x"}]}]}',
    ],
    [
      'a period that begins as it ends',
      `{${OBSERVATION},"effectivePeriod":{"start":"2001-02-03T04:05:06+01:00","end":"2001-02-03"}}`,
    ],
    [
      'a range of units that differ',
      `{${OBSERVATION},"valueRange":{"low":{"value":2,"unit":"g"},"high":{"value":1,"unit":"kg"}}}`,
    ],
    ['a reference to any server', `{${OBSERVATION},"subject":{"reference":"https://example.org/fhir/r4/Patient/1"}}`],
    [
      'a reference whose type cannot be known',
      `{${OBSERVATION},"subject":{"reference":"urn:uuid:c757873d-ec9a-4326-a141-556f43239520"}}`,
    ],
    ['a conditional reference', `{${OBSERVATION},"subject":{"reference":"Patient?identifier=http://a|b"}}`],
    [
      'a stated type by its canonical',
      `{${OBSERVATION},"subject":{"type":"http://hl7.org/fhir/StructureDefinition/Patient","display":"a"}}`,
    ],
    [
      'a contained resource that refers to its container',
      `{${OBSERVATION},"contained":[{"resourceType":"Procedure","id":"p","status":"completed","subject":{"display":"a"},"reasonReference":[{"reference":"#"}]}]}`,
    ],
    [
      'a contained resource beyond the table',
      `{${OBSERVATION},"focus":[{"reference":"#c"}],"contained":[{"resourceType":"Claim","id":"c","item":[{"sequence":1}]}]}`,
    ],
    [
      'base64 in lines',
      '{"resourceType":"Patient","photo":[{"contentType":"text/plain; charset=utf-8","data":"QUJD\\r\\nQUI="}]}',
    ],
    [
      'narrative with an image only',
      '{"resourceType":"Patient","text":{"status":"generated","div":"<div xmlns=\\"http://www.w3.org/1999/xhtml\\"><img src=\\"data:image/png;base64,AA==\\" alt=\\"a\\"/></div>"}}',
    ],
    [
      'narrative with references and comments',
      '{"resourceType":"Patient","text":{"status":"generated","div":"<div xmlns=\'http://www.w3.org/1999/xhtml\'><!-- b -->a &lt; &#160;&#xA0; &amp;<br/><a href=\\"#x\\">c</a ></div>"}}',
    ],
  ];
  test.each(ALLOWED)('%s', (_, text) => {
    expect(validate(parseJson(text))).toEqual([]);
  });
});

describe('the list of faults', () => {
  test('lists all faults at once', () => {
    const resource: Json = {
      resourceType: 'Patient',
      gender: 'm',
      birthDate: 'x',
      name: [{ given: [1, 'b', ''] }],
      foo: 1,
    };
    expect(validate(resource).map(({ at }) => at)).toEqual([
      'Patient.gender',
      'Patient.birthDate',
      'Patient.name[0].given[0]',
      'Patient.name[0].given[2]',
      'Patient.foo',
    ]);
  });

  test('is bounded', () => {
    const names: Json[] = Array.from({ length: 5000 }, () => ({ use: 'x' }));
    expect(validate({ resourceType: 'Patient', name: names })).toHaveLength(MAX_ISSUES);
  });

  test('names the expected type', () => {
    const [issue] = validate({ resourceType: 'Observation' }, 'Patient');
    expect(issue).toEqual({ code: 'invalid', message: 'resourceType must be Patient, not Observation', at: 'Patient' });
  });

  test('never repeats a value', () => {
    const secret = 'Sjöström';
    const resource: Json = {
      resourceType: 'Patient',
      id: secret,
      gender: secret,
      birthDate: secret,
      active: secret,
      text: { status: secret, div: `<${secret}>` },
      managingOrganization: { reference: secret, type: secret },
      contained: [{ resourceType: secret, id: secret }],
      multipleBirthInteger: new JsonNumber('1.50'),
    };
    const said = JSON.stringify(validate(resource));
    expect(said).not.toContain(secret);
    expect(said).not.toContain('1.50');
  });

  test('does not alter the resource', () => {
    const resource = parseJson('{"resourceType":"Patient","name":[{"given":["a"]}],"multipleBirthInteger":1.0}');
    const before = structuredClone(resource);
    validate(resource);
    expect(structuredClone(resource)).toEqual(before);
  });
});
