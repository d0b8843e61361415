/** Who a patient is, for people who decide whether two records are one person: what is shown, and what agrees. */
import * as z from 'zod';

import { mayBeProvisional } from '../../store/provisional-name.ts';
import { fold } from '../../store/search/fold.ts';

const text = z.string();
/** What validated FHIR holds; anything else counts as absent. */
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
 * @param id of the Patient
 * @param content JSON of the members that tell who it is; null where there is no such Patient
 */
export function viewPerson(id: string, content: string | null): Person {
  const { data } = stored.safeParse(content === null ? {} : JSON.parse(content));
  return {
    reference: `Patient/${id}`,
    names: (data?.name ?? [])
      .map(({ text: whole, family, given = [] }) => join([family, join(given, ' ')], ', ') || (whole ?? ''))
      .filter(isText),
    birthDate: data?.birthDate ?? null,
    gender: data?.gender ?? null,
    identifiers: (data?.identifier ?? []).flatMap(({ system, value, assigner }) =>
      isText(value) ? [{ issuer: system ?? assigner?.display ?? null, value }] : [],
    ),
    telecom: (data?.telecom ?? []).map(({ value }) => value).filter(isText),
    addresses: (data?.address ?? [])
      .map(
        ({ text: whole, line = [], postalCode, city }) => join([...line, join([postalCode, city], ' ')], ', ') || whole,
      )
      .filter(isText),
  };
}

export const PERSON_PARTS = ['names', 'birthDate', 'gender', 'identifiers', 'telecom', 'addresses'] as const;
export type PersonPart = (typeof PERSON_PARTS)[number];

/** Twins agree in a provisional name. @param shown as `viewPerson` writes it */
function isOwnName(shown: string): boolean {
  const [family, given] = shown.split(/, (.*)/s);
  const name = given === undefined ? { family: undefined, given: shown } : { family, given };
  return !mayBeProvisional({ ...name, text: undefined });
}

/** What can be compared of a part, folded; none where it says nothing. */
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

/** The parts that both have: those with a value in common, and the others. */
export function compare([a, b]: readonly [Person, Person]): { agrees: PersonPart[]; differs: PersonPart[] } {
  const both = PERSON_PARTS.filter((part) => valuesOf(a, part).length > 0 && valuesOf(b, part).length > 0);
  const isShared = (part: PersonPart) => {
    const other = new Set(valuesOf(b, part));
    return valuesOf(a, part).some((value) => other.has(value));
  };
  return { agrees: both.filter(isShared), differs: both.filter((part) => !isShared(part)) };
}
