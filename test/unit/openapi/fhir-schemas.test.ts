/**
 * The schemas of the reference against the validator: every accepted resource fits them, and their size suits a page.
 */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { validate } from '../../../edge/fhir/validate/validate.ts';
import { EXAMPLES } from '../../../edge/openapi/fhir-examples.ts';
import { fhirSchemas } from '../../../edge/openapi/fhir-schemas.ts';
import { printJson } from '../../../shared/json.ts';
import { ALL_RESOURCE_TYPES, type ResourceType } from '../../../shared/resource-type.ts';
import { readExamples } from '../../inputs/fhir-examples.ts';

const schemas = fhirSchemas(ALL_RESOURCE_TYPES);
const checkOf = (type: ResourceType): z.ZodType => {
  const text = JSON.stringify({ $ref: `#/$defs/${type}`, $defs: schemas }).replaceAll(
    '#/components/schemas/',
    '#/$defs/',
  );
  return z.fromJSONSchema(JSON.parse(text) as never);
};
const checks = Object.fromEntries(ALL_RESOURCE_TYPES.map((type) => [type, checkOf(type)]));
const problemsOf = (type: ResourceType, resource: unknown): string[] =>
  checks[type]?.safeParse(resource).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

describe.each(ALL_RESOURCE_TYPES)('%s', (type) => {
  test('R4’s examples that the validator accepts fit the schema', () => {
    const accepted = readExamples([type]).filter(({ resource }) => validate(resource).length === 0);
    expect(accepted.length).toBeGreaterThan(0);
    for (const { file, resource } of accepted) {
      expect([file, problemsOf(type, JSON.parse(printJson(resource)))]).toEqual([file, []]);
    }
  });

  test('accepts its example and rejects typical faults', () => {
    const example = { ...EXAMPLES[type] };
    expect(problemsOf(type, example)).toEqual([]);
    const list = type === 'Provenance' ? 'target' : 'identifier';
    expect(problemsOf(type, { ...example, resourceType: 'Person' })).not.toEqual([]);
    expect(problemsOf(type, { ...example, language: ' en' })).not.toEqual([]);
    expect(problemsOf(type, { ...example, [list]: { value: 'not a list' } })).not.toEqual([]);
    expect(problemsOf(type, { ...example, meta: { lastUpdated: '2026-01-01' } })).not.toEqual([]);
  });

  test('unfolding ends soon', () => {
    const size = (name: string, above: readonly string[]): number => {
      expect(above, 'a circle').not.toContain(name);
      const refs = [...JSON.stringify(schemas[name]).matchAll(/#\/components\/schemas\/([\w.]+)/g)];
      return 1 + refs.reduce((sum, [, inner = '']) => sum + size(inner, [...above, name]), 0);
    };
    expect(size(type, [])).toBeLessThan(4000);
  });
});

test('has the codes and formats of the validator, such as four genders and a date of birth', () => {
  expect(schemas['Patient']).toMatchObject({
    properties: {
      gender: { enum: ['male', 'female', 'other', 'unknown'] },
      birthDate: { $ref: '#/components/schemas/date' },
      managingOrganization: { description: 'To Organization.' },
    },
  });
  expect(schemas['Observation']).toMatchObject({ required: ['resourceType', 'status', 'code'] });
  expect(new RegExp(String(schemas['date']?.['pattern'])).test('1970-12')).toBe(true);
  expect(new RegExp(String(schemas['date']?.['pattern'])).test('12.12.1970')).toBe(false);
});
