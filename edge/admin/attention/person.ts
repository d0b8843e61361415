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
    z.object({ text: text.optional(), family: text.optional(), given: z.array(text.nullable()).optional() }),
  ),
  birthDate: text.nullish().catch(null),
  gender: text.nullish().catch(null),
  identifier: listed(
    z.object({
      system: text.optional(),
      value: text.optional(),
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

export const personItem = z.object({
  reference: text.meta({ description: '`Patient/…`' }),
  names: z.array(text),
  birthDate: text.nullable(),
  gender: text.nullable(),
  identifiers: z.array(z.object({ issuer: text.nullable(), value: text })),
  telecom: z.array(text),
  addresses: z.array(text),
});
export type Person = z.infer<typeof personItem>;

const isText = (value: string | null | undefined): value is string => typeof value === 'string' && value.trim() !== '';
const join = (parts: readonly (string | null | undefined)[], by: string): string => parts.filter(isText).join(by);

/**
 * @param content JSON of the Patient; null if the Patient no longer exists
 */
export function viewPerson(id: string, content: string | null): Person {
  const { data } = stored.safeParse(content === null ? {} : JSON.parse(content));
  return {
    reference: `Patient/${id}`,
    names: (data?.name ?? [])
      .map(({ text: full, family, given = [] }) => join([family, join(given, ' ')], ', ') || (full ?? ''))
      .filter(isText),
    birthDate: data?.birthDate ?? null,
    gender: data?.gender ?? null,
    identifiers: (data?.identifier ?? []).flatMap(({ system, value, assigner }) =>
      isText(value) ? [{ issuer: system ?? assigner?.display ?? null, value }] : [],
    ),
    telecom: (data?.telecom ?? []).map(({ value }) => value).filter(isText),
    addresses: (data?.address ?? [])
      .map(
        ({ text: full, line = [], postalCode, city }) => join([...line, join([postalCode, city], ' ')], ', ') || full,
      )
      .filter(isText),
  };
}

export const PERSON_PARTS = ['names', 'birthDate', 'gender', 'identifiers', 'telecom', 'addresses'] as const;
export type PersonPart = (typeof PERSON_PARTS)[number];

/** False for a provisional name, which twins share. @param shown as `viewPerson` prints it */
function isOwnName(shown: string): boolean {
  const [family, given] = shown.split(/, (.*)/s);
  const name = given === undefined ? { family: undefined, given: shown } : { family, given };
  return !mayBeProvisional({ ...name, text: undefined });
}

/** The folded values of a part. */
function valuesOf(person: Person, part: PersonPart): string[] {
  switch (part) {
    case 'birthDate':
    case 'gender':
      return [person[part]].filter(isText);
    case 'identifiers':
      return person.identifiers.map(({ value }) => value.trim());
    case 'names':
      return person.names.filter(isOwnName).map(fold);
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
