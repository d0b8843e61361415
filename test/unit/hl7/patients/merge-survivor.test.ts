/** The patient that a merge keeps, in any order of the numbers in PID-3. A merge that did not happen is never AA. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { isJsonObject, parseJson, type Json } from '../../../../shared/json.ts';
import { msh } from '../../../stack/tools/hl7-text.ts';
import { seed, sized } from '../../../stack/tools/size.ts';
import { ordersOf } from '../../../stack/tools/orders.ts';
import { createWorld, type World } from '../../../inputs/hl7-world.ts';

/** Tries 30 orders, and at full size each one: more inputs than there are orders would only repeat them. */
function inOrders<Item>(items: readonly Item[], check: (order: readonly Item[]) => void): void {
  const some = fc.shuffledSubarray([...items], { minLength: items.length });
  const tried = { numRuns: 30, ...(seed !== undefined && { seed }) };
  sized(
    () => fc.assert(fc.property(some, check), tried),
    () => ordersOf(items).forEach(check),
  )();
}

const ANN = 'Smith^Ann||19800203|F';
const BARE = 'Smith^Ann';
const BOB = 'Jones^Bob||19600506|M';
const MOTHER = 'Smith^Mary||19900405|F';
const NEWBORN = 'Smith^BABYGIRL||20260301|F';
const PERSONS: Readonly<Record<string, string>> = { ANN, BOB, MOTHER, NEWBORN };
/** A letter alone stands for no number. */
const numbers = (text: string): string =>
  text
    .split('~')
    .map((value) => `${value}-7^^^HOSP^MR`)
    .join('~');

const admit = (world: World, list: string, person = ANN) =>
  world.send(`${msh('ADT^A04')}\nPID|1||${numbers(list)}||${person}`);
const merge = (world: World, list: string, mrg: string, person = ANN, event = 'A40') =>
  world.send(`${msh(`ADT^${event}`)}\nPID|1||${numbers(list)}||${person}\nMRG|${numbers(mrg)}`);

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

interface StoredPatient {
  readonly id: string;
  readonly isActive: boolean;
  /** `b old` */
  readonly numbers: readonly string[];
  readonly into: string | undefined;
}
const patients = (world: World): readonly StoredPatient[] =>
  world
    .resources()
    .filter(({ type }) => type === 'Patient')
    .map(({ id, body }) => {
      const content = parseJson(`{${body}}`);
      if (!isJsonObject(content)) throw new Error('not an object');
      const items = [content['identifier'] ?? []].flat().filter(isJsonObject);
      const links = [content['link'] ?? []].flat().filter(isJsonObject);
      const into = links.find(({ type }) => type === 'replaced-by')?.['other'];
      return {
        id,
        isActive: content['active'] === true,
        numbers: items
          .map(({ value, use }) => `${textOf(value).replace('-7', '')}${use === 'old' ? ' old' : ''}`)
          .toSorted(),
        into: isJsonObject(into) ? textOf(into['reference']).slice('Patient/'.length) : undefined,
      };
    });
/** Numbers of the active patient records. */
const active = (world: World): string[] =>
  patients(world)
    .filter(({ isActive }) => isActive)
    .map((patient) => patient.numbers.join(' '))
    .toSorted();

/** Admits the patient of `a~b`, or another person than Ann: `a~b BOB`. */
const admitEach = (world: World, steps: readonly string[]): void => {
  for (const step of steps) {
    const [list = '', person = 'ANN'] = step.split(' ');
    admit(world, list, PERSONS[person]);
  }
};

describe.each(['A18', 'A30', 'A34', 'A36', 'A39', 'A40'])('%s', (event) => {
  test.each<
    [name: string, before: readonly string[], pid: string, mrg: string, person: string, after: readonly string[]]
  >([
    ['the survivor behind the number of MRG-1', ['a', 'b~e'], 'b~a', 'b', ANN, ['a b old e old']],
    ['the survivor behind another number of the merged patient', ['a', 'b~e'], 'e~a', 'b', ANN, ['a b old e']],
    ['the same, and PID names the person only', ['a', 'b~e'], 'e~a', 'b', BARE, ['a b old e']],
    ['and the number of MRG-1 between them', ['a', 'b~e'], 'e~b~a', 'b', BARE, ['a b old e']],
    ['the survivor first', ['a', 'b'], 'a~b', 'b', ANN, ['a b old']],
    ['a number of both segments that MRG-1 lists beside its own', ['a', 'b~e'], 'e~a', 'b~e', ANN, ['a b old e']],
    ['a number that the survivor has', ['a~e', 'b'], 'e~a', 'b~e', ANN, ['a b old e']],
    ['a new number makes the survivor', ['b~e'], 'b~n', 'b', ANN, ['b old e old n']],
    ['a new number before that of a patient who agrees', ['a', 'b'], 'n~a', 'b', ANN, ['a b old n']],
    ['an unknown number of MRG-1', ['a'], 'b~a', 'b', ANN, ['a b old']],
    ['two new numbers', [], 'b~a', 'b', ANN, ['a b old']],
    ['the patient that agrees of two', ['c BOB', 'a', 'b'], 'c~a', 'b', ANN, ['a b old', 'c']],
    ['a mother behind a new number', ['a~m NEWBORN', 'm MOTHER'], 'n~m', 'a', NEWBORN, ['a old n', 'm']],
    ['a mother before a new number', ['a NEWBORN', 'm MOTHER'], 'm~n', 'a', NEWBORN, ['a old n', 'm']],
    ['a mother before the survivor', ['a NEWBORN', 'n NEWBORN', 'm MOTHER'], 'm~n', 'a', NEWBORN, ['a old n', 'm']],
    ['a mother in MRG-1 too', ['a NEWBORN', 'm MOTHER'], 'n~m', 'm~a', NEWBORN, ['a old n', 'm']],
  ])('%s', (_name, before, pid, mrg, person, after) => {
    const world = createWorld();
    admitEach(world, before);
    const reported = merge(world, pid, mrg, person, event);
    expect(reported.filter((each) => each.includes('already-merged'))).toEqual([]);
    expect(active(world)).toEqual(after);
    // Again under another control id: nothing moves.
    const state = patients(world);
    merge(world, pid, mrg, person, event);
    expect(patients(world)).toEqual(state);
  });
});

test('a PID-3 that names only the patient of MRG-1 merges nothing, and the number of MRG-1 becomes an old one', () => {
  const world = createWorld();
  admit(world, 'a~b');
  expect(merge(world, 'a', 'b')).toEqual(['W 205 MRG^1^1^1^1 already-merged']);
  expect(active(world)).toEqual(['a b old']);
  expect(merge(world, 'b~a', 'b')).toEqual(['W 205 MRG^1^1^1^1 already-merged']);
  expect(active(world)).toEqual(['a b old']);
  // A new number beside it may be a relative's.
  for (const list of ['a~t', 't~a']) {
    const family = createWorld();
    admit(family, 'b~f');
    admit(family, 'a~f');
    merge(family, list, 'b');
    admit(family, 't', NEWBORN);
    expect(active(family)).toEqual(['a b old f', 't']);
    expect(family.attention.map(({ kind }) => kind)).toEqual(['possible-duplicate']);
  }
  // A newborn's message names the mother, who is never the survivor.
  for (const list of ['n~m', 'm~n', 'b~m', 'n~b~m']) {
    const family = createWorld();
    admit(family, 'b~n', NEWBORN);
    admit(family, 'm', MOTHER);
    merge(family, list, 'b', NEWBORN);
    expect(active(family)).toContain('m');
    expect(family.attention.map(({ kind }) => kind)).toContain('possible-duplicate');
  }
  // The only number that PID names stays in use.
  const alone = createWorld();
  admit(alone, 'b');
  expect(merge(alone, 'b', 'b')).toEqual(['W 205 MRG^1^1^1^1 already-merged']);
  expect(active(alone)).toEqual(['b']);
});

test('a new number of the authority of MRG-1 makes the survivor, beside an enterprise number that the merged patient keeps', () => {
  const world = createWorld();
  const enterprise = 'E-1^^^MPI^PI';
  const named = (list: string) => `PID|1||${list}||${ANN}`;
  world.send(`${msh('ADT^A04')}\n${named(`${enterprise}~${numbers('b')}`)}`);
  world.send(`${msh('ADT^A40')}\n${named(`${enterprise}~${numbers('a')}`)}\nMRG|${numbers('b')}`);
  // A laboratory that sends no birth date finds the survivor.
  world.send(`${msh('ORU^R01')}\nPID|1||${numbers('a')}||Smith^A\nOBR|1||F1|P^P^L\nOBX|1|NM|K^K^L||4||||||F`);
  expect(active(world)).toHaveLength(1);
});

test('the first of several other patients survives, and the others are possible duplicates', () => {
  const world = createWorld();
  for (const list of ['a', 'b', 'c']) admit(world, list);
  expect(merge(world, 'b~a~c', 'b')).toEqual(['W 205 PID^1^3^3^1 identifiers-of-several']);
  expect(active(world)).toEqual(['a b old', 'c']);
  expect(world.attention.map(({ kind }) => kind)).toEqual(['possible-duplicate']);
});

test('two MRG whose numbers the PID repeats merge into the patient that neither MRG names', () => {
  const world = createWorld();
  for (const list of ['a', 'b', 'c']) admit(world, list);
  world.send(`${msh('ADT^A40')}\nPID|1||${numbers('c~b~a')}||${ANN}\nMRG|${numbers('b')}\nMRG|${numbers('c')}`);
  const all = patients(world);
  const [kept, ...others] = all.filter(({ isActive }) => isActive);
  expect([kept?.numbers.includes('a'), others]).toEqual([true, []]);
  expect(all.filter(({ into }) => into !== undefined)).toHaveLength(2);
});

/** A merge at an hour of EVN-2. */
const mergeAt = (world: World, hour: number, list: string, mrg: string) =>
  world.send(`${msh('ADT^A40')}\nEVN||202601010${hour}00+0100\nPID|1||${numbers(list)}||${ANN}\nMRG|${numbers(mrg)}`);
const result = (world: World, list: string) =>
  world.send(
    `${msh('ORU^R01')}\nPID|1||${numbers(list)}||${ANN}\nOBR|1||F-${list}^LAB|K^K^L|||20260101\nOBX|1|NM|K^K^L||4|mmol/L|||||F`,
  );
/** The numbers of the patient of each result. */
const subjects = (world: World): string[] => {
  const all = new Map(patients(world).map(({ id, numbers: own }) => [id, own.join(' ')]));
  const ids = world
    .resources()
    .filter(({ type }) => type === 'Observation')
    .map(({ body }) => all.get(/"subject":\{"reference":"Patient\/([0-9a-f-]+)"/.exec(body)?.[1] ?? '') ?? '');
  return ids.toSorted();
};
const late = (world: World) => world.attention.filter(({ kind }) => kind === 'stale-merge').length;

test('a merge in the other direction counts if it is newer, with any repetition of numbers in PID-3', () => {
  for (const list of ['b', 'b~a', 'a~b']) {
    const world = createWorld();
    admit(world, 'a');
    admit(world, 'b');
    result(world, 'a');
    result(world, 'b');
    mergeAt(world, 1, 'a', 'b');
    expect([active(world), subjects(world)]).toEqual([['a b old'], ['a b old', 'a b old']]);
    expect([list, mergeAt(world, 1, list, 'a')]).toEqual([list, expect.arrayContaining(['W 205 MRG^1^1^1^1 stale'])]);
    expect([active(world), late(world)]).toEqual([['a b old'], 1]);
    expect(mergeAt(world, 2, list, 'a').filter((each) => each.includes('stale'))).toEqual([]);
    expect([active(world), subjects(world)]).toEqual([['a old b'], ['a old b', 'a old b']]);
    // The personal data of the number that is active again is its own.
    expect(admitAt(world, 5, 'b', '|||Side St^^Vienna')).toEqual([]);
    expect(activeText(world)).toContain('Side St');
    // The late repetition does not merge again.
    expect(mergeAt(world, 1, 'a', 'b')).toContain('W 205 MRG^1^1^1^1 stale');
    expect([active(world), late(world)]).toEqual([['a old b'], 2]);
    mergeAt(world, 3, 'a', 'b');
    expect([active(world), subjects(world)]).toEqual([['a b old'], ['a b old', 'a b old']]);
  }
});

test('the newest of merges in both directions counts, in any order, with repetitions and between any results', () => {
  const SAID = [
    (world: World) => mergeAt(world, 1, 'a', 'b'),
    (world: World) => mergeAt(world, 1, 'a', 'b'),
    (world: World) => mergeAt(world, 2, 'b', 'a'),
    (world: World) => mergeAt(world, 3, 'a', 'b'),
    (world: World) => mergeAt(world, 4, 'b~a', 'a'),
    (world: World) => result(world, 'a'),
    (world: World) => result(world, 'b'),
  ];
  inOrders(SAID, (said) => {
    const world = createWorld();
    admit(world, 'a');
    admit(world, 'b');
    for (const say of said) say(world);
    expect([active(world), subjects(world)]).toEqual([['a old b'], ['a old b', 'a old b']]);
    expect(patients(world).filter(({ into }) => into !== undefined)).toHaveLength(1);
  });
});

test('a merge of three records is reversed by the newest statement', () => {
  const world = createWorld();
  for (const list of ['a', 'b', 'c']) admit(world, list);
  mergeAt(world, 1, 'a', 'b');
  mergeAt(world, 2, 'c', 'a');
  expect(mergeAt(world, 1, 'b', 'c')).toContain('W 205 MRG^1^1^1^1 stale');
  mergeAt(world, 3, 'b', 'c');
  expect(active(world)).toEqual(['a old b c old']);
  expect(patients(world).filter(({ isActive }) => !isActive)).toHaveLength(2);
});

test('an A24 that is older than an A37 is listed, and so is an older merge', () => {
  const world = createWorld();
  admit(world, 'a');
  admit(world, 'b');
  const both = (event: string, hour: number) =>
    world.send(
      `${msh(`ADT^${event}`)}\nEVN||202601010${hour}00+0100\nPID|1||${numbers('a')}||${ANN}\nPID|2||${numbers('b')}||${ANN}`,
    );
  both('A37', 3);
  expect(both('A24', 2)).toContain('W 205 PID^1 stale');
  expect(mergeAt(world, 2, 'a', 'b')).toContain('W 205 MRG^1^1^1^1 stale');
  expect([active(world), late(world)]).toEqual([['a', 'b'], 2]);
  both('A24', 4);
  mergeAt(world, 2, 'a', 'b');
  expect(active(world)).toEqual(['a b old']);
});

test('the alternate number of PID-4 does not stand for the survivor', () => {
  const world = createWorld();
  admit(world, 'b');
  world.send(`${msh('ADT^A40')}\nPID|1||${numbers('n')}|${numbers('b')}|${ANN}\nMRG|${numbers('b')}`);
  expect(active(world)).toEqual(['b old n']);
});

const renumber = (world: World, list: string, mrg: string, person = ANN) =>
  world.send(`${msh('ADT^A47')}\nEVN||202601010200+0100\nPID|1||${numbers(list)}||${person}\nMRG|${numbers(mrg)}`);
const admitAt = (world: World, hour: number, list: string, more = '') =>
  world.send(`${msh('ADT^A08')}\nEVN||202601010${hour}00+0100\nPID|1||${numbers(list)}||${ANN}${more}`);
/** The text of the active patient records. */
const activeText = (world: World): string =>
  world
    .resources()
    .filter(({ type, body }) => type === 'Patient' && body.includes('"active":true'))
    .map(({ body }) => body)
    .join();

test('a renumbering ends in one record in any order, and loses neither a number nor an address', () => {
  const SAID = [
    (world: World) => admitAt(world, 1, 'o', '|||Main St^^Vienna'),
    (world: World) => renumber(world, 'n', 'o'),
    (world: World) => admitAt(world, 3, 'n'),
    (world: World) => admitAt(world, 4, 'n'),
    (world: World) => result(world, 'n'),
    (world: World) => result(world, 'o'),
  ];
  inOrders(SAID, (said) => {
    const world = createWorld();
    for (const say of said) say(world);
    expect([active(world), subjects(world)]).toEqual([['n o old'], ['n o old', 'n o old']]);
    expect(activeText(world)).toContain('Main St');
  });
});

test('a merge and a renumbering of the merged patient end in one record in any order, with repetitions', () => {
  const SAID = [
    (world: World) => mergeAt(world, 3, 'a', 'b'),
    (world: World) => renumber(world, 'n', 'b'),
    (world: World) => renumber(world, 'n', 'b'),
    (world: World) => admitAt(world, 4, 'a'),
    (world: World) => result(world, 'b'),
    (world: World) => result(world, 'n'),
  ];
  inOrders(SAID, (said) => {
    const world = createWorld();
    for (const number of ['a', 'b']) admit(world, number);
    for (const say of said) say(world);
    const all = expect.stringMatching(/^a b old n( old)?$/);
    expect([active(world), subjects(world)]).toEqual([[all], [all, all]]);
  });
});

test('an undo of a merge returns the new identifier of a renumbering of the merged patient', () => {
  for (const isMergedFirst of [true, false]) {
    const world = createWorld();
    for (const number of ['a', 'b']) admit(world, number);
    if (isMergedFirst) mergeAt(world, 3, 'a', 'b');
    renumber(world, 'n', 'b');
    if (!isMergedFirst) mergeAt(world, 3, 'a', 'b');
    expect(patients(world).map(({ numbers }) => numbers)).toEqual([
      ['a', 'b old', 'n old'],
      ['b old', 'n'],
    ]);
  }
});

test.each([
  ['of a renumbering that merged two records', 'A47'],
  ['of a merge, as a renumbering', 'A40'],
])('a repetition %s is accepted', (_name, event) => {
  const world = createWorld();
  for (const number of ['n', 'o']) admit(world, number);
  merge(world, 'n', 'o', ANN, event);
  expect(renumber(world, 'n', 'o')).toEqual(['W 205 MRG^1^1^1^1 already-merged']);
  expect(active(world)).toEqual(['n o old']);
});

test.each([
  ['of the patient of MRG-1', BOB],
  ['of the patient with the new number', ANN],
])('a renumbering to a number of another person is rejected, also with the name %s', (_name, person) => {
  const world = createWorld();
  admit(world, 'n');
  admit(world, 'o', BOB);
  expect(() => renumber(world, 'n', 'o', person)).toThrow('number-taken');
  expect(active(world)).toEqual(['n', 'o']);
});

test('the new number of a renumbering moves from a record that only lists it', () => {
  const world = createWorld();
  admit(world, 'm~n', MOTHER);
  admit(world, 'o', NEWBORN);
  expect(renumber(world, 'n', 'o', NEWBORN)).toEqual([]);
  expect(active(world)).toEqual(['m', 'n o old']);
});

test.each([
  ['the known patient before a number of a relative', 'k~r', ['k'], ANN, ['k o old r']],
  ['a patient without a common given name', 'k~r', ['k'], NEWBORN, ['k o old r']],
  ['a relative’s number before that of the known patient', 'r~k', ['k'], ANN, ['k o old r']],
])('a renumbering without a patient of MRG-1: %s', (_name, list, before, person, after) => {
  const world = createWorld();
  for (const number of before) admit(world, number, person);
  renumber(world, list, 'o', person);
  expect(active(world)).toEqual(after);
  // The relative’s number does not lead to the patient.
  admit(world, 'r', BOB);
  expect(active(world)).toEqual(['k o old', 'r']);
});

test('a renumbering prefers the known patient to a relative’s new number, although another record has its number too', () => {
  const world = createWorld();
  admit(world, 'm', MOTHER);
  // The result of a newborn begins with the mother's number, without an authority.
  const pid = `PID|1||m-7^^^^MR~t-7^^^^MR||${NEWBORN}`;
  world.send(`${msh('ORU^R01')}\n${pid}\nOBR|1||F|K^K^L|||20260301\nOBX|1|NM|K^K^L||4|||||F`);
  renumber(world, 'm~r', 'o', MOTHER);
  admit(world, 'r', BOB);
  expect(active(world)).toEqual(['m o old', 'm t', 'r']);
});

test('a repeated renumbering of a mother does not absorb the results of a newborn that begin with the same number', () => {
  const world = createWorld();
  renumber(world, 'm', 'o', MOTHER);
  const pid = `PID|1||m-7^^^^MR~t-7^^^^MR||Smith^Mary^Jane||20260301|F`;
  world.send(`${msh('ORU^R01')}\n${pid}\nOBR|1||F|K^K^L|||20260301\nOBX|1|NM|K^K^L||4|||||F`);
  expect(() => renumber(world, 'm', 'o', 'Smith^Mary|||F')).toThrow('ambiguous-patient');
  expect(renumber(world, 'm', 'o', MOTHER)).toEqual(['W 205 PID^1^3^1^1 number-of-several']);
  expect([active(world), subjects(world)]).toEqual([['m o old', 'm t'], ['m t']]);
});

test.each(['A40', 'A47'])(
  '%s: a wrong PID-21 with the newborn’s own number leads to no record of the mother',
  (event) => {
    const world = createWorld();
    admit(world, 'm', MOTHER);
    const pid = `PID|1||${numbers('o~n~m')}||Smith^BABYGIRL|||F|||||||||||||${numbers('n')}`;
    world.send(`${msh(`ADT^${event}`)}\n${pid}\nMRG|${numbers('o')}`);
    expect(active(world)).toContain('m');
    expect(active(world)).toHaveLength(2);
  },
);

test('a record of a newborn’s results is not absorbed by the mother, whose number PID-3 lists', () => {
  const world = createWorld();
  world.send(
    `${msh('ORU^R01')}\nPID|1||${numbers('o')}||${NEWBORN}\nOBR|1||F|K^K^L|||20260301\nOBX|1|NM|K^K^L||4|||||F`,
  );
  admit(world, 'm', MOTHER);
  renumber(world, 'n~m', 'o', NEWBORN);
  expect(active(world)).toEqual(['m', 'n o old']);
});

test('a renumbering of a merged patient to a number of another patient is rejected', () => {
  const world = createWorld();
  for (const number of ['a', 'b']) admit(world, number);
  admit(world, 'c', BOB);
  merge(world, 'a', 'b');
  for (const person of [ANN, BOB]) expect(() => renumber(world, 'c', 'b', person)).toThrow('merged-elsewhere');
  expect(active(world)).toEqual(['a b old', 'c']);
});

test('a renumbering absorbs a record of results without a birth date, and never one of another person', () => {
  const oru = (world: World, person: string) =>
    world.send(
      `${msh('ORU^R01')}\nPID|1||${numbers('n')}||${person}\nOBR|1||F|K^K^L|||20260101\nOBX|1|NM|K^K^L||4|||||F`,
    );
  const world = createWorld();
  admit(world, 'o');
  oru(world, 'Smith^Ann');
  expect(renumber(world, 'n', 'o')).toEqual(['I 201 PID^1^3 record-absorbed']);
  expect([active(world), subjects(world)]).toEqual([['n o old'], ['n o old']]);
  const other = createWorld();
  admit(other, 'o');
  oru(other, BOB);
  expect(() => renumber(other, 'n', 'o')).toThrow('E 205 PID^1^3^1^1 number-taken');
});

test.each([
  ['the mother before the new number', 'm~n', ['m', 'n o old']],
  ['an enterprise number before it', 'e~n', ['e n o old', 'm']],
  ['the old number before it', 'o~n', ['m', 'n o old']],
])('a renumbering of a newborn is by MRG-1: %s', (_name, list, after) => {
  const world = createWorld();
  admit(world, 'm', MOTHER);
  admit(world, 'o', NEWBORN);
  const enterprise = numbers(list).replace('e-7^^^HOSP^MR', 'e-7^^^EMPI^PI');
  world.send(`${msh('ADT^A47')}\nPID|1||${enterprise}||${NEWBORN}\nMRG|${numbers('o')}`);
  expect(active(world)).toEqual(after);
});
