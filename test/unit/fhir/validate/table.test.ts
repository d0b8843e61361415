/** The table is what the generator makes, complete in its invariants, and small. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';

import { CARRIED, generateTable } from '../../../../edge/fhir/validate/build/generate.ts';
import { INVARIANTS } from '../../../../edge/fhir/validate/invariants.ts';
import { PRIMITIVES } from '../../../../edge/fhir/validate/primitives.ts';
import { readStructures, type StructureDefinition } from '../../../../edge/fhir/validate/build/structures.ts';
import { TYPES, VALUE_SETS } from '../../../../edge/fhir/validate/table.generated.ts';
import { RESOURCE_TYPES } from '../../../../shared/resource-type.ts';

const TABLE = new URL('../../../../edge/fhir/validate/table.generated.ts', import.meta.url);
const VALIDATE = fileURLToPath(new URL('../../../../edge/fhir/validate/validate.ts', import.meta.url));
const MAX_BUNDLE_BYTES = 25_000;
/** Checked with the narrative's XHTML, not as a separate rule. */
const IN_XHTML = ['txt-1', 'txt-2'];

let structures: ReadonlyMap<string, StructureDefinition>;
beforeAll(() => {
  structures = readStructures();
});

/** Names of all types that these reach by their elements, by profile where that is a constrained Quantity. */
function reach(roots: readonly string[]): string[] {
  const reached = new Set(roots);
  for (const name of reached) {
    for (const { type } of structures.get(name)?.snapshot.element ?? []) {
      for (const { code, profile } of type) {
        if (profile.includes('http://hl7.org/fhir/StructureDefinition/SimpleQuantity')) reached.add('SimpleQuantity');
        if (structures.has(code)) reached.add(code);
      }
    }
  }
  return [...reached];
}

describe('table.generated.ts', () => {
  test('equals the output of generate.ts', () => {
    expect(readFileSync(TABLE, 'utf8').trimEnd()).toBe(generateTable().trimEnd());
  });

  test('has every type that a resource uses', () => {
    const missing = reach(RESOURCE_TYPES).filter((name) => TYPES[name] === undefined && PRIMITIVES[name] === undefined);
    expect(missing).toEqual([]);
  });

  test('has every required element of the seven types', () => {
    for (const name of RESOURCE_TYPES) {
      const required = structures
        .get(name)
        ?.snapshot.element.filter(({ path, min }) => min > 0 && path.split('.').length === 2);
      for (const { path } of required ?? []) {
        expect(TYPES[name], path).toMatch(new RegExp(` ${path.split('.')[1]?.replace(/[[\]]/g, '\\$&')}[!+]`));
      }
    }
  });

  test('has codes for every value set except the media types', () => {
    expect(Object.keys(VALUE_SETS).filter((name) => VALUE_SETS[name] === '')).toEqual(['mimetypes']);
  });

  test('and the walker are under 25 kB gzip in a bundle', async () => {
    const { outputFiles } = await build({
      entryPoints: [VALIDATE],
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
    });
    expect(gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length).toBeLessThan(MAX_BUNDLE_BYTES);
  });
});

describe('invariants of severity error', () => {
  test('are exactly the implemented ones', () => {
    const keys = new Set<string>();
    for (const name of reach([...RESOURCE_TYPES, ...CARRIED])) {
      for (const { constraint } of structures.get(name)?.snapshot.element ?? []) {
        for (const { key, severity } of constraint) if (severity === 'error') keys.add(key);
      }
    }
    const done = [...Object.keys(INVARIANTS), ...IN_XHTML];
    expect(done.toSorted()).toEqual([...keys].toSorted());
  });

  test('all hang on a type of the table', () => {
    const hung = new Set(
      Object.values(TYPES).flatMap((line) => line.split(' ').filter((part) => part.startsWith('#'))),
    );
    expect([...hung].toSorted()).toEqual(
      Object.keys(INVARIANTS)
        .map((id) => `#${id}`)
        .toSorted(),
    );
  });
});
