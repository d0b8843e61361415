/** The data of a patient that shows whether two patient records are one person, and its comparison. */
import * as z from 'zod';

import { mayBeProvisional } from '../../store/provisional-name.ts';
import { fold } from '../../store/search/fold.ts';

const text = z.string();
/** A list of validated FHIR; anything else counts as absent. */
const listed = <T extends z.ZodType>(item: T) =>
  z
    .array(item.catch({} as never))
    .nullish()
    .catch(null);

const stored = z.object({
  name: listed(
    z.object({
      text: text.optional(),
      family: text.optional(),
      given: z.array(text.nullable()).optional(),
    }),
  ),
  birthDate: text.nullish().catch(null),
  gender: text.nullish().catch(null),
  identifier: listed(
    z.object({
      system: text.optional(),
      value: text.optional(),
      use: text.optional(),
      type: z.object({ coding: z.array(z.object({ code: text.optional() })).optional() }).optional(),
      assigner: z.object({ display: text.optional() }).optional(),
    }),
  ),
  telecom: listed(z.object({ value: text.optional() })),
  address: listed(
    z.object({
      text: text.optional(),
      line: z.array(text.nullable()).optional(),
      postalCode: text.optional(),
      city: text.optional(),
    }),
  ),
});

type Stored = z.infer<typeof stored>;

/** The members of a Patient that identify the person. @param content JSON; null if the Patient no longer exists */
export function readPerson(content: string | null): Stored {
  return stored.catch({} as Stored).parse(content === null ? {} : JSON.parse(content));
}

export const personItem = z.object({
  reference: text.meta({ description: '`Patient/…`' }),
  families: z.array(text).meta({ description: 'Family names; a name that is only text is here too.' }),
  givens: z.array(text).meta({ description: 'The given names of each name.' }),
  birthDate: text.nullable(),
  gender: text.nullable(),
  identifiers: z.array(z.object({ issuer: text.nullable(), value: text })),
  telecom: z.array(text),
  addresses: z.array(text),
});
export type Person = z.infer<typeof personItem>;

const isText = (value: string | null | undefined): value is string => typeof value === 'string' && value.trim() !== '';
const join = (parts: readonly (string | null | undefined)[], by: string): string => parts.filter(isText).join(by);

/** A patient as the list shows it. */
export function viewPerson(id: string, data: Stored): Person {
  const names = data.name ?? [];
  const distinct = (values: readonly (string | undefined)[]): string[] => [...new Set(values.filter(isText))];
  return {
    reference: `Patient/${id}`,
    families: distinct(
      names.map(({ text: full, family, given = [] }) => family ?? (join(given, ' ') === '' ? full : undefined)),
    ),
    givens: distinct(names.map(({ given = [] }) => join(given, ' '))),
    birthDate: data.birthDate ?? null,
    gender: data.gender ?? null,
    identifiers: (data.identifier ?? []).flatMap(({ system, value, assigner }) =>
      isText(value) ? [{ issuer: system ?? assigner?.display ?? null, value }] : [],
    ),
    telecom: (data.telecom ?? []).map(({ value }) => value).filter(isText),
    addresses: (data.address ?? [])
      .map(
        ({ text: full, line = [], postalCode, city }) => join([...line, join([postalCode, city], ' ')], ', ') || full,
      )
      .filter(isText),
  };
}

export const PERSON_PARTS = [
  'families',
  'givens',
  'birthDate',
  'gender',
  'addresses',
  'identifiers',
  'telecom',
] as const;
export type PersonPart = (typeof PERSON_PARTS)[number];

const NO_NAME = { family: undefined, given: undefined, text: undefined };

/** The folded values of a part. */
function valuesOf(person: Person, part: PersonPart): string[] {
  switch (part) {
    case 'birthDate':
    case 'gender':
      return [person[part]].filter(isText);
    case 'identifiers':
      return person.identifiers.map(({ value }) => value.trim());
    // Twins share provisional names, so these show nothing.
    case 'families':
      return person.families.filter((family) => !mayBeProvisional({ ...NO_NAME, family })).map(fold);
    case 'givens':
      return person.givens.filter((given) => !mayBeProvisional({ ...NO_NAME, given })).map(fold);
    case 'telecom':
    case 'addresses':
      return person[part].map(fold);
  }
}

/** Compares the parts that both patients have: some share a value, the others differ. */
export function compare([a, b]: readonly [Person, Person]): { agrees: PersonPart[]; differs: PersonPart[] } {
  const both = PERSON_PARTS.filter((part) => valuesOf(a, part).length > 0 && valuesOf(b, part).length > 0);
  const isShared = (part: PersonPart) => {
    const other = new Set(valuesOf(b, part));
    return valuesOf(a, part).some((value) => other.has(value));
  };
  return { agrees: both.filter(isShared), differs: both.filter((part) => !isShared(part)) };
}

/** The name of a list entry: family name, given names; '' without one. @param name the first name of a Patient */
export function listedName(name: unknown): string {
  const { families, givens } = viewPerson('', readPerson(JSON.stringify({ name: [name ?? {}] })));
  return [families[0], givens[0]].filter(Boolean).join(', ');
}
