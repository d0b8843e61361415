/** Validation of any JSON ends with printable issues, and never throws. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { MAX_ISSUES } from '../../../../edge/fhir/validate/findings.ts';
import { PRIMITIVES } from '../../../../edge/fhir/validate/primitives.ts';
import { validate } from '../../../../edge/fhir/validate/validate.ts';
import { checkXhtml } from '../../../../edge/fhir/validate/xhtml.ts';
import { isJsonObject, parseJson, printJson, type Json } from '../../../../shared/json.ts';
import { readExamples } from '../../../inputs/fhir-examples.ts';
import { mutate, mutation } from '../../../inputs/fhir-mutations.ts';
import { RESOURCE_TYPES } from '../../../../shared/resource-type.ts';
import { inputs } from '../../../stack/tools/size.ts';

/** R4 IssueType codes that validation uses. */
const CODES = new Set(['structure', 'required', 'value', 'invariant', 'code-invalid', 'invalid', 'not-supported']);

function expectShowable(resource: Json): void {
  const issues = validate(resource);
  expect(issues.length).toBeLessThanOrEqual(MAX_ISSUES);
  for (const { code, message, at } of issues) {
    expect(CODES).toContain(code);
    expect(message).not.toBe('');
    expect(at).toMatch(
      /^[A-Z][A-Za-z]+(?:\.(?:ofType\([A-Za-z0-9]+\)|[A-Za-z_][A-Za-z0-9_]*|`(?:[^`\\]|\\.)*`)|\[\d+\])*$/,
    );
  }
}

describe('never throws', () => {
  test('on any JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => expectShowable(JSON.parse(text))),
      { numRuns: inputs(300) },
    );
  });

  test('on any members of a resource', () => {
    const type = fc.constantFrom(...RESOURCE_TYPES);
    fc.assert(
      fc.property(type, fc.dictionary(fc.string(), fc.jsonValue()), (resourceType, members) => {
        expectShowable(parseJson(JSON.stringify({ ...members, resourceType })));
      }),
      { numRuns: inputs(300) },
    );
  });

  test('on examples altered in several places', () => {
    const texts = readExamples(RESOURCE_TYPES)
      .map(({ resource }) => printJson(resource))
      .filter((text) => text.length < 20_000);
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(mutation, { minLength: 1, maxLength: 6 }), (text, changes) => {
        const altered = parseJson(text);
        for (const change of changes) mutate(altered, change);
        expectShowable(altered);
      }),
      { numRuns: inputs(500) },
    );
  });

  test('on values deeper than the reader accepts', () => {
    let value: Json = { url: 'http://example.org', valueBoolean: true };
    for (let level = 0; level < 20_000; level += 1) value = { url: 'http://example.org', extension: [value] };
    expectShowable({ resourceType: 'Patient', extension: [value] });
    let claim: Json = ['x'];
    for (let level = 0; level < 20_000; level += 1) claim = { a: claim };
    expectShowable({ resourceType: 'Patient', contained: [{ resourceType: 'Claim', id: 'c', item: claim }] });
    expectShowable({
      resourceType: 'Observation',
      code: { coding: [claim] },
      component: [{ code: { coding: [claim] } }],
    });
  });

  // A linear validation takes seconds in all. A quadratic one takes minutes for each value and times out.
  test('on long values, in time that grows with their length', () => {
    const long = 1_000_000;
    const fillings = [
      'a',
      '/',
      'A/',
      '<',
      '<div>',
      '&amp;',
      '&',
      '=',
      ' ',
      'AAAA',
      '-',
      '.1',
      '\u00a0',
      '<b x="">',
      '#',
    ];
    for (const { json, check } of Object.values(PRIMITIVES)) {
      if (json !== 'string') continue;
      for (const filling of fillings) {
        const text = filling.repeat(long / filling.length);
        check(text);
        check(`<div xmlns="http://www.w3.org/1999/xhtml">${text}</div>`);
      }
    }
    const many = (letter: string): Json => Array.from({ length: 20_000 }, (_, i) => ({ code: `${letter}${i}` }));
    const observation = { resourceType: 'Observation', status: 'final', valueString: 'a' };
    expect(
      validate({ ...observation, code: { coding: many('a') }, component: [{ code: { coding: many('b') } }] }),
    ).toEqual([]);
    for (const reference of ['http://', 'A/', 'http://A/']) {
      expectShowable({ resourceType: 'Patient', managingOrganization: { reference: reference.repeat(100_000) } });
    }
  });
});

describe('checkXhtml', () => {
  test('ends on any text', () => {
    const piece = fc.constantFrom(
      '<div xmlns="http://www.w3.org/1999/xhtml">',
      '</div>',
      '<p',
      '>',
      '/>',
      ' a="',
      '"',
      '<!--',
      '-->',
      '&',
      'x',
      ';',
      '<',
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(['string', 'undefined']).toContain(typeof checkXhtml(`<div${pieces.join('')}`));
      }),
    );
  });
});

test('a resource without faults stays without when its members change places', () => {
  const texts = readExamples(RESOURCE_TYPES).map(({ resource }) => printJson(resource));
  fc.assert(
    fc.property(fc.constantFrom(...texts), (text) => {
      const resource = parseJson(text);
      const reversed = isJsonObject(resource) ? Object.fromEntries(Object.entries(resource).reverse()) : resource;
      expect(validate(reversed).length).toBe(validate(resource).length);
    }),
    { numRuns: inputs(100) },
  );
});
