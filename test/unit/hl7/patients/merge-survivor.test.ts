/** The patient that a merge keeps, in any order of the numbers in PID-3. A merge that did not happen is never AA. */
import { describe, expect, test } from 'vitest';

import { isJsonObject, parseJson, type Json } from '../../../../shared/json.ts';
import { msh } from '../../../stack/tools/hl7-text.ts';
import { createWorld, type World } from '../../../inputs/hl7-world.ts';

const ANN = 'Smith^Ann||19800203|F';
const BARE = 'Smith^Ann';
const BOB = 'Jones^Bob||19600506|M';
const MOTHER = 'Smith^Mary||19900405|F';
const NEWBORN = 'Smith^BABYGIRL||20260301|F';
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

type Step = readonly [list: string, person?: string];

describe.each(['A18', 'A30', 'A34', 'A36', 'A39', 'A40'])('%s', (event) => {
  test.each<
    [name: string, before: readonly Step[], pid: string, mrg: string, person: string, after: readonly string[]]
  >([
    ['the survivor behind the number of MRG-1', [['a'], ['b~e']], 'b~a', 'b', ANN, ['a b old e old']],
    ['the survivor behind another number of the merged patient', [['a'], ['b~e']], 'e~a', 'b', ANN, ['a b old e']],
    ['the same, and PID names the person only', [['a'], ['b~e']], 'e~a', 'b', BARE, ['a b old e']],
    ['and the number of MRG-1 between them', [['a'], ['b~e']], 'e~b~a', 'b', BARE, ['a b old e']],
    ['the survivor first', [['a'], ['b']], 'a~b', 'b', ANN, ['a b old']],
    ['a number of both segments that MRG-1 lists beside its own', [['a'], ['b~e']], 'e~a', 'b~e', ANN, ['a b old e']],
    ['a number that the survivor has', [['a~e'], ['b']], 'e~a', 'b~e', ANN, ['a b old e']],
    ['a new number makes the survivor', [['b~e']], 'b~n', 'b', ANN, ['b old e old n']],
    ['a new number before that of a patient who agrees', [['a'], ['b']], 'n~a', 'b', ANN, ['a b old n']],
    ['an unknown number of MRG-1', [['a']], 'b~a', 'b', ANN, ['a b old']],
    ['two new numbers', [], 'b~a', 'b', ANN, ['a b old']],
    ['the patient that agrees of two', [['c', BOB], ['a'], ['b']], 'c~a', 'b', ANN, ['a b old', 'c']],
    [
      'a mother behind a new number',
      [
        ['a~m', NEWBORN],
        ['m', MOTHER],
      ],
      'n~m',
      'a',
      NEWBORN,
      ['a old n', 'm'],
    ],
    [
      'a mother before a new number',
      [
        ['a', NEWBORN],
        ['m', MOTHER],
      ],
      'm~n',
      'a',
      NEWBORN,
      ['a old n', 'm'],
    ],
    [
      'a mother before the survivor',
      [
        ['a', NEWBORN],
        ['n', NEWBORN],
        ['m', MOTHER],
      ],
      'm~n',
      'a',
      NEWBORN,
      ['a old n', 'm'],
    ],
    [
      'a mother in MRG-1 too',
      [
        ['a', NEWBORN],
        ['m', MOTHER],
      ],
      'n~m',
      'm~a',
      NEWBORN,
      ['a old n', 'm'],
    ],
  ])('%s', (_name, before, pid, mrg, person, after) => {
    const world = createWorld();
    for (const [list, of] of before) admit(world, list, of);
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
  // The only number that PID names stays in use.
  const alone = createWorld();
  admit(alone, 'b');
  expect(merge(alone, 'b', 'b')).toEqual(['W 205 MRG^1^1^1^1 already-merged']);
  expect(active(alone)).toEqual(['b']);
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

test('a reversed merge changes no patient record, with any repetition of numbers in PID-3', () => {
  for (const list of ['b', 'b~a', 'a~b']) {
    const world = createWorld();
    admit(world, 'a');
    admit(world, 'b');
    merge(world, 'a', 'b');
    const before = patients(world);
    expect(merge(world, list, 'a')).toContain('W 205 MRG^1^1^1^1 already-merged');
    expect([list, patients(world)]).toEqual([list, before]);
  }
});

test('the alternate number of PID-4 does not stand for the survivor', () => {
  const world = createWorld();
  admit(world, 'b');
  world.send(`${msh('ADT^A40')}\nPID|1||${numbers('n')}|${numbers('b')}|${ANN}\nMRG|${numbers('b')}`);
  expect(active(world)).toEqual(['b old n']);
});
