/**
 * Applies the statements of a message to the stored state: element by element, and for a patient's lists item by item.
 */
import { describe, expect, test } from 'vitest';

import { byDefault, fixed, type Contribution } from '../../../../edge/hl7/precedence/contribution.ts';
import { applyStatement, supersede, type Applied } from '../../../../edge/hl7/precedence/apply.ts';
import { precedenceOf, precedenceOfWrite, type Precedence } from '../../../../edge/hl7/precedence/precedence.ts';
import { nothingRemembered, rememberedOf, type Remembered } from '../../../../edge/hl7/precedence/registers.ts';
import { printRegisters } from '../../../../edge/store/registers.ts';
import type { JsonObject } from '../../../../shared/json.ts';

const by = (
  field: string,
  element: string,
  value: Contribution['value'],
  more: Partial<Contribution> = {},
): Contribution => ({
  ...fixed(element, value, field),
  ...more,
});

const NAMES = new Map([['HOSP', 'urn:example:hosp']]);

/** A minute of one hour. */
const at = (minute: number): Precedence =>
  precedenceOf({ tier: 1, timeMs: minute * 60_000, rank: 50, sentMs: 0, messageId: '' });

const start = (content: JsonObject, remembered: Partial<Remembered> = {}): Applied => ({
  content,
  remembered: { ...nothingRemembered, ...remembered },
  isStale: false,
  isTied: false,
});
const say =
  (isPatient: boolean) =>
  ({ content, remembered }: Applied, contributions: readonly Contribution[], precedence: Precedence): Applied =>
    applyStatement(content, remembered, contributions, precedence, { isPatient, names: NAMES });
const merge = (stored: JsonObject, contributions: readonly Contribution[]): JsonObject =>
  say(false)(start(stored), contributions, at(1)).content;
const ofPatient = say(true);
const ofResult = say(false);

describe('elements', () => {
  test('a value replaces, "" deletes, and an empty field keeps the stored value', () => {
    const stored = { gender: 'male', birthDate: '1980-01-01', active: true };
    expect(merge(stored, [fixed('gender', 'female'), fixed('birthDate', null)])).toEqual({
      gender: 'female',
      active: true,
    });
    expect(stored).toHaveProperty('birthDate');
  });

  test('a value replaces a value of another type', () => {
    expect(merge({ valueString: 'x', _valueString: { id: 'a' } }, [fixed('value[x]', { valueInteger: 1 })])).toEqual({
      valueInteger: 1,
    });
    expect(merge({ valueString: 'x', status: 'final' }, [fixed('value[x]', null)])).toEqual({ status: 'final' });
  });

  test('an extension replaces only extensions with its URL', () => {
    const stored = {
      extension: [
        { url: 'a', valueString: '1' },
        { url: 'b', valueString: '2' },
      ],
    };
    expect(merge(stored, [fixed('extension a', { valueString: '3' })])).toEqual({
      extension: [
        { url: 'b', valueString: '2' },
        { url: 'a', valueString: '3' },
      ],
    });
    expect(merge(stored, [fixed('extension a', { valueString: '1' })])).toEqual(stored);
    expect(merge(stored, [fixed('extension a', null), fixed('extension b', null)])).toEqual({});
  });

  test('a list is replaced; an item to add is added once', () => {
    expect(merge({ note: ['a'] }, [fixed('note', ['b'])])).toEqual({ note: ['b'] });
    expect(merge({ result: ['a'] }, [{ ...fixed('result', ['a', 'b']), adds: true }])).toEqual({ result: ['a', 'b'] });
  });

  test('an older statement changes only elements without a newer value', () => {
    const newer = ofResult(start({}), [fixed('status', 'corrected'), fixed('value[x]', { valueInteger: 5 })], at(9));
    const older = ofResult(newer, [fixed('status', 'final'), fixed('note', ['n'])], at(1));
    expect(older).toMatchObject({ isStale: true, content: { status: 'corrected', valueInteger: 5, note: ['n'] } });
  });

  test('a repetition in an older statement is not stale', () => {
    const newer = ofResult(start({}), [fixed('status', 'final')], at(9));
    expect(ofResult(newer, [fixed('status', 'final')], at(1)).isStale).toBe(false);
  });

  test('a deletion is newer than an older value that arrives later', () => {
    const deleted = ofResult(start({ note: ['n'] }), [fixed('note', null)], at(9));
    expect(ofResult(deleted, [fixed('note', ['n'])], at(1)).content).toEqual({});
  });

  test('any stated value replaces a default, even an earlier one', () => {
    const open = ofResult(start({}), [byDefault('status', 'unknown')], at(9));
    expect(open.content).toEqual({ status: 'unknown' });
    const said = ofResult(open, [fixed('status', 'preliminary')], at(1));
    expect(said).toMatchObject({ isStale: false, content: { status: 'preliminary' } });
    expect(ofResult(said, [byDefault('status', 'unknown')], at(10))).toMatchObject({
      isStale: false,
      content: { status: 'preliminary' },
    });
  });

  test('a newer message replaces a FHIR client’s write or removal; an older one does not', () => {
    const written = start(
      { valueInteger: 6, extension: [{ url: 'b', valueString: 'x' }] },
      {
        stamps: new Map([
          ['valueInteger', precedenceOfWrite(5 * 60_000)],
          ['note', precedenceOfWrite(5 * 60_000)],
        ]),
      },
    );
    const said = [
      fixed('value[x]', { valueInteger: 5 }),
      fixed('note', ['n']),
      fixed('extension b', { valueString: 'y' }),
    ];
    expect(ofResult(written, said, at(1)).content).toEqual({
      valueInteger: 6,
      extension: [{ url: 'b', valueString: 'y' }],
    });
    expect(ofResult(written, said, at(9)).content).toMatchObject({ valueInteger: 5, note: ['n'] });
  });

  test('a value that exists since the resource was made is as old as the resource', () => {
    const made = start({ gender: 'male' }, { base: precedenceOfWrite(5 * 60_000) });
    expect(ofPatient(made, [fixed('gender', 'female'), fixed('birthDate', '1980')], at(1)).content).toEqual({
      gender: 'male',
      birthDate: '1980',
    });
    expect(ofPatient(made, [fixed('gender', 'female')], at(9)).content).toEqual({ gender: 'female' });
  });

  test('registers are printed and read', () => {
    const { remembered } = ofPatient(
      start({}),
      [fixed('gender', 'male'), by('PID-13', 'telecom', [{ value: '1' }]), byDefault('active', true)],
      at(1),
    );
    const stored = `{"fields":${printRegisters(remembered.registers)},"stamps":{"gender":60000}}`;
    const read = rememberedOf('00000000-0000-4000-8000-000000000001', stored);
    expect(read.registers).toEqual(remembered.registers);
    expect(read.stamps).toEqual(new Map([['gender', precedenceOfWrite(60_000)]]));
    expect(read.base).toBe('');
  });
});

describe('a withdrawal', () => {
  const below = (minute: number): Precedence =>
    precedenceOf({ tier: 0, timeMs: minute * 60_000, rank: 50, sentMs: 0, messageId: '' });
  const withdrawn = ({ content, remembered }: Applied, minute: number, ...more: readonly Contribution[]): Applied =>
    applyStatement(content, remembered, [fixed('status', 'withdrawn'), ...more], at(minute), {
      isPatient: false,
      names: NAMES,
      isWithdrawal: true,
    });
  const states = (status: string, value: number, ...more: readonly Contribution[]) => [
    fixed('status', status),
    fixed('value[x]', { valueInteger: value }),
    ...more,
  ];
  const final = ofResult(start({}), states('final', 5, fixed('note', ['old'])), at(1));

  test('hides older values, and keeps its own values and the subject', () => {
    const mine = ofResult(final, [fixed('subject', 's'), { ...fixed('result', ['r']), adds: true }], at(1));
    expect(withdrawn(mine, 2, fixed('note', ['mixed up'])).content).toEqual({
      status: 'withdrawn',
      note: ['mixed up'],
      subject: 's',
      result: ['r'],
    });
  });

  test('hides values that a client wrote before it', () => {
    const stamps = new Map([
      ['valueInteger', precedenceOfWrite(2 * 60_000)],
      ['text', precedenceOfWrite(3 * 60_000)],
    ]);
    const written: Applied = {
      ...final,
      content: { status: 'final', valueInteger: 6, text: 't' },
      remembered: { ...final.remembered, stamps },
    };
    expect(withdrawn(written, 4).content).toEqual({ status: 'withdrawn' });
    expect(withdrawn(written, 2).content).toEqual({ status: 'withdrawn', valueInteger: 6, text: 't' });
  });

  test.each([
    ['before the withdrawal', 0],
    ['after the withdrawal', 1],
    ['last', 2],
  ])('a later preliminary value counts when it arrives %s', (_, place) => {
    const preliminary = (said: Applied): Applied => ofResult(said, states('preliminary', 2), below(3));
    let said = start({});
    for (let step = 0; step < 3; step += 1) {
      if (step === place) said = preliminary(said);
      if (step === 0) said = ofResult(said, states('final', 5, fixed('note', ['old'])), at(1));
      if (step === 1) said = withdrawn(said, 2, fixed('note', ['mixed up']));
    }
    expect(said.content).toEqual({ status: 'preliminary', valueInteger: 2 });
  });

  test('an older preliminary value, and a default, do not count', () => {
    const said = withdrawn(final, 3);
    expect(ofResult(said, states('preliminary', 2), below(2))).toMatchObject({ isStale: true, content: said.content });
    expect(ofResult(said, [byDefault('status', 'unknown')], at(4)).content).toEqual({ status: 'withdrawn' });
  });

  test('a newer value without a status leaves the result withdrawn', () => {
    const said = ofResult(withdrawn(final, 2, fixed('note', ['n'])), [fixed('value[x]', { valueInteger: 7 })], at(3));
    expect(said.content).toEqual({ status: 'withdrawn', valueInteger: 7, note: ['n'] });
    expect(ofResult(said, [fixed('status', 'final')], at(4)).content).toEqual({ status: 'final', valueInteger: 7 });
  });

  test('an older withdrawal is stale, and hides only even older values', () => {
    const newer = ofResult(final, [fixed('status', 'corrected'), fixed('value[x]', { valueInteger: 7 })], at(3));
    expect(withdrawn(newer, 2, fixed('note', ['n']))).toMatchObject({
      isStale: true,
      content: { status: 'corrected', valueInteger: 7 },
    });
    expect(withdrawn(newer, 2, fixed('note', ['n'])).content).not.toHaveProperty('note');
    const twice = withdrawn(final, 3, fixed('note', ['second']));
    expect(withdrawn(twice, 2, fixed('note', ['first']))).toMatchObject({ content: { note: ['second'] } });
  });

  test('ties with a value of its time, in either order of arrival, and with no other withdrawal', () => {
    const of = (rank: number): Precedence => precedenceOf({ tier: 1, timeMs: 60_000, rank, sentMs: 0, messageId: '' });
    expect(withdrawn(ofResult(start({}), states('final', 5), of(40)), 1).isTied).toBe(true);
    expect(ofResult(withdrawn(start({}), 1), states('final', 5), of(40)).isTied).toBe(true);
    expect(ofResult(withdrawn(start({}), 1), states('final', 5), at(0)).isTied).toBe(false);
    expect(withdrawn(final, 2).isTied).toBe(false);
    expect(withdrawn(withdrawn(final, 2), 2).isTied).toBe(false);
  });

  test('a preliminary value waits only while it is newer than the final one', () => {
    const waiting = (said: Applied) =>
      [...said.remembered.registers.keys()].filter((name) => name.startsWith('waiting'));
    expect(waiting(ofResult(final, states('preliminary', 2), below(0)))).toEqual([]);
    const said = ofResult(final, states('preliminary', 2), below(3));
    expect(said).toMatchObject({ isStale: true, content: { status: 'final', valueInteger: 5 } });
    expect(waiting(said)).toEqual(['waiting status', 'waiting value[x]']);
    expect(waiting(ofResult(said, states('final', 6), at(4)))).toEqual([]);
    expect(waiting(ofResult(final, [byDefault('status', 'unknown')], at(3)))).toEqual([]);
    // Nothing waits for a patient: the statements of results have the lowest precedence.
    const patient = ofPatient(start({}), [fixed('gender', 'male')], at(1));
    expect(waiting(ofPatient(patient, [fixed('gender', 'female')], below(3)))).toEqual([]);
  });
});

describe('a replaced document', () => {
  const replaced = ({ content, remembered }: Applied): Applied => supersede(content, remembered, at(5));
  const status = (value: string) => [fixed('status', value), fixed('_status', null)];

  test.each([1, 9])('stays superseded, with any status at %i', (minute) => {
    const document = replaced(ofResult(start({}), status('current'), at(2)));
    expect(document.content).toEqual({ status: 'superseded' });
    expect(ofResult(document, status('current'), at(minute)).content).toEqual({ status: 'superseded' });
  });

  test('keeps the status entered in error, and the later status of a FHIR client', () => {
    const document = ofResult(start({}), status('entered-in-error'), at(2));
    expect(replaced(document).content).toEqual({ status: 'entered-in-error' });
    const stamped = start({ status: 'current' }, { stamps: new Map([['status', precedenceOfWrite(10 * 60_000)]]) });
    expect(replaced(stamped).content).toEqual({ status: 'current' });
  });
});

describe('lists of a patient', () => {
  const home = { system: 'phone', use: 'home', value: '1' };
  const work = { system: 'phone', use: 'work', value: '2' };
  const sent = (value: string) => ({ system: 'phone', use: 'home', value });
  const given = ofPatient(start({}), [by('PID-13', 'telecom', [home]), by('PID-14', 'telecom', [work])], at(2));

  test('a field replaces its items and keeps the items of other fields', () => {
    const { content } = ofPatient(given, [by('PID-13', 'telecom', [sent('3'), sent('4')])], at(3));
    expect(content['telecom']).toEqual([sent('3'), sent('4'), work]);
  });

  test('"" removes the items of the field', () => {
    expect(ofPatient(given, [by('PID-13', 'telecom', null)], at(3)).content).toEqual({ telecom: [work] });
  });

  test('"" of a field without items removes the items that the field owns', () => {
    const owns = (item: object) => 'use' in item && item.use === 'home';
    expect(
      ofPatient(start({ telecom: [home, work] }), [by('PID-13', 'telecom', null, { owns })], at(3)).content,
    ).toEqual({
      telecom: [work],
    });
  });

  test('an older field changes nothing', () => {
    const older = ofPatient(given, [by('PID-13', 'telecom', [sent('0')]), by('PID-14', 'telecom', [work])], at(1));
    expect(older).toMatchObject({ isStale: true, content: { telecom: [home, work] } });
  });

  test('the same item of a message replaces a FHIR client’s item; another item does not', () => {
    const email = { system: 'email', value: 'a@b' };
    expect(ofPatient(start({ telecom: [email, home] }), [by('PID-13', 'telecom', [sent('3')])], at(3)).content).toEqual(
      {
        telecom: [email, sent('3')],
      },
    );
    expect(
      ofPatient(start({ name: [{ text: 'Old' }] }), [by('PID-5', 'name', [{ use: 'official', family: 'New' }])], at(3))
        .content,
    ).toEqual({ name: [{ use: 'official', family: 'New' }] });
  });

  test('a number that a FHIR client corrected between two admissions stays, until the next one', () => {
    const corrected = {
      ...given,
      content: { telecom: [sent('9'), work] },
      remembered: { ...given.remembered, stamps: new Map([['telecom', precedenceOfWrite(5 * 60_000)]]) },
    };
    const late = ofPatient(corrected, [by('PID-13', 'telecom', [sent('0')])], at(4));
    expect(late).toMatchObject({ isStale: true, content: { telecom: [sent('9'), work] } });
    const next = ofPatient(corrected, [by('PID-13', 'telecom', [sent('3')])], at(6));
    expect(next.content).toEqual({ telecom: [sent('3'), work] });
    // An item that the FHIR client removed does not return by another field.
    const without = { ...corrected, content: { telecom: [work] } };
    expect(ofPatient(without, [by('PID-40', 'telecom', [{ value: 'x' }])], at(6)).content).toEqual({
      telecom: [work, { value: 'x' }],
    });
  });

  test('an item that a FHIR client created is not removed by an older message', () => {
    const created = start({ telecom: [home] }, { base: precedenceOfWrite(5 * 60_000) });
    expect(ofPatient(created, [by('PID-13', 'telecom', [sent('3')])], at(1)).content).toEqual({ telecom: [home] });
    expect(ofPatient(created, [by('PID-13', 'telecom', [sent('3')])], at(9)).content).toEqual({ telecom: [sent('3')] });
  });

  test('an item that a FHIR client wrote again still belongs to the field', () => {
    const reprinted = { ...given, content: { telecom: [{ value: '1', use: 'home', system: 'phone' }, work] } };
    expect(ofPatient(reprinted, [by('PID-13', 'telecom', [sent('3')])], at(3)).content).toEqual({
      telecom: [sent('3'), work],
    });
  });

  test('the fields of one message do not remove each other’s items', () => {
    const named = [
      by('PID-5', 'name', [{ use: 'nickname', text: 'A' }]),
      by('PID-9', 'name', [{ use: 'nickname', text: 'B' }]),
    ];
    expect(ofPatient(start({}), named, at(1)).content).toEqual({
      name: [
        { use: 'nickname', text: 'A' },
        { use: 'nickname', text: 'B' },
      ],
    });
  });

  test('a merged patient does not become active again', () => {
    const merged = start({ active: false, link: [{ type: 'replaced-by' }] });
    expect(ofPatient(merged, [fixed('active', true)], at(9)).content).toMatchObject({ active: false });
  });
});

describe('identifiers of a patient', () => {
  const listed = (value: Contribution['value']) => by('PID-3', 'identifier', value, { keeps: true });

  test('gain details and are never removed', () => {
    const before = ofPatient(start({}), [listed([{ system: 's', value: '2' }])], at(1));
    const stored = { ...before, content: { identifier: [{ value: '1' }, { system: 's', value: '2' }] } };
    expect(ofPatient(stored, [listed([{ system: 't', value: '1' }])], at(2)).content).toEqual({
      identifier: [
        { system: 't', value: '1' },
        { system: 's', value: '2' },
      ],
    });
  });

  test('a number that another field repeats with less detail is listed once', () => {
    const same = [listed([{ system: 's', value: '1' }]), by('PID-2', 'identifier', [{ value: '1' }], { keeps: true })];
    expect(ofPatient(start({}), same, at(1)).content).toEqual({ identifier: [{ system: 's', value: '1' }] });
  });

  test.each([1, 9])('a bare number at %i keeps the number with a known authority unchanged', (minute) => {
    const known = ofPatient(start({}), [listed([{ type: { text: 'MR' }, system: 's', value: '1' }])], at(5));
    expect(ofPatient(known, [listed([{ value: '1' }])], at(minute)).content).toEqual({
      identifier: [{ type: { text: 'MR' }, system: 's', value: '1' }],
    });
  });

  test('the newest list is first; its members win, and no member is lost', () => {
    const one = ofPatient(start({}), [listed([{ type: { text: 'MR' }, system: 's', value: '1' }])], at(5));
    const two = ofPatient(
      one,
      [
        listed([
          { system: 's', value: '2' },
          { system: 's', value: '1', period: {} },
        ]),
      ],
      at(6),
    );
    const three = ofPatient(two, [listed([{ type: { text: 'PI' }, system: 's', value: '1' }])], at(1));
    expect(three.content).toEqual({
      identifier: [
        { system: 's', value: '2' },
        { type: { text: 'MR' }, system: 's', value: '1', period: {} },
      ],
    });
  });

  test('a FHIR client’s statement about a number is kept, its system and newer members', () => {
    const theirs = { use: 'usual', system: 's', value: '1', _value: { id: 'x' } };
    const sent = [listed([{ system: 's', value: '1', use: 'official', type: { text: 'MR' } }])];
    const client = (minute: number) => start({ identifier: [theirs] }, { base: precedenceOfWrite(minute * 60_000) });
    expect(ofPatient(client(5), sent, at(1)).content).toEqual({
      identifier: [{ ...theirs, type: { text: 'MR' } }],
    });
    expect(ofPatient(client(5), sent, at(9)).content).toEqual({
      identifier: [{ ...theirs, use: 'official', type: { text: 'MR' } }],
    });
    const bare = ofPatient(client(5), [listed([{ value: '1' }])], at(9));
    expect(bare.content).toEqual({ identifier: [theirs] });
  });

  test('an item that a FHIR client removed returns by a newer message only', () => {
    const known = ofPatient(start({}), [listed([{ system: 's', value: '1' }])], at(1));
    const removed = {
      ...known,
      content: {},
      remembered: { ...known.remembered, stamps: new Map([['identifier', precedenceOfWrite(5 * 60_000)]]) },
    };
    expect(ofPatient(removed, [listed([{ system: 's', value: '2' }])], at(6)).content).toEqual({
      identifier: [{ system: 's', value: '2' }],
    });
    expect(ofPatient(removed, [listed([{ system: 's', value: '1' }])], at(6)).content).toEqual({
      identifier: [{ system: 's', value: '1' }],
    });
  });

  test('an identifier with a name matches the same identifier with the system of the name', () => {
    const before = ofPatient(start({}), [listed([{ value: '1', assigner: { display: 'Hosp' } }])], at(1));
    expect(ofPatient(before, [listed([{ system: 'urn:example:hosp', value: '1' }])], at(2)).content).toEqual({
      identifier: [{ system: 'urn:example:hosp', value: '1', assigner: { display: 'Hosp' } }],
    });
  });

  test('PID-19 replaces its identifier', () => {
    const ssn = (value: string) => by('PID-19', 'identifier', [{ system: 'ssn', value }]);
    const one = ofPatient(start({}), [listed([{ system: 's', value: '1' }]), ssn('1')], at(1));
    expect(ofPatient(one, [ssn('2')], at(2)).content).toEqual({
      identifier: [
        { system: 's', value: '1' },
        { system: 'ssn', value: '2' },
      ],
    });
    expect(ofPatient(one, [by('PID-19', 'identifier', null)], at(2)).content).toEqual({
      identifier: [{ system: 's', value: '1' }],
    });
  });
});
