/**
 * Families: twins, their parents and a father and son of one name, whose messages list each other's numbers, with any names for
 * newborns.
 */
import fc from 'fast-check';

import { createWorld, type World } from './hl7-world.ts';

export type Who = 'mother' | 'father' | 'junior' | 'twin1' | 'twin2';
/** PID-7. */
export const BORN: Readonly<Record<Who, string>> = {
  mother: '19900405',
  father: '19880607',
  junior: '20190203',
  twin1: '20260301',
  twin2: '20260301',
};

/** How hospitals call both of twins, as XPN. */
const NEWBORN_NAMES = [
  'Smith^BABYGIRL',
  'Smith^BABY GIRL',
  'Smith^MALE',
  'Smith^NB',
  'Smith^UNNAMED',
  'Smith^BABYBOY',
  'Smith^INFANTGIRL',
  'Smith^NEWBORNGIRL',
  'Smith^B/O MARY',
  'Smith^MARYGIRL',
  'BABY GIRL',
  'Smith',
  'Smith^BABY',
  'Smith^GIRL2',
  'Smith^BB SMITH',
  'Smith^RECIEN NACIDO',
  'Smith^TOCHTER VON MARY',
  'Smith^MARY^BABY',
  'Smith^MARY^^^B/O',
  'BABY^SMITH',
  'Smith^UNKNOWN',
  'Smith^M',
  '^BABYGIRL',
  'Smith^TWIN',
  'Smith^Mädchen',
] as const;
const TWIN_NAMES = [
  ['Smith^Amy', 'Smith^Ann'],
  ['Smith^Mary^Ann', 'Smith^Mary^Jane'],
  ['Smith^A', 'Smith^A'],
  ['Smith^TWIN A', 'Smith^TWIN B'],
] as const;

interface Said {
  readonly who: Who;
  readonly event: 'A28' | 'A04' | 'A08' | 'R01' | 'A40' | 'A47';
  /** 1 and 2 are a person's own; a merge or renumbering moves from one to the other. */
  readonly own: 1 | 2;
  /** Numbers of others that are listed beside. */
  readonly beside: readonly Who[];
  readonly isNamed: boolean;
  readonly isBare: boolean;
  readonly isFirst: boolean;
  /** Without one, the authority is that of the sender. */
  readonly hasAuthority: boolean;
  /** PID-2 or PID-4. */
  readonly alternate: { readonly field: 2 | 4; readonly of: Who } | undefined;
  /** PID-21 names the mother, with or without an authority, or wrongly a twin. */
  readonly mother: '' | 'mother' | 'bare' | 'own' | 'sibling';
  /** A nickname, another typing of the birth date, or nothing else than the identifier. */
  readonly variant: 'usual' | 'short' | 'mistyped' | 'nameless';
}

const said: fc.Arbitrary<Said> = fc.record({
  who: fc.constantFrom<Who>('mother', 'father', 'junior', 'twin1', 'twin2', 'twin1', 'twin2'),
  event: fc.constantFrom('A28', 'A04', 'A08', 'R01', 'A40', 'A47'),
  own: fc.constantFrom(1, 2),
  beside: fc.subarray<Who>(['mother', 'father', 'twin1', 'twin2'], { maxLength: 2 }),
  isNamed: fc.boolean(),
  isBare: fc.boolean(),
  isFirst: fc.boolean(),
  hasAuthority: fc.constantFrom(true, true, true, false),
  alternate: fc.option(fc.record({ field: fc.constantFrom(2, 4), of: fc.constantFrom('mother', 'twin1', 'twin2') }), {
    nil: undefined,
  }),
  mother: fc.constantFrom('', '', 'mother', 'bare', 'own', 'sibling'),
  variant: fc.constantFrom('usual', 'usual', 'usual', 'short', 'mistyped', 'nameless'),
});

export const family = fc.record({
  newborn: fc.constantFrom(...NEWBORN_NAMES),
  named: fc.constantFrom(...TWIN_NAMES),
  hasOrder: fc.boolean(),
  /** The first message is about the mother. */
  hasMother: fc.boolean(),
  sex: fc.constantFrom('F', 'U', ''),
  messages: fc.array(said, { minLength: 2, maxLength: 9 }),
});
export type Family = typeof family extends fc.Arbitrary<infer Each> ? Each : never;

function messageOf(each: Said, at: number, { newborn, named, hasOrder, hasMother, sex }: Family): string {
  const { who, event, own, beside, isNamed, isBare, isFirst, hasAuthority, alternate, mother, variant } = each;
  const isTwin = who === 'twin1' || who === 'twin2';
  const number = (of: Who, which: number): string => `${of}-${which}^^^${hasAuthority ? 'HOSP' : ''}^MR`;
  const others = beside.filter((other) => other !== who).map((other) => number(other, 1));
  const sibling = who === 'twin1' ? 'twin2' : 'twin1';
  const isMerge = event === 'A40' || event === 'A47';
  // PID-3 of a merge has no order; elsewhere the person's own number leads, or that of a newborn's mother.
  // Without a name and a birth date the gateway cannot distinguish mother and newborn.
  const isKnown = hasMother || mother === 'mother' || mother === 'bare';
  const isAfterMother = isTwin && isFirst && isKnown && variant !== 'nameless';
  const lists = isMerge
    ? [...(isFirst ? [number(who, 2)] : []), number(who, 1), ...others]
    : [...(isAfterMother ? [number('mother', 1)] : []), number(who, own), ...others, 'ACCOUNT-1^^^HOSP^AN'];
  const name = isTwin
    ? isNamed
      ? named[who === 'twin1' ? 0 : 1]
      : newborn
    : who === 'mother'
      ? 'Smith^Mary'
      : 'Smith^John';
  const pid = Array<string>(26).fill('');
  pid[0] = 'PID';
  pid[3] = lists.join('~');
  pid[5] = variant === 'nameless' ? '' : variant === 'short' ? name.replace(/\^(?!BABY$)(\w)\w+$/, '^$1') : name;
  const born = variant === 'mistyped' ? BORN[who].replace(/.$/, '9') : BORN[who];
  pid[7] = (isMerge && isBare) || variant === 'nameless' ? '' : born;
  pid[8] = isTwin ? sex : who === 'mother' ? 'F' : 'M';
  // A wrong PID-21 names the own number only beside that of the known mother: elsewhere, nothing shows the mistake.
  const isWrong = hasMother && beside.every((other) => other === 'mother');
  const mothers = {
    '': '',
    mother: number('mother', 1),
    bare: 'mother-1',
    own: isWrong ? number(who, own) : '',
    sibling: number(sibling, 1),
  };
  pid[21] = mothers[mother];
  if (alternate !== undefined) pid[alternate.field] = number(alternate.of, 1);
  pid[25] = isTwin && hasOrder ? (who === 'twin1' ? '1' : '2') : '';
  const msh = (type: string) =>
    `MSH|^~\\&|LAB|HOSP|GW|SITE|202603020800${String(at).padStart(2, '0')}+0100||${type}|C${at}|P|2.5.1`;
  if (event === 'R01')
    return `${msh('ORU^R01')}\n${pid.join('|')}\nOBR|1||F${at}^LAB|1^T^L\nOBX|1|NM|of-${who}^T^L||5||||||F`;
  const lines = isMerge ? `MRG|${number(who, 2)}` : `AL1|1|DA|of-${who}^Penicillin^L`;
  return `${msh(`ADT^${event}`)}\n${pid.join('|')}\n${lines}`;
}

/** The people whose data are in each record. */
export function peopleByRecord(world: World): Map<string, Set<string>> {
  const people = new Map<string, Set<string>>();
  for (const { body } of world.resources()) {
    const patient = /"Patient\/([^"]+)"/.exec(body)?.[1];
    const person = /of-((?:mother|father|junior|twin\d)(?:-\d+)?)/.exec(body)?.[1];
    if (patient !== undefined && person !== undefined)
      people.set(patient, (people.get(patient) ?? new Set()).add(person));
  }
  return people;
}

/** An ADT about a person with a full name, without the numbers of others. */
export const registrationOf = (who: Who): Said => ({
  who,
  event: 'A28',
  own: 1,
  beside: [],
  isNamed: true,
  isBare: false,
  isFirst: false,
  hasAuthority: true,
  alternate: undefined,
  mother: '',
  variant: 'usual',
});

/** The messages of a family in their order. */
export const messagesOf = (of: Family): string[] =>
  [...(of.hasMother ? [registrationOf('mother')] : []), ...of.messages].map((each, at) => messageOf(each, at, of));

/** A site after messages. A message that is rejected changes nothing. */
export function worldAfter(messages: readonly string[]): World {
  const world = createWorld();
  for (const message of messages) {
    try {
      world.send(message);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('AE'))) throw error;
    }
  }
  return world;
}
