/**
 * `Patient/$match` for the people of families of which several have one name and one birth date. The generator knows whose data
 * are in each record.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { type Match, matchPatients } from '../../../../edge/hl7/match/match.ts';
import { personOf } from '../../../../edge/hl7/patients/found-patients.ts';
import { agree, fit } from '../../../../edge/hl7/patients/person.ts';
import { readTraits } from '../../../../edge/store/patient-identity.ts';
import { parseStored } from '../../../../edge/store/resource.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import {
  BORN,
  family,
  messagesOf,
  peopleByRecord,
  registrationOf,
  type Who,
  worldAfter,
} from '../../../inputs/hl7-families.ts';
import { SETTINGS } from '../../../inputs/hl7-mapped.ts';
import type { World } from '../../../inputs/hl7-world.ts';
import { seed, sized } from '../../../stack/tools/size.ts';

const PEOPLE = Object.keys(BORN) as Who[];
/** Two of three families have one name, so their parents and sons are namesakes with equal birth dates. */
const FAMILY_NAMES = ['Smith', 'Smith', 'Jones'];

/** The same messages of a family with another number. */
const numbered = (message: string, at: number): string =>
  message
    .replaceAll('Smith', FAMILY_NAMES[at] ?? 'Smith')
    .replaceAll(/\b(mother|father|junior|twin\d)-([12])/g, `$1-$2-${at}`)
    .replaceAll(/of-(mother|father|junior|twin\d)/g, `of-$1-${at}`);

const asked = fc.record({
  /** 0: without an own number. */
  own: fc.constantFrom(0, 1, 1, 1, 2),
  beside: fc.subarray(PEOPLE, { maxLength: 2 }),
  isFirst: fc.boolean(),
  authority: fc.constantFrom('system', 'system', 'system', 'assigner', 'none', 'other'),
  name: fc.constantFrom('usual', 'usual', 'usual', 'usual', 'usual', 'short', 'provisional', 'none'),
  birthDate: fc.constantFrom('usual', 'usual', 'usual', 'usual', 'mistyped', 'none'),
  hasSex: fc.boolean(),
});
type Asked = typeof asked extends fc.Arbitrary<infer Each> ? Each : never;

const AUTHORITIES = {
  system: { system: 'urn:example:hosp' },
  assigner: { assigner: { display: 'HOSP' } },
  none: {},
  other: { system: 'urn:example:elsewhere' },
} as const satisfies Readonly<Record<string, JsonObject>>;

function givenOf(who: Who, [first, second]: readonly [string, string]): readonly string[] {
  const [, ...twin] = (who === 'twin1' ? first : second).split('^');
  return who === 'mother' ? ['Mary'] : who === 'twin1' || who === 'twin2' ? twin : ['John'];
}

function patientOf(who: Who, at: number, names: readonly [string, string], of: Asked): JsonObject {
  const own = of.own === 0 ? [] : [`${who}-${of.own}-${at}`];
  const beside = of.beside.filter((other) => other !== who).map((other) => `${other}-1-${at}`);
  const values = of.isFirst ? [...own, ...beside] : [...beside, ...own];
  const given = givenOf(who, names);
  const named = { usual: given, short: given.map((each) => each.slice(0, 1)), provisional: ['BABYGIRL'], none: [] }[
    of.name
  ];
  const born = BORN[who].replace(/(....)(..)(..)/, '$1-$2-$3');
  const isMale = who === 'father' || who === 'junior';
  return {
    resourceType: 'Patient',
    identifier: values.map((value) => ({ value, ...AUTHORITIES[of.authority] })),
    ...(of.name !== 'none' && { name: [{ family: FAMILY_NAMES[at] ?? 'Smith', given: [...named] }] }),
    ...(of.birthDate !== 'none' && { birthDate: of.birthDate === 'usual' ? born : born.replace(/.$/, '9') }),
    ...(of.hasSex && { gender: isMale ? 'male' : 'female' }),
  };
}

const matched = (world: World, sent: JsonObject, isCrowded = false): Match[] => {
  const known = new Map(world.known().map((each) => [each.id, each]));
  const candidates = world
    .resources()
    .filter(({ type }) => type === 'Patient')
    .map((stored) => {
      const { numbers = [], traits = [] } = known.get(stored.id) ?? {};
      return { stored, known: { numbers, traits, contributions: null } };
    });
  return matchPatients({ sent, candidates, isCrowded, settings: SETTINGS, today: '2026-06-01' });
};

/** Each person is asked for twice. */
const question = fc.record({
  families: fc.array(fc.record({ of: family, registered: fc.subarray(PEOPLE) }), { minLength: 1, maxLength: 3 }),
  asked: fc.array(asked, { minLength: 30, maxLength: 30 }),
});

test('certain is who agrees and does not contradict, and of a thousand certain at most one is wrong', () => {
  const seen = { people: 0, matches: 0, certain: 0, wrong: 0 };
  fc.assert(
    fc.property(question, ({ families, asked: asks }) => {
      const messages = families.flatMap(({ of, registered }, at) =>
        messagesOf({ ...of, messages: [...registered.map(registrationOf), ...of.messages] }).map((message) =>
          numbered(message, at),
        ),
      );
      const world = worldAfter(messages);
      const people = peopleByRecord(world);
      const traits = new Map(world.known().map((each) => [each.id, each.traits]));
      const persons = families.flatMap(({ of }, at) => PEOPLE.map((who) => ({ who, at, named: of.named })));
      seen.people += persons.length;
      for (const [n, ask] of asks.entries()) {
        const person = persons[n % 15];
        if (person === undefined) continue;
        const { who, at, named } = person;
        const sent = patientOf(who, at, named, ask);
        const matches = matched(world, sent);
        seen.matches += matches.length;
        expect(new Set(matches.map(({ stored }) => stored.id)).size).toBe(matches.length);
        for (const { stored, grade } of matches) {
          const record = personOf(parseStored(stored));
          const said = readTraits([...(traits.get(stored.id) ?? [])]);
          const judged = fit(personOf(sent), { ...record, ...said }, SETTINGS.placeholderBirthDates);
          expect(grade === 'certainly-not').toBe(judged === 'contradicts');
          if (grade === 'certain') expect(agree(personOf(sent), record, SETTINGS.placeholderBirthDates)).toBe(true);
        }
        const [certain, ...more] = matches.filter(({ grade }) => grade === 'certain');
        expect(more).toEqual([]);
        if (certain === undefined) continue;
        expect(matched(world, sent, true).map(({ grade }) => grade)).not.toContain('certain');
        seen.certain += 1;
        const others = people.get(certain.stored.id)?.difference(new Set([`${who}-${at}`]));
        if (others !== undefined && others.size > 0) seen.wrong += 1;
      }
    }),
    { numRuns: sized(12, 1_200), ...(seed !== undefined && { seed }) },
  );
  expect(seen.people).toBeGreaterThan(sized(80, 10_000));
  // Many have no record, and many are asked for without an identifier or with another name.
  expect(seen.certain).toBeGreaterThan(seen.people / 10);
  expect(seen.wrong / seen.certain).toBeLessThanOrEqual(0.001);
});
