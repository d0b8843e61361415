/**
 * The patient record that a message finds. The cases are messages that put two people into one record before, or split one
 * person. A case is a history about Ann, or about Ann and Bob. Each case invents separate numbers.
 */
import { describe, expect, test } from 'vitest';

import type { JsonObject } from '../../stack/tools/exact-json.ts';

interface Patient {
  readonly id: string;
  readonly content: JsonObject;
}

interface PatientRecord extends Patient {
  readonly numbers: readonly string[];
  /** Texts `of-…` in the other resources of the patient. */
  readonly data: readonly string[];
}

export interface PatientSubject {
  readonly send: (message: string) => Promise<{ readonly outcome: string; readonly errors: readonly string[] }>;
  /** By another key of the site. */
  readonly sendByOther: PatientSubject['send'];
  /** Patients of the site with the text in their content or history. */
  readonly records: (text: string) => Promise<readonly PatientRecord[]>;
  /** Patients of the site with the family name, in the order they were made. */
  readonly patients: (family: string) => Promise<readonly Patient[]>;
  /** Ids of the patients that are known by one of these numbers. */
  readonly patientsWith: (...values: readonly string[]) => Promise<readonly string[]>;
  /** Ids of the patients that Observations of this code are of. */
  readonly subjects: (code: string) => Promise<readonly string[]>;
  /** As a FHIR client does; with an id, an update. */
  readonly write: (patient: JsonObject, id?: string) => Promise<string>;
  /** Kinds of what is listed for the administrator about these patients. */
  readonly listed: (ids: readonly string[]) => Promise<readonly string[]>;
}

let number = 0;
let control = 0;
const msh = (type: string, facility = 'HOSP') =>
  `MSH|^~\\&|LAB|${facility}|GATEWAY|SITE|20260102030405+0100||${type}|I${(control += 1)}|P|2.5.1`;

/** The family names and numbers of one case: `{X}` in a PID-3 becomes a number without a use in any other case. */
function story() {
  const tag = `${(number += 1)}`;
  const own = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => `${name}${tag}`);
  const person = (kind: 'ann' | 'bob' | 'bare') =>
    kind === 'bare'
      ? '|'
      : kind === 'ann'
        ? `Ann${letters(tag)}^Ann||19800203|F`
        : `Bob${letters(tag)}^Bob||19600506|M`;
  const pid = (numbers: string, kind: 'ann' | 'bob' | 'bare' = 'ann', before = '', after = '') =>
    `PID|1|${own(before)}|${own(numbers)}|${own(after)}|${person(kind)}`;
  const code = `k${tag}`;
  return {
    own,
    code,
    ann: `Ann${letters(tag)}`,
    bob: `Bob${letters(tag)}`,
    pid,
    adt: (
      numbers: string,
      kind?: 'ann' | 'bob' | 'bare',
      { event = 'A08', facility = 'HOSP', before = '', after = '' } = {},
    ) => `${msh(`ADT^${event}`, facility)}\n${pid(numbers, kind, before, after)}`,
    oru: (numbers: string, kind?: 'ann' | 'bob' | 'bare', facility = 'HOSP') =>
      `${msh('ORU^R01', facility)}\n${pid(numbers, kind)}\nOBR|1||F${control}^LAB|1^T^L|||20260101||||||||||||||||||F\nOBX|1|NM|${code}^T^L||5||||||F`,
    merge: (survivor: string, merged: string, { event = 'A40', name = '' } = {}) =>
      `${msh(`ADT^${event}`)}\n${pid(survivor)}\nMRG|${own(merged)}||||||${name}`,
  };
}
const letters = (digits: string) => digits.replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)));

/**
 * Reads a step of a history. It begins with PID-3. The rest is separated by `; `: `bob` or `bare` for another person than Ann, `oru`
 * for a result, and MSH-4 or PID-4 with its value.
 */
function readStep(step: string) {
  const [numbers = '', ...more] = step.split('; ');
  const fieldOf = (name: string, usual: string): string =>
    more.find((each) => each.startsWith(name))?.slice(name.length + 1) ?? usual;
  const kind = (['bob', 'bare'] as const).find((each) => more.includes(each));
  return {
    numbers,
    kind,
    isResult: more.includes('oru'),
    facility: fieldOf('MSH-4', 'HOSP'),
    after: fieldOf('PID-4', ''),
  };
}

export function identityCases(subject: () => PatientSubject): void {
  describe.each<[name: string, steps: readonly string[], ann: number, bob: number, last: string]>([
    ['an OID and a namespace, then the namespace', ['{X}^^^T{N}&1.2.3.4&ISO^MR', '{X}^^^T{N}^MR'], 1, 0, ''],
    ['the same, reversed', ['{X}^^^T{N}^MR', '{X}^^^T{N}&1.2.3.4&ISO^MR'], 1, 0, ''],
    ['an OID, then it without the namespace', ['{X}^^^T{N}&1.2.3.4&ISO^MR', '{X}^^^&1.2.3.4&ISO^MR'], 1, 0, ''],
    [
      'a second OID for a namespace is not used',
      ['{X}^^^S&1.2.5&ISO^MR', '{Y}^^^S&1.2.6&ISO^MR; bob', '{Y}^^^S'],
      2,
      1,
      'W 205 PID^1^3^1^1, W 205 PID^1^3^1^1',
    ],
    ['an OID, then nothing', ['{X}^^^HOSP1&1.2.3.5&ISO^MR', '{X}'], 1, 0, 'W 205 PID^1^3^1^1'],
    ['a namespace, then nothing', ['{X}^^^HOSP^MR', '{X}'], 1, 0, ''],
    ['nothing, then a namespace', ['{X}', '{X}^^^HOSP^MR'], 1, 0, ''],
    ['two namespaces', ['{X}^^^ONE^MR', '{X}^^^TWO^MR; bob'], 1, 1, ''],
    ['a namespace in other letters', ['{X}^^^ONE^MR', '{X}^^^one^MR'], 1, 0, ''],
    ['leading noughts', ['00{X}^^^ONE^MR', '{X}^^^ONE^MR; bob'], 1, 1, ''],
    ['blanks', [' {X} ^^^ONE^MR', '{X}^^^ONE^MR'], 1, 0, ''],
    ['a type, then none', ['{X}^^^ONE^MR', '{X}^^^ONE'], 1, 0, ''],
    ['another type', ['{X}^^^ONE^MR', '{X}^^^ONE^PI'], 1, 0, ''],
    ['two numbers, the other way round', ['{X}^^^ONE^MR~{Y}^^^ONE^MR', '{Y}^^^ONE^MR~{X}^^^ONE^MR'], 1, 0, ''],
    ['a result by a number that was only listed', ['{X}^^^ONE^MR~{Y}^^^ONE^PI', '{Y}^^^ONE^PI; oru'], 1, 0, ''],
    ['the laboratory first', ['{E}^^^EPI^PI; oru', '{M}^^^ONE^MR~{E}^^^EPI^PI'], 1, 0, ''],
    [
      'numbers of two patients',
      ['{X}^^^ONE^MR', '{Y}^^^ONE^MR; bob', '{X}^^^ONE^MR~{Y}^^^ONE^MR'],
      1,
      1,
      'W 205 PID^1^3^2^1',
    ],
    ['a new number, the old in PID-4', ['{X}^^^ONE^MR', '{Y}^^^ONE^MR; PID-4 {X}^^^ONE^MR', '{X}^^^ONE^MR'], 1, 0, ''],
    [
      'one placeholder for a social security number',
      ['999-99-9999^^^SSA^SS~{A}^^^ONE^PI', '999-99-9999^^^SSA^SS~{B}^^^ONE^PI; bob'],
      1,
      1,
      '',
    ],
    ['a placeholder alone', ['999-99-9999^^^ONE^MR'], 0, 0, 'E 101 PID^1^3^1^1'],
    [
      'a number without an authority from two facilities',
      ['{X}; MSH-4 EAST', '{X}; bob; MSH-4 WEST'],
      1,
      1,
      'W 205 PID^1^3^1^1',
    ],
    ['the same of one person', ['{X}; MSH-4 EAST', '{X}; MSH-4 WEST'], 1, 0, 'W 205 PID^1^3^1^1'],
    [
      'an OID, a bare result, another OID',
      ['{X}^^^&1.2.3.6&ISO^MR', '{X}; oru', '{X}^^^OTHER&2.16.840.1.9&ISO^MR; bob'],
      1,
      1,
      'W 205 PID^1^3^1^1',
    ],
    [
      'a number that another person got: a correction',
      ['{X}^^^ONE^MR', '{X}^^^ONE^MR; bob'],
      0,
      1,
      'W 205 PID^1^3^1^1',
    ],
    ['a result of another person', ['{X}^^^ONE^MR', '{X}^^^ONE^MR; bob; oru'], 1, 0, 'E 205 PID^1^3^1^1'],
    ['a result without name and birth date', ['{X}^^^ONE^MR', '{X}^^^ONE^MR; bare; oru'], 1, 0, ''],
    [
      'twins, one listed with the number of the other',
      ['{X}^^^ONE^MR', '{Y}^^^ONE^MR~{X}^^^ONE^MR; bob'],
      1,
      1,
      'W 205 PID^1^3^2^1',
    ],
    ['only an account number of another person', ['{X}^^^ONE^AN', '{X}^^^ONE^AN; bob'], 1, 1, ''],
    ['a result by an account number', ['{X}^^^ONE^AN; bob; oru'], 0, 0, 'E 205 PID^1^3^1^1'],
  ])('%s', (_name, steps, ann, bob, last) => {
    test('ends in the right patient records', async () => {
      const { adt, oru, own, ann: annName, bob: bobName } = story();
      let answer: readonly string[] = [];
      for (const step of steps) {
        const { numbers, kind, isResult, facility, after } = readStep(step);
        const message = isResult ? oru(numbers, kind, facility) : adt(numbers, kind, { facility, after });
        answer = (await subject().send(own(message))).errors;
      }
      expect(
        [await subject().patients(annName), await subject().patients(bobName)].map(({ length }) => length),
      ).toEqual([ann, bob]);
      expect(answer.join(', ')).toBe(last);
    });
  });

  describe('newborns whose messages list the number of their mother, who is not known', () => {
    const send = async (tag: string, numbers: string, name: string, after = '') =>
      subject().send(
        `${msh('ADT^A28')}\nPID|1||${numbers.replaceAll('{', tag)}||${name.replaceAll('FAMILY', tag)}||20260301|F${after}`,
      );
    /** Letters, since the family name of a case says what is searched. */
    const tagOf = (): string => `Born${letters(`${(number += 1)}`)}x`;
    const names = `FAMILY^BABYGIRL, FAMILY^BABYBOY, FAMILY^MALE, FAMILY^NB, FAMILY^UNNAMED, FAMILY^INFANTGIRL, FAMILY^NEWBORNGIRL,
      FAMILY^B/O MARY, FAMILY^MARYGIRL, FAMILY BABY GIRL, FAMILY, FAMILY^BABY GIRL, FAMILY^TWIN, FAMILY^GIRL2, FAMILY^UNKNOWN,
      FAMILY^RECIEN NACIDO, FAMILY^MARY^BABY, FAMILY^M`;
    test.each(names.split(/,\s+/))('%s', async (name) => {
      const [one, other] = [tagOf(), tagOf()];
      // Each newborn lists the mother's number after another number. The second history has the reverse order.
      for (const [tag, order] of [
        [one, ['a', 'b']],
        [other, ['b', 'a']],
      ] as const) {
        for (const [at, own] of order.entries()) {
          const sent = await send(tag, `${own}{^^^ONE^MR~m{^^^ONE^MR`, name);
          expect([sent.outcome, sent.errors]).toEqual(['AA', at === 0 ? [] : ['W 205 PID^1^3^2^1']]);
        }
        const ids = await subject().patientsWith(`a${tag}`, `b${tag}`);
        expect(ids).toHaveLength(2);
        expect(await subject().listed(ids)).toEqual(['possible-duplicate']);
        // After a separate name, each newborn keeps a separate record.
        await send(tag, `b{^^^ONE^MR`, 'FAMILY^Eve');
        expect(await subject().patientsWith(`a${tag}`, `b${tag}`)).toEqual(ids);
      }
    });

    test('the number of the mother first: the other newborn’s message is rejected until the mother is known', async () => {
      for (const order of [
        ['a', 'b', 'm'],
        ['b', 'a', 'm'],
        ['a', 'm', 'b'],
        ['m', 'a', 'b'],
      ]) {
        const tag = tagOf();
        const sendOf = (own: string) =>
          own === 'm'
            ? subject().send(`${msh('ADT^A04')}\nPID|1||m${tag}^^^ONE^MR||${tag}^Mary||19900405|F`)
            : send(tag, `m{^^^ONE^MR~${own}{^^^ONE^MR`, 'FAMILY^UNNAMED', `\nAL1|1|DA|of-${own}^Penicillin^L`);
        const outcomes: string[] = [];
        for (const own of order) outcomes.push((await sendOf(own)).outcome);
        expect(outcomes).toEqual(order[2] === 'm' ? ['AA', 'AE', 'AA'] : ['AA', 'AA', 'AA']);
        for (const [at, own] of order.entries())
          if (outcomes[at] === 'AE') expect((await sendOf(own)).outcome).toBe('AA');
        // Each is known by the own number alone, also with a name.
        await send(tag, `a{^^^ONE^MR`, 'FAMILY^Amy', '\nAL1|1|DA|of-a^Penicillin^L');
        await send(tag, `b{^^^ONE^MR`, 'FAMILY^Eve', '\nAL1|1|DA|of-b^Penicillin^L');
        const records = await subject().records(tag);
        expect(records.filter(({ data }) => data.length > 1)).toEqual([]);
        expect(await subject().patientsWith(`m${tag}`)).toHaveLength(1);
        const mother = records.find(({ content }) => content['birthDate'] === '1990-04-05');
        expect([mother?.numbers, mother?.data]).toEqual([[`m${tag}`], []]);
      }
    });

    test('the own number first, with other relatives beside it: the data of twins are in no common record', async () => {
      const tag = tagOf();
      await send(tag, 'a{^^^ONE^MR~f{^^^ONE^MR', 'FAMILY^UNNAMED', '\nAL1|1|DA|of-a^Penicillin^L');
      const sent = await send(tag, 'a{^^^ONE^MR~b{^^^ONE^MR', 'FAMILY^UNNAMED', '\nAL1|1|DA|of-a^Penicillin^L');
      expect([sent.outcome, sent.errors]).toEqual(['AE', ['E 205 PID^1^3^1^1']]);
      await send(tag, 'b{^^^ONE^MR', 'FAMILY^UNNAMED', '\nAL1|1|DA|of-b^Penicillin^L');
      expect((await subject().records(tag)).filter(({ data }) => data.length > 1)).toEqual([]);
    });

    test('with equal PID-25 beside all else they are one', async () => {
      const tag = tagOf();
      await send(tag, 'a{^^^ONE^MR~m{^^^ONE^MR', 'FAMILY^BABYGIRL', `${'|'.repeat(17)}1`);
      expect((await send(tag, 'b{^^^ONE^MR~m{^^^ONE^MR', 'FAMILY^BABYGIRL', `${'|'.repeat(17)}1`)).errors).toEqual([]);
      expect((await send(tag, 'c{^^^ONE^MR~m{^^^ONE^MR', 'FAMILY^BABYGIRL', `${'|'.repeat(17)}2`)).errors).toEqual([
        'W 205 PID^1^3^2^1',
      ]);
      expect(await subject().patientsWith(`a${tag}`, `b${tag}`, `c${tag}`)).toHaveLength(2);
    });

    test('a person with a name similar to a newborn’s is found as any other person', async () => {
      const tag = tagOf();
      for (const [at, name] of ['BOYD', 'MALEK', 'GIRLING'].entries()) {
        expect((await send(tag, `a${at}{^^^ONE^MR~m${at}{^^^ONE^MR`, `FAMILY^${name}`)).errors).toEqual([]);
        expect((await send(tag, `b${at}{^^^ONE^MR~m${at}{^^^ONE^MR`, `FAMILY^${name}`)).errors).toEqual([]);
      }
      expect(await subject().patients(tag)).toHaveLength(3);
    });
  });

  test('a number of another patient is not copied, and both are listed', async () => {
    const { adt, ann, bob, own } = story();
    await subject().send(adt('{X}^^^ONE^MR'));
    await subject().send(adt('{Y}^^^ONE^MR', 'bob'));
    await subject().send(adt('{X}^^^ONE^MR~{Y}^^^ONE^MR'));
    const [[annChart], [bobChart]] = [await subject().patients(ann), await subject().patients(bob)];
    expect(annChart?.content['identifier']).toMatchObject([{ value: own('{X}') }]);
    expect(await subject().listed([annChart?.id ?? '', bobChart?.id ?? ''])).toEqual(['possible-duplicate']);
    expect((await subject().send(adt('{Y}^^^ONE^MR', 'bob'))).errors).toEqual([]);
  });

  test('a bare number takes nothing away from an identifier', async () => {
    const { adt, ann, own } = story();
    await subject().send(adt('{X}^^^ERASE&1.2.3.7&ISO^MR'));
    await subject().send(adt('{X}'));
    const [patient] = await subject().patients(ann);
    expect(patient?.content['identifier']).toMatchObject([
      {
        system: 'urn:oid:1.2.3.7',
        value: own('{X}'),
        assigner: { display: 'ERASE' },
        type: { coding: [{ code: 'MR' }] },
      },
    ]);
  });

  test('a FHIR client’s system stays, and what messages taught survives the client’s write', async () => {
    const { adt, ann, own } = story();
    const name = [{ family: ann, given: ['Ann'] }];
    const about = { resourceType: 'Patient', name, birthDate: '1980-02-03' };
    const identifier = [{ system: 'http://example.org/mrn', value: own('{X}'), period: { start: '2020' } }];
    const id = await subject().write({ ...about, identifier });
    expect((await subject().send(adt('{X}^^^FHIRED^MR'))).errors).toEqual(['W 205 PID^1^3^1^1']);
    const [patient] = await subject().patients(ann);
    expect(patient?.id).toBe(id);
    expect(patient?.content['identifier']).toMatchObject([identifier[0], { assigner: { display: 'FHIRED' } }]);
    await subject().write({ ...about, identifier, active: true }, id);
    expect(await subject().send(adt('{X}^^^FHIRED^MR', 'bare'))).toMatchObject({ errors: [] });
    expect(await subject().patients(ann)).toHaveLength(1);
  });

  test('two FHIR patients with one number: the one with equal details, else none', async () => {
    const { adt, ann, bob, own, oru } = story();
    const identifier = [{ system: 'urn:oid:1.2.3.8', value: own('{X}') }];
    const a = await subject().write({
      resourceType: 'Patient',
      name: [{ text: `Ann ${ann}` }],
      birthDate: '1980-02-03',
      identifier,
    });
    const b = await subject().write({ resourceType: 'Patient', name: [{ family: bob }], identifier });
    expect((await subject().send(adt('{X}^^^&1.2.3.8&ISO'))).errors).toEqual(['W 205 PID^1^3^1^1']);
    expect(await subject().listed([a, b])).toEqual(['possible-duplicate']);
    expect((await subject().send(oru('{X}^^^&1.2.3.8&ISO', 'bare'))).errors).toEqual(['E 205 PID^1^3^1^1']);
  });

  test('a number in the list of another record moves to the patient that it identifies', async () => {
    const { adt, ann, bob, own } = story();
    await subject().send(adt('{X}^^^ONE^MR~{Y}^^^ONE^MR'));
    expect((await subject().send(adt('{Y}^^^ONE^MR', 'bob'))).errors).toEqual(['W 205 PID^1^3^1^1']);
    const [[annChart], [bobChart]] = [await subject().patients(ann), await subject().patients(bob)];
    expect(annChart?.content['identifier']).toMatchObject([{ value: own('{X}') }]);
    expect(bobChart?.content['identifier']).toMatchObject([{ value: own('{Y}') }]);
    expect(await subject().listed([annChart?.id ?? '', bobChart?.id ?? ''])).toEqual(['possible-duplicate']);
    expect((await subject().send(adt('{X}^^^ONE^MR'))).errors).toEqual([]);
  });

  describe('merges', () => {
    test.each(['A18', 'A30', 'A34', 'A36', 'A39', 'A40'])(
      '%s: results and late messages find the survivor',
      async (event) => {
        const { adt, oru, merge, ann, code, own } = story();
        await subject().send(adt('{X}^^^ONE^MR'));
        await subject().send(oru('{Y}^^^ONE^MR'));
        expect(await subject().send(merge('{X}^^^ONE^MR', '{Y}^^^ONE^MR', { event }))).toMatchObject({
          outcome: 'AA',
          errors: [],
        });
        expect((await subject().send(oru('{Y}^^^ONE^MR'))).outcome).toBe('AA');
        const [survivor, loser] = await subject().patients(ann);
        expect(new Set(await subject().subjects(code))).toEqual(new Set([survivor?.id]));
        expect(survivor?.content['identifier']).toMatchObject([
          { value: own('{X}') },
          { value: own('{Y}'), use: 'old' },
        ]);
        expect(loser?.content).toMatchObject({ active: false });

        // A statement under the old number stays with the merged patient.
        const late = await subject().send(adt('{Y}^^^ONE^MR', 'ann').replace('|F', '|M'));
        expect(late).toMatchObject({ outcome: 'AA', errors: ['W 205 PID^1^3^1^1'] });
        expect((await subject().patients(ann)).map(({ content }) => [content['gender'], content['active']])).toEqual([
          ['female', true],
          ['male', false],
        ]);
      },
    );

    test.each(['A18', 'A30', 'A34', 'A36', 'A39', 'A40'])('%s: PID-3 has no order', async (event) => {
      for (const [pid, kept] of [
        ['{B}^^^ONE^MR~{A}^^^ONE^MR', '{E}'],
        ['{E}^^^EPI^PI~{A}^^^ONE^MR', ''],
      ] as const) {
        const { adt, oru, merge, ann, code, own } = story();
        await subject().send(adt('{A}^^^ONE^MR', 'ann', { event: 'A04' }));
        await subject().send(adt('{B}^^^ONE^MR~{E}^^^EPI^PI', 'ann', { event: 'A04' }));
        await subject().send(oru('{B}^^^ONE^MR'));
        const again = merge(pid, '{B}^^^ONE^MR', { event });
        expect(await subject().send(again)).toMatchObject({ outcome: 'AA', errors: [] });
        const [survivor, loser] = await subject().patients(ann);
        expect([survivor?.content['active'], loser?.content['active']]).toEqual([true, false]);
        const identifiers = [survivor?.content['identifier'] ?? []].flat();
        const old = identifiers.filter((item) => JSON.stringify(item).includes('"use":"old"'));
        expect(old).toMatchObject([{ value: own('{B}') }, ...(kept === '' ? [] : [{ value: own(kept) }])]);
        await subject().send(oru('{B}^^^ONE^MR'));
        expect(new Set(await subject().subjects(code))).toEqual(new Set([survivor?.id]));
      }
    });

    test('PID-3 that names only the patient of MRG-1: nothing to merge, and the number becomes an old one', async () => {
      const { adt, merge, ann, own } = story();
      await subject().send(adt('{A}^^^ONE^MR~{B}^^^ONE^MR'));
      expect(await subject().send(merge('{A}^^^ONE^MR', '{B}^^^ONE^MR'))).toMatchObject({
        outcome: 'AA',
        errors: ['W 205 MRG^1^1^1^1'],
      });
      const [patient, ...others] = await subject().patients(ann);
      expect(others).toEqual([]);
      expect(patient?.content['identifier']).toMatchObject([{ value: own('{A}') }, { value: own('{B}'), use: 'old' }]);
      expect(await subject().send(adt('{A}^^^ONE^MR~{B}^^^ONE^MR'))).toMatchObject({ outcome: 'AA', errors: [] });
    });

    test('a newborn whose message lists the mother is not merged into the mother', async () => {
      const { adt, merge, ann, bob } = story();
      await subject().send(adt('{A}^^^ONE^MR'));
      await subject().send(adt('{M}^^^ONE^MR', 'bob'));
      expect(await subject().send(merge('{M}^^^ONE^MR~{N}^^^ONE^MR', '{A}^^^ONE^MR'))).toMatchObject({ outcome: 'AA' });
      expect((await subject().patients(ann)).map(({ content }) => content['active'])).toEqual([false, true]);
      expect((await subject().patients(bob)).map(({ content }) => content['active'])).toEqual([true]);
    });

    test('a number that a FHIR client gave to the survivor too: the other record of the person is merged', async () => {
      const { merge, ann, own } = story();
      const about = { resourceType: 'Patient', name: [{ family: ann, given: ['Ann'] }], birthDate: '1980-02-03' };
      const numbers = (...values: string[]) =>
        values.map((value) => ({ system: 'urn:oid:1.2.3.44', value: own(value) }));
      await subject().write({ ...about, identifier: numbers('{A}', '{B}') });
      await subject().write({ ...about, identifier: numbers('{B}') });
      const cx = (value: string) => `${value}^^^&1.2.3.44&ISO^MR`;
      expect(await subject().send(merge(cx('{A}'), cx('{B}')))).toMatchObject({ outcome: 'AA', errors: [] });
      // Ids of one millisecond have no order.
      const records = await subject().patients(ann);
      const [kept, ...others] = records.filter(({ content }) => JSON.stringify(content).includes(own('{A}')));
      expect([kept?.content['active'], others]).toEqual([true, []]);
      expect(records.filter((each) => each !== kept).map(({ content }) => content['active'])).toEqual([false]);
    });

    test('chains: a result of the first finds the last', async () => {
      const { adt, oru, merge, ann, code } = story();
      for (const id of ['A', 'B', 'C']) await subject().send(adt(`{${id}}^^^ONE^MR`));
      await subject().send(merge('{A}^^^ONE', '{B}^^^ONE'));
      await subject().send(merge('{C}^^^ONE', '{A}^^^ONE'));
      await subject().send(oru('{B}^^^ONE'));
      const [, , last] = await subject().patients(ann);
      expect(await subject().subjects(code)).toEqual([last?.id]);
      expect(await subject().send(merge('{D}^^^ONE', '{B}^^^ONE'))).toMatchObject({
        outcome: 'AE',
        errors: ['E 204 MRG^1^1^1^1'],
      });
    });

    test('a merged patient known by another authority is not named: never AA, unless MRG-7 names another person', async () => {
      const { adt, merge, ann, bob } = story();
      await subject().send(adt('{Y}^^^&1.2.3.9&ISO^MR', 'bob'));
      await subject().send(adt('{X}^^^ONE^MR'));
      expect(await subject().send(merge('{X}^^^ONE^MR', '{Y}^^^UNKNOWN^MR'))).toMatchObject({
        outcome: 'AE',
        errors: ['E 204 MRG^1^1^1^1'],
      });
      const ids = [...(await subject().patients(ann)), ...(await subject().patients(bob))].map(({ id }) => id);
      expect(await subject().listed(ids)).toEqual(['merge-unresolved']);
      const answer = await subject().send(merge('{X}^^^ONE^MR', '{Y}^^^UNKNOWN^MR', { name: `${ann}^Ann` }));
      expect(answer).toMatchObject({ outcome: 'AA', errors: ['W 204 MRG^1^1^1^1'] });
      expect((await subject().patients(bob))[0]?.content).toMatchObject({ active: true });
    });

    test('a further merged patient must agree with the first', async () => {
      const { adt, merge, ann, bob } = story();
      await subject().send(adt('{X}^^^ONE^MR'));
      await subject().send(adt('{Y}^^^ONE^MR'));
      await subject().send(adt('{Z}^^^ONE^MR'));
      await subject().send(adt('{W}^^^ONE^MR', 'bob'));
      const several = merge('{X}^^^ONE^MR', '{X}^^^ONE^MR~{Y}^^^ONE^MR~{Z}^^^ONE^MR~{W}^^^ONE^MR');
      expect(await subject().send(several)).toMatchObject({ outcome: 'AA', errors: ['W 205 MRG^1^1^1^1'] });
      expect((await subject().patients(ann)).map(({ content }) => content['active'])).toEqual([true, false, false]);
      expect((await subject().patients(bob)).map(({ content }) => content['active'])).toEqual([true]);
    });

    test('the new person of a number stays apart from the survivor of an earlier merge', async () => {
      const { adt, oru, merge, ann, bob, code } = story();
      await subject().send(adt('{X}^^^ONE^MR'));
      await subject().send(adt('{Y}^^^ONE^MR'));
      await subject().send(merge('{X}^^^ONE^MR', '{Y}^^^ONE^MR'));
      const reused = await subject().send(`${adt('{Y}^^^ONE^MR', 'bob')}\nAL1|1|DA|PEN^Penicillin^L`);
      expect(reused.outcome).toBe('AA');
      expect((await subject().patients(ann)).map(({ content }) => content['active'])).toEqual([true, false]);
      const [stranger] = await subject().patients(bob);
      expect(stranger?.content['active']).toBe(true);
      expect((await subject().send(oru('{Y}^^^ONE^MR', 'bob'))).outcome).toBe('AA');
      expect(await subject().subjects(code)).toEqual([stranger?.id]);
    });
  });

  describe('numbers that change', () => {
    test.each(['A46', 'A47'])(
      '%s: the new number is added, the old one is an old one, back and forth',
      async (event) => {
        const { adt, oru, merge, ann, code, own } = story();
        await subject().send(adt('{X}^^^ONE^MR'));
        expect(await subject().send(merge('{Y}^^^ONE^MR', '{X}^^^ONE^MR', { event }))).toMatchObject({
          outcome: 'AA',
          errors: [],
        });
        await subject().send(oru('{X}^^^ONE^MR'));
        await subject().send(oru('{Y}^^^ONE^MR'));
        const [patient, ...others] = await subject().patients(ann);
        expect(others).toEqual([]);
        expect(new Set(await subject().subjects(code))).toEqual(new Set([patient?.id]));
        const numbers = async () => {
          const [now] = await subject().patients(ann);
          const items = [now?.content['identifier'] ?? []].flat();
          return items.filter((item) => JSON.stringify(item).includes('"use":"old"')).length;
        };
        expect(patient?.content['identifier']).toContainEqual(
          expect.objectContaining({ value: own('{X}'), use: 'old' }),
        );
        expect(await numbers()).toBe(1);
        await subject().send(merge('{X}^^^ONE^MR', '{Y}^^^ONE^MR', { event }));
        expect(await numbers()).toBe(1);
        expect((await subject().patients(ann))[0]?.content['identifier']).toContainEqual(
          expect.objectContaining({ value: own('{Y}'), use: 'old' }),
        );
      },
    );

    test('A47 to a number of another record merges records of one person, and is rejected for another person', async () => {
      const { adt, merge, ann } = story();
      await subject().send(adt('{X}^^^ONE^MR'));
      await subject().send(adt('{Y}^^^ONE^MR'));
      await subject().send(adt('{Z}^^^ONE^MR', 'bob'));
      expect(await subject().send(merge('{Z}^^^ONE^MR', '{X}^^^ONE^MR', { event: 'A47' }))).toMatchObject({
        outcome: 'AE',
        errors: ['E 205 PID^1^3^1^1'],
      });
      expect((await subject().send(merge('{Y}^^^ONE^MR', '{X}^^^ONE^MR', { event: 'A47' }))).outcome).toBe('AA');
      expect((await subject().patients(ann)).map(({ content }) => content['active'])).toEqual([false, true]);
    });

    test('A24 links both ways, A37 removes the links', async () => {
      const { adt, merge, pid, ann } = story();
      await subject().send(adt('{X}^^^ONE^MR'));
      await subject().send(adt('{Y}^^^ONE^MR'));
      const both = (event: string) => `${msh(`ADT^${event}`)}\n${pid('{X}^^^ONE^MR')}\n${pid('{Y}^^^ONE^MR')}`;
      expect((await subject().send(both('A24'))).outcome).toBe('AA');
      const [a, b] = await subject().patients(ann);
      expect([a?.content['link'], b?.content['link']]).toEqual([
        [{ other: { reference: `Patient/${b?.id}` }, type: 'seealso' }],
        [{ other: { reference: `Patient/${a?.id}` }, type: 'seealso' }],
      ]);
      expect((await subject().send(both('A37'))).errors).toEqual([]);
      expect((await subject().patients(ann)).map(({ content }) => content['link'])).toEqual([undefined, undefined]);

      // A37 does not undo a merge. The answer says so.
      await subject().send(merge('{X}^^^ONE^MR', '{Y}^^^ONE^MR'));
      expect((await subject().send(both('A37'))).errors).toEqual(['W 205 PID^2^3^1^1', 'W 204 PID^2']);
    });

    test.each(['A43', 'A44', 'A45'])('%s: the answer lists data that does not move', async (event) => {
      const { adt, merge, ann } = story();
      await subject().send(adt('{X}^^^ONE^MR'));
      await subject().send(adt('{Y}^^^ONE^MR'));
      const answer = await subject().send(merge('{X}^^^ONE^MR', '{Y}^^^ONE^MR', { event }));
      expect(answer).toMatchObject({ outcome: 'AA', errors: ['W 205 MRG^1'] });
      const patients = await subject().patients(ann);
      expect(patients.map(({ content }) => content['active'])).toEqual([true, true]);
      expect(await subject().listed(patients.map(({ id }) => id))).toEqual(['not-moved']);
    });
  });
}
