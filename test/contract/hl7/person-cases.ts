/**
 * The person that a message is about: relatives, reused and contested identifiers, and records that only results made. A history
 * ends in patient records, each with its identifiers and the people whose data it has.
 */
import { describe, expect, test } from 'vitest';

import { someOrdersOf } from '../../stack/tools/orders.ts';
import type { PatientSubject } from './identity-cases.ts';

let number = 0;
let control = 0;

interface Said {
  /** PID-3: `a~E^EPI^PI`; an identifier without an authority has `H` and the type MR. */
  readonly of: string;
  /** PID-5. */
  readonly name?: string;
  readonly born?: string;
  readonly sex?: string;
  /** PID-21; `m^` has no authority. */
  readonly mother?: string;
  /** PID-25. */
  readonly order?: string;
  /** EVN-2, the day of March. */
  readonly day?: string;
  readonly mrg?: string;
  /** The person that the clinical content is of. */
  readonly data?: string;
}

type Send = PatientSubject['send'];

export function personCases(subject: () => PatientSubject): void {
  /** A history with separate identifiers and family names: `{` in a name becomes them. */
  const history = () => {
    const tag = `p${`${(number += 1)}`.replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))}p`;
    const family = (name: string): string =>
      name.replaceAll(/^([^^]*)/g, (text) => (text === '' ? '' : `${text}${tag}`));
    const cx = (list: string): string =>
      list
        .split('~')
        .map((each) => {
          const [value = '', ...more] = each.split('^');
          return more.length > 0 ? `${value}${tag}^^^${more.join('^')}` : `${value}${tag}^^^H^MR`;
        })
        .join('~');
    const message = (
      type: string,
      { of, name = '', born = '', sex = '', order = '', mother = '', day, mrg, data }: Said,
    ): string => {
      const pid = Array<string>(26).fill('');
      for (const [at, value] of [
        [0, 'PID'],
        [3, cx(of)],
        [5, name.split('~').map(family).join('~')],
        [7, born],
        [8, sex],
        [21, mother.endsWith('^') ? `${mother.slice(0, -1)}${tag}` : mother && cx(mother)],
        [25, order],
      ] as const)
        pid[at] = value;
      const msh = `MSH|^~\\&|LAB|HOSP|GATEWAY|SITE|20260401120000+0100||${type}|N${(control += 1)}|P|2.5.1`;
      const lines = [
        msh,
        ...(day === undefined ? [] : [`EVN||202603${day}1200+0100`]),
        pid.join('|'),
        ...(mrg === undefined ? [] : [`MRG|${cx(mrg)}`]),
      ];
      if (data === undefined) return lines.join('\n');
      const content = type.startsWith('ORU')
        ? `OBR|1||F${control}^LAB|1^T^L|||20260301||||||||||||||||||F\nOBX|1|NM|of-${data}^T^L||5||||||F`
        : `AL1|1|DA|of-${data}^Penicillin^L`;
      return `${lines.join('\n')}\n${content}`;
    };
    const send = async (type: string, said: Said, by: Send = (text) => subject().send(text)): Promise<string> => {
      const { outcome, errors } = await by(message(type, said));
      return [outcome, ...new Set(errors.filter((error) => !error.startsWith('I ')))].join(' ');
    };
    const sendByOther: Send = (text) => subject().sendByOther(text);
    const own = (text: string): string => text.replaceAll(tag, '');
    /** Active patient records: identifiers, birth date, people. */
    const active = async (): Promise<string[]> =>
      (await subject().records(tag))
        .filter(({ content }) => content['active'] !== false)
        .map(({ numbers, content, data }) =>
          own(
            `${numbers.join(' ')} ${JSON.stringify(content['birthDate'] ?? '-').replaceAll('"', '')}: ${data.map((each) => each.slice(3)).join(' ')}`,
          ).trim(),
        )
        .toSorted();
    const listed = async (): Promise<readonly string[]> => {
      const ids = (await subject().records(tag)).map(({ id }) => id);
      return [...new Set(await subject().listed(ids))];
    };
    const record = async (value: string) =>
      (await subject().records(tag)).filter(({ numbers }) => numbers.includes(`${value}${tag}`));
    return {
      adt: (said: Said, event = 'A08') => send(`ADT^${event}`, said),
      oru: (said: Said) => send('ORU^R01', { data: 'lab', ...said }),
      byOther: (type: string, said: Said) => send(type, { data: 'lab', ...said }, sendByOther),
      active,
      listed,
      record,
      own,
      tag,
    };
  };

  const ANN = { name: 'SMITH^ANN', born: '19800203', sex: 'F' };
  const BOB = { name: 'JONES^BOB', born: '19600506', sex: 'M' };

  describe('relatives', () => {
    test.each([
      ['a sister with another birth date', 'SMITH^BETH', '19850617', 'AE E 205 PID^1^3^1^1'],
      ['a twin sister', 'SMITH^BETH', '19800203', 'AA W 205 PID^1^3^1^1'],
      ['a husband', 'SMITH^TOM', '19780912', 'AE E 205 PID^1^3^1^1'],
      ['a nickname with a mistyped birth date', 'SMITH^NANCY', '19800204', 'AA W 205 PID^1^3^1^1'],
      ['a nickname with day and month swapped', 'SMITH^NANCY', '19800302', 'AA W 205 PID^1^3^1^1'],
      ['a mistyped birth date', 'SMITH^ANN', '19800213', 'AA'],
      ['an initial with another birth date', 'SMITH^A', '19810203', 'AA'],
    ])('a result of %s', async (_what, name, born, answer) => {
      const { adt, oru } = history();
      await adt({ of: 'a', ...ANN });
      expect(await oru({ of: 'a', name, born })).toBe(answer);
    });

    test('name and birth date count as they were said together', async () => {
      const { adt, oru } = history();
      await adt({ of: 'a', ...ANN });
      await adt({ of: 'a', name: 'JONES^ANN', born: '19800203', sex: 'F' });
      await adt({ of: 'a', name: 'JONES^ANN', born: '19850203', sex: 'F' });
      expect(await oru({ of: 'a', ...ANN })).toBe('AA');
      // No message said the earlier family name with the corrected birth date.
      await adt({ of: 'a', name: 'JONES^ANN', born: '19850719', sex: 'F' });
      expect(await oru({ of: 'a', name: 'SMITH^TOM', born: '19850719', sex: 'M' })).toContain('AE');
    });

    test('a wrong ADT that was corrected does not admit the stranger permanently', async () => {
      const { adt, oru, active } = history();
      await adt({ of: 'a', ...ANN, day: '01' });
      await adt({ of: 'a', ...BOB, day: '02' });
      await adt({ of: 'a', ...ANN, day: '03' });
      expect(await oru({ of: 'a', ...BOB, data: 'bob' })).toContain('AE');
      expect(await active()).toEqual(['a 1980-02-03:']);
    });

    test('results of a delayed first message are accepted', async () => {
      const { adt, oru } = history();
      await adt({ of: 'a', name: 'SMITH^JOHN', born: '19550607', sex: 'M', day: '05' });
      await adt({ of: 'a', name: 'DOE^JOHN', born: '19500101', sex: 'M', day: '02' });
      expect(await oru({ of: 'a', name: 'DOE^JOHN', born: '19500101' })).toBe('AA');
    });

    test.each([
      ['MÜLLER^JÜRGEN', 'MUELLER^JUERGEN'],
      ['MÜLLER^JÜRGEN', 'MULLER^JURGEN'],
      ['SØRENSEN^BJØRN', 'SOERENSEN^BJOERN'],
      ['AASEN^ÅSE', 'AASEN^AASE'],
      ['GROß^HÄNSEL', 'GROSS^HAENSEL'],
    ])('%s and %s are one person', async (one, other) => {
      const { adt, active } = history();
      await adt({ of: 'a~E^EPI^PI', name: one, born: '19700809' });
      expect(await adt({ of: 'b~E^EPI^PI', name: other, born: '19700809' })).toBe('AA');
      expect(await active()).toEqual(['E a b 1970-08-09:']);
    });

    test.each(['SMITH^EVE', 'SMITH^BABYGIRL', 'SMITH'])(
      'PID-3 that begins with the mother’s identifier: %s gets a separate record',
      async (name) => {
        const { adt, oru, active, listed } = history();
        const mother = { name: 'SMITH^MARY', born: '19900405', sex: 'F' };
        const born = '20260301';
        await adt({ of: 'm', ...mother, data: 'mary' });
        expect(await adt({ of: 'm~n', name, born, data: 'baby' }, 'A28')).toBe('AA W 205 PID^1^3^1^1');
        expect(await adt({ of: 'm~n', name, born, data: 'baby' })).toBe('AA W 205 PID^1^3^1^1');
        expect(await oru({ of: 'm~n', name, born, data: 'baby' })).toBe('AA W 205 PID^1^3^1^1');
        expect(await adt({ of: 'm', ...mother })).toBe('AA');
        expect(await active()).toEqual(['m 1990-04-05: mary', 'n 2026-03-01: baby']);
        expect(await listed()).toEqual(['possible-duplicate']);
      },
    );

    test.each([
      ['before', ['b', 'm~b', 'm~a']],
      ['between', ['m~b', 'b', 'm~a']],
    ])(
      'twins with the number of their unknown mother first, and a message with an own number alone %s',
      async (_name, order) => {
        const { adt, active } = history();
        const send = (of: string) =>
          adt({ of, name: 'SMITH^BABYGIRL', born: '20260301', sex: 'F', data: of.endsWith('a') ? 'amy' : 'beth' });
        for (const of of order.slice(0, 2)) expect(await send(of)).toMatch(/^AA/);
        expect(await send('m~a')).toBe('AE E 205 PID^1^3^1^1');
        // The message about the first newborn is accepted as before.
        expect(await send('m~b')).toMatch(/^AA/);
        await adt({ of: 'm', name: 'SMITH^MARY', born: '19900405', sex: 'F' });
        expect(await send('m~a')).toMatch(/^AA/);
        expect((await active()).filter((each) => each.includes('amy'))).toEqual(['a 2026-03-01: amy']);
      },
    );

    test.each([
      ['of another person', true],
      ['that is unknown', false],
    ])(
      'nothing is merged if PID-3 has a number that only the merged record lists, and one %s',
      async (_name, isKnown) => {
        const { adt, active, listed } = history();
        const baby = { name: 'SMITH^BABYGIRL', born: '20260301', sex: 'F' };
        await adt({ of: 'b~t', ...baby, data: 'amy' }, 'A28');
        if (isKnown) await adt({ of: 'u', ...baby, data: 'beth' }, 'A28');
        for (const of of ['t~u', 'u~t'])
          expect(await adt({ of, ...baby, mrg: 'b' }, 'A40')).toBe('AE E 204 PID^1^3^1^1');
        expect(await listed()).toContain('merge-unresolved');
        await adt({ of: 'u', ...baby, data: 'beth' }, 'A28');
        expect(await active()).toEqual(['b t 2026-03-01: amy', 'u 2026-03-01: beth']);
        // Without the relative's number the merge is clear.
        expect(await adt({ of: 't', ...baby, mrg: 'b' }, 'A40')).toMatch(/^AA/);
        expect(await active()).toEqual(['t 2026-03-01: amy', 'u 2026-03-01: beth']);
      },
    );

    describe('PID-21 names the mother’s identifier', () => {
      const BABY = { name: 'SMITH^BABYGIRL', born: '20260301', sex: 'F' };
      const MARY = { name: 'SMITH^MARY', born: '19900405', sex: 'F' };

      test.each([
        ['with its authority', 'm'],
        ['without an authority', 'm^'],
      ])('twins whose unknown mother is first in PID-3, %s', async (_name, mother) => {
        const { adt, oru, active } = history();
        expect(await adt({ of: 'm~a', ...BABY, mother, data: 'amy' }, 'A28')).toBe('AA');
        expect(await oru({ of: 'm~b', ...BABY, mother, data: 'beth' })).toMatch(/^AA/);
        expect(await adt({ of: 'm~b', ...BABY, mother, data: 'beth' }, 'A28')).toMatch(/^AA/);
        await adt({ of: 'm', ...MARY, data: 'mary' }, 'A28');
        expect(await oru({ of: 'm~a', ...BABY, mother, data: 'amy' })).toBe('AA');
        expect(await oru({ of: 'b', ...BABY, data: 'beth' })).toBe('AA');
        expect(await active()).toEqual(['a 2026-03-01: amy', 'b 2026-03-01: beth', 'm 1990-04-05: mary']);
      });

      test('a newborn and the known mother are not listed as possible duplicates', async () => {
        const { adt, oru, active, listed } = history();
        await adt({ of: 'm', ...MARY, data: 'mary' });
        expect(await oru({ of: 'm~a', ...BABY, mother: 'm', data: 'amy' })).toBe('AA');
        // Without a birth date and PID-21, the newborn could be the mother.
        expect(await adt({ of: 'm~a', name: 'SMITH^BABYGIRL', mother: 'm', data: 'amy' })).toBe('AA');
        expect(await active()).toEqual(['a 2026-03-01: amy', 'm 1990-04-05: mary']);
        expect(await listed()).toEqual([]);
      });

      test.each([
        ['the only number', { of: 'a', ...BABY, mother: 'a' }, { of: 'a', ...BABY }],
        [
          'the own number, beside an enterprise number',
          { of: 'a~E^EPI^PI', ...BABY, mother: 'a' },
          { of: 'a', ...BABY },
        ],
        ['the own number, beside that of the known mother', { of: 'a~m', ...BABY, mother: 'a' }, { of: 'a', ...BABY }],
        ['the mother of an adult', { of: 'a~x', ...BOB, mother: 'a' }, { of: 'a', ...BOB }],
        ['the number of another person', { of: 'a~x', ...BABY, mother: 'y' }, { of: 'a', ...BABY }],
      ])('PID-21 names %s, and has no effect', async (_name, first, next) => {
        const { adt, oru, active } = history();
        await adt({ of: 'm', ...MARY, data: 'mary' });
        await adt({ ...first, data: 'one' });
        expect(await oru({ ...next, data: 'one' })).toBe('AA');
        const records = await active();
        expect(records).toHaveLength(2);
        expect(records.filter((each) => each.endsWith(': one'))).toHaveLength(1);
      });

      test('a merge of a newborn whose unknown mother is first in PID-3', async () => {
        const { adt, active } = history();
        await adt({ of: 'a', ...BABY, data: 'amy' });
        await adt({ of: 'm~n', ...BABY, mother: 'm', mrg: 'a' }, 'A40');
        await adt({ of: 'm', ...MARY, data: 'mary' });
        expect(await active()).toEqual(['m 1990-04-05: mary', 'n 2026-03-01: amy']);
      });
    });

    test('the mother takes the leading identifier of the newborn’s record, whose other identifier leads from then on', async () => {
      const { adt, oru, active, listed } = history();
      const baby = { name: 'SMITH^BABYGIRL', born: '20260301', sex: 'F', data: 'baby' };
      const mother = { name: 'SMITH^MARY', born: '19900405', sex: 'F', data: 'mary' };
      expect(await adt({ of: 'm~n', ...baby }, 'A28')).toBe('AA');
      expect(await adt({ of: 'm', ...mother })).toBe('AA W 205 PID^1^3^1^1');
      expect(await oru({ of: 'n', ...baby })).toBe('AA');
      expect(await adt({ of: 'n', ...baby })).toBe('AA');
      expect(await oru({ of: 'm', ...mother })).toBe('AA');
      expect(await active()).toEqual(['m 1990-04-05: mary', 'n 2026-03-01: baby']);
      expect(await listed()).toEqual(['possible-duplicate']);
    });

    test.each([
      ['a message of the mother that begins with the newborn’s number', 'n~m', 'SMITH^MARY', '19900405', 'F'],
      ['a message of a man', 'n', 'JONES^BOB', '19600506', 'M'],
    ])('the mother’s number never leads to the newborn’s record after %s', async (_name, of, name, born, sex) => {
      const { adt, oru, active } = history();
      await adt({ of: 'n~m', name: 'SMITH^BABYGIRL', born: '20260301', sex: 'F', data: 'baby' }, 'A28');
      await adt({ of, name, born, sex });
      // Without a birth date, the mother does not contradict the newborn.
      await oru({ of: 'm', name: 'SMITH^MARY', sex: 'F', data: 'mary' });
      expect((await active()).filter((each) => /baby.*mary/.test(each))).toEqual([]);
    });

    test('no identifier leads to a newborn’s record with several other identifiers', async () => {
      const { adt, oru, active } = history();
      const baby = { name: 'SMITH^BABYGIRL', born: '20260301', sex: 'F', data: 'baby' };
      await adt({ of: 'm~n~t', ...baby }, 'A28');
      await adt({ of: 'm', name: 'SMITH^MARY', born: '19900405', sex: 'F' });
      expect(await oru({ of: 'n', ...baby })).toBe('AA W 205 PID^1^3^1^1');
      expect(await active()).toEqual(['m 1990-04-05:', 'n 2026-03-01: baby', 't 2026-03-01: baby']);
    });

    test('a newborn with the mother’s identifier, and an identifier of another person, is not the mother', async () => {
      const { adt, active } = history();
      await adt({ of: 'm', name: 'SMITH^MARY', born: '19900405', sex: 'F' });
      await adt({ of: 'b', name: 'SMITH^AMY', born: '20260301', sex: 'F' });
      const other = { of: 'm~b', name: 'JONES^BABYGIRL', born: '20260309', data: 'baby' };
      expect(await adt(other, 'A28')).toBe('AE E 205 PID^1^3^1^1');
      expect(await active()).toEqual(['b 2026-03-01:', 'm 1990-04-05:']);
    });

    describe('a newborn with the mother’s identifier alone', () => {
      const MARY = { of: 'm', name: 'SMITH^MARY', born: '19900405', sex: 'F' };

      test.each([
        ['a provisional name', 'SMITH^BABYGIRL', 'F'],
        ['a name', 'SMITH^JOHN', 'M'],
        ['another family name', 'JONES^AMY', 'F'],
      ])('does not become the mother: %s', async (_name, name, sex) => {
        const { adt, active } = history();
        await adt({ ...MARY, data: 'mary' });
        expect(await adt({ of: 'm', name, born: '20260301', sex, data: 'baby' }, 'A28')).toBe('AE E 205 PID^1^3^1^1');
        expect(await active()).toEqual(['m 1990-04-05: mary']);
      });

      test.each(['SMITH^BABYBOY', 'SMITH^B/O MARY', 'SMITH^MARY GIRL', 'BABYGIRL SMITH^MARY', 'SMITH^MARY^^^BABY'])(
        'nor without a birth date: %s',
        async (name) => {
          const { adt, oru, active } = history();
          await adt({ ...MARY, data: 'mary' });
          expect(await adt({ of: 'm', name, data: 'baby' }, 'A31')).toBe('AE E 205 PID^1^3^1^1');
          expect(await oru({ of: 'm', name })).toBe('AE E 205 PID^1^3^1^1');
          expect(await adt({ of: 'm~b', name, data: 'baby' }, 'A01')).toBe('AA W 205 PID^1^3^1^1');
          expect(await active()).toEqual(['b -: baby', 'm 1990-04-05: mary']);
        },
      );

      test.each([
        ['an ADT', 'SMITH^BABYBOY'],
        ['an ADT', 'SMITH^MARY GIRL'],
        ['a result', 'SMITH^BABYBOY'],
      ])('nor does the mother become the newborn without a birth date of %s: %s', async (what, name) => {
        const { adt, oru, active } = history();
        await (what === 'a result' ? oru : adt)({ of: 'm', name, data: 'baby' });
        expect(await adt({ ...MARY, data: 'mary' })).toBe('AA W 205 PID^1^3^1^1');
        expect(await active()).toEqual(['-: baby', 'm 1990-04-05: mary']);
      });

      test('nor the sister of three years', async () => {
        const { adt, active } = history();
        await adt({ of: 'a', name: 'SMITH^AMY', born: '20230301', sex: 'F', data: 'amy' });
        const baby = { of: 'a', name: 'SMITH^BABYBOY', born: '20260405', sex: 'M', data: 'baby' };
        expect(await adt(baby)).toBe('AE E 205 PID^1^3^1^1');
        expect(await active()).toEqual(['a 2023-03-01: amy']);
      });

      test.each([
        ['whose laboratory knows no name', 'UNKNOWN^UNKNOWN', 'SMITH^MARY'],
        ['who was without identification', 'DOE^FEMALE 3', 'DOE^FEMALE 3'],
        ['who is without identification in the laboratory', 'DOE^FEMALE 3', 'SMITH^MARY'],
        ['who was registered as a baby and got a name', 'SMITH^BABYGIRL', 'SMITH^BABYGIRL'],
      ])('is not a patient %s', async (_who, name, before) => {
        const { adt, oru, active } = history();
        await adt({ of: 'm', name: before, sex: 'F', ...(before.includes('BABY') && { born: '20250101' }), day: '01' });
        expect(await adt({ ...MARY, ...(before.includes('BABY') && { born: '20250101' }), day: '02' })).toBe('AA');
        expect(await oru({ of: 'm', name, data: 'lab' })).toBe('AA');
        expect(await active()).toEqual([expect.stringMatching(/^m [\d-]+: lab$/)]);
      });

      test('gives it up to the mother, and does not get it back', async () => {
        const { adt, active } = history();
        const baby = { of: 'm', name: 'SMITH^BABYGIRL', born: '20260301', sex: 'F', data: 'baby' };
        expect(await adt(baby, 'A28')).toBe('AA');
        expect(await adt({ ...MARY, data: 'mary' })).toBe('AA W 205 PID^1^3^1^1');
        expect(await adt(baby)).toBe('AE E 205 PID^1^3^1^1');
        expect(await active()).toEqual(['2026-03-01: baby', 'm 1990-04-05: mary']);
      });

      test.each([
        ['of a newborn', 'SMITH^BABYGIRL', '19260301', 'SMITH^BABYGIRL', '20260301'],
        ['of a newborn who has a name now', 'SMITH^BABYGIRL', '19260301', 'SMITH^AMY', '20260301'],
        ['of a person with the same name', 'SMITH^AMY', '19260301', 'SMITH^AMY', '20260301'],
        ['in another century, with another name', 'SMITH^AMY', '19260301', 'SMITH^BETH', '20260301'],
        ['of an adult', 'SMITH^AMY', '19260301', 'JONES^BETH', '19700412'],
      ])('is not a mistyped birth date %s', async (_name, name, born, corrected, date) => {
        const { adt, active } = history();
        await adt({ of: 'm', name, born, sex: 'F' });
        expect(await adt({ of: 'm', name: corrected, born: date, sex: 'F', data: 'amy' })).toBe('AA W 205 PID^1^3^1^1');
        expect(await active()).toEqual([expect.stringMatching(/^m .*: amy$/)]);
      });
    });

    test('PID-3 that begins with the other twin’s identifier', async () => {
      const { adt, active } = history();
      await adt({ of: 'a', name: 'SMITH^AMY', born: '20200301', sex: 'F' });
      await adt({ of: 'b', name: 'SMITH^ANN', born: '20200301', sex: 'F' });
      await adt({ of: 'a~b', name: 'SMITH^ANN', born: '20200301', sex: 'F', data: 'ann' });
      expect(await active()).toEqual(['a 2020-03-01:', 'b 2020-03-01: ann']);
    });
  });

  describe('namespaces', () => {
    const URI1 = 'MRN&1.2.3.1&ISO^MR';
    const URI2 = 'MRN&1.2.3.2&ISO^MR';

    test('with a second URI, the namespace alone finds only a patient that agrees', async () => {
      const { adt, oru, active, tag } = history();
      const named = (uri: string) => uri.replace('MRN', `MRN${tag}`);
      expect(await adt({ of: `x^${named(URI1)}`, ...ANN, data: 'ann' })).toBe('AA');
      expect(await adt({ of: `y^${named(URI2)}`, ...BOB })).toBe('AA W 205 PID^1^3^1^4');
      // The patient of the other hospital with the same value.
      expect(await adt({ of: `x^MRN${tag}^MR`, ...BOB, data: 'bob' })).toBe('AA W 205 PID^1^3^1^1');
      expect(await adt({ of: `x^MRN${tag}^MR`, ...BOB, data: 'bob' })).toBe('AA W 205 PID^1^3^1^1');
      expect(await oru({ of: `x^MRN${tag}^MR`, name: 'JONES^B', data: 'bob' })).toBe('AA W 205 PID^1^3^1^1');
      expect(await oru({ of: `x^MRN${tag}^MR`, ...ANN, data: 'ann' })).toBe('AA W 205 PID^1^3^1^1');
      expect(await adt({ of: `x^${named(URI1)}`, ...ANN })).toBe('AA');
      expect(await active()).toEqual(['x 1960-05-06: bob', 'x 1980-02-03: ann', 'y 1960-05-06:']);
    });

    test('with a second URI, MRG-1 by the namespace alone merges only a patient that agrees', async () => {
      const { adt, active, tag } = history();
      const named = (uri: string) => uri.replace('MRN', `MRN${tag}`);
      await adt({ of: `x^${named(URI1)}`, ...ANN, data: 'ann' });
      await adt({ of: `y^${named(URI2)}`, ...BOB, data: 'bob' });
      const merge = { of: `y^${named(URI2)}`, ...BOB, mrg: `x^MRN${tag}^MR` };
      expect(await adt(merge, 'A40')).toMatch(/^AE .*E 204/);
      expect(await active()).toEqual(['x 1980-02-03: ann', 'y 1960-05-06: bob']);
      await adt({ of: `z^${named(URI2)}`, ...ANN });
      expect(await adt({ of: `z^${named(URI2)}`, ...ANN, mrg: `x^MRN${tag}^MR` }, 'A40')).toMatch(/^AA/);
      expect(await active()).toEqual(['y 1960-05-06: bob', 'z 1980-02-03: ann']);
      expect(await adt({ of: `z^${named(URI2)}`, ...ANN, mrg: `x^MRN${tag}^MR` }, 'A40')).toMatch(/^AA/);
    });

    test('patients without a birth date are not created again with each message of a contested namespace', async () => {
      const { adt, active, tag } = history();
      await adt({ of: `y^MRN${tag}&1.2.3.1&ISO^MR~z^MRN${tag}&1.2.3.2&ISO^MR`, ...BOB });
      for (let each = 0; each < 3; each += 1) await adt({ of: `x^MRN${tag}^MR`, name: 'SMITH^ANN' });
      expect(await active()).toEqual(['x -:', 'y z 1960-05-06:']);
    });

    test.each([
      ['a result without a birth date', 'ORU^R01', 'DOE^JOHN', '', 'DOE^JOHN', '', 1],
      ['a result of a newborn', 'ORU^R01', 'DOE^BABY BOY', '20260301', 'DOE^BABY BOY', '20260301', 1],
      ['a result with another given name', 'ORU^R01', 'DOE^ANNA', '19800203', 'DOE^ANNA MARIA', '19800203', 1],
      ['a result with other letters', 'ORU^R01', 'MÜLLER^UWE', '19800203', 'MUELLER^UWE', '19800203', 1],
      ['a result with only the family name', 'ORU^R01', 'DOE^JOHN', '', 'DOE', '', 2],
      ['a result of a newborn without a birth date', 'ORU^R01', 'DOE^BABY BOY', '', 'DOE^BABY BOY', '', 2],
      ['a result of another person', 'ORU^R01', 'DOE^JOHN', '19800203', 'ROE^JANE', '19700607', 2],
      ['an ADT that agrees', 'ADT^A08', 'DOE^JOHN', '19800203', 'DOE^JOHN', '19800203', 1],
      ['an ADT with an initial', 'ADT^A08', 'DOE^JOHN', '19800203', 'DOE^J', '19800203', 2],
      ['an ADT without a birth date', 'ADT^A08', 'DOE^JOHN', '19800203', 'DOE^JOHN', '', 2],
    ])('by a namespace that another key taught: %s', async (_what, type, name, born, sentName, sentBorn, count) => {
      const { adt, byOther, active, tag } = history();
      await adt({ of: `x^HQ${tag}&1.2.4.1&ISO^MR`, name, born });
      const answer = await byOther(type, { of: `x^HQ${tag}^MR`, name: sentName, born: sentBorn });
      expect(answer).toBe(count === 1 ? 'AA' : 'AA W 205 PID^1^3^1^1');
      expect(await active()).toHaveLength(count);
    });

    test('results that arrive first by the namespace do not stop the ADT feed', async () => {
      const { adt, byOther, active, listed, tag } = history();
      await byOther('ORU^R01', { of: `x^HQ${tag}^MR`, name: 'DOE', data: 'lab' });
      await adt({ of: `x^HQ${tag}&1.2.4.1&ISO^MR`, name: 'ROE^JOHN', born: '19800203' });
      expect(await adt({ of: `x^HQ${tag}&1.2.4.1&ISO^MR`, name: 'ROE^JOHN', born: '19800203' })).toMatch(/^AA/);
      expect((await active()).length).toBeLessThanOrEqual(2);
      expect(await listed()).toEqual(expect.any(Array));
    });

    test('an ADT that contradicts the patient of a taught alias is about another patient', async () => {
      const { adt, oru, active, listed, tag } = history();
      await adt({ of: `x^HQ${tag}&1.2.4.1&ISO^MR`, ...ANN, data: 'ann' });
      expect(await adt({ of: `x^HQ${tag}^MR`, ...BOB, data: 'bob' })).toBe('AA W 205 PID^1^3^1^1');
      expect(await adt({ of: `x^HQ${tag}^MR`, ...BOB, data: 'bob' })).toBe('AA');
      expect(await adt({ of: `x^HQ${tag}&1.2.4.1&ISO^MR`, ...ANN, data: 'ann' })).toBe('AA');
      expect(await oru({ of: `x^HQ${tag}^MR`, ...BOB, data: 'bob' })).toBe('AA');
      expect(await active()).toEqual(['x 1960-05-06: bob', 'x 1980-02-03: ann']);
      expect(await listed()).toEqual(['possible-duplicate']);
    });
  });

  describe('records that only results made', () => {
    const messages = [
      ['adt', { of: 'a~E^EPI^PI', ...ANN }],
      ['oru', { of: 'b', ...ANN, data: 'ann' }],
      ['adt', { of: 'b~E^EPI^PI', ...ANN }],
    ] as const;
    test.each([
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ])('in the order %i %i %i the messages end in one record', async (...order) => {
      const { adt, oru, active } = history();
      for (const at of order) {
        const [kind, said] = messages[at] ?? messages[0];
        expect(await (kind === 'adt' ? adt(said) : oru(said))).toBe('AA');
      }
      expect(await active()).toEqual(['E a b 1980-02-03: ann']);
      // A result by either identifier, and an ADT by the one of the results.
      expect(await oru({ of: 'b', ...ANN, data: 'ann' })).toBe('AA');
      expect(await adt({ of: 'b', name: 'JONES^ANN', born: '19800203', sex: 'F' })).toBe('AA');
      expect(await active()).toEqual(['E a b 1980-02-03: ann']);
    });

    test.each(['oru', 'adt'] as const)(
      'by %s with a URI, and an ADT with a namespace beside the identifier of its patient: one record, or a listed pair',
      async (kind) => {
        const { adt, oru, active, listed, tag } = history();
        const first = { of: 'b^&1.2.5.1&ISO^MR', ...ANN, data: 'ann' };
        expect(await (kind === 'adt' ? adt(first) : oru(first))).toBe('AA');
        await adt({ of: 'a~E^EPI^PI', ...ANN });
        expect(await adt({ of: `b^SOUTH${tag}^MR~E^EPI^PI`, ...ANN })).toBe('AA');
        const records = { oru: ['E a b 1980-02-03: ann'], adt: ['E a b 1980-02-03:', 'b 1980-02-03: ann'] };
        expect(await active()).toEqual(records[kind]);
        expect(await listed()).toEqual(kind === 'adt' ? ['possible-duplicate'] : []);
      },
    );

    test.each([
      ['SMITH^ANN', '19800204', ['possible-duplicate']],
      ['SMITH', '19800203', ['possible-duplicate']],
      ['JONES^BOB', '19600506', []],
    ])(
      'a record by a URI that may be of the person with this namespace is listed: %s %s',
      async (name, born, issues) => {
        const { adt, oru, active, listed, tag } = history();
        await adt({ of: 'E^EPI^PI', ...ANN });
        await oru({ of: 'b^&1.2.5.3&ISO^MR', name, born, data: 'lab' });
        expect(await adt({ of: `b^SOUTH${tag}^MR~E^EPI^PI`, ...ANN })).toBe('AA');
        expect([(await active()).length, await listed()]).toEqual([2, issues]);
      },
    );

    test('a record with the new number of a renumbering, by another authority, is listed', async () => {
      const { adt, byOther, active, listed, tag } = history();
      await byOther('ORU^R01', { of: `a^NORTH${tag}&1.2.5.4&ISO^MR`, ...ANN, data: 'first' });
      await byOther('ORU^R01', { of: `b^NORTH${tag}&1.2.5.4&ISO^MR`, name: 'SMITH^ANN', data: 'second' });
      expect(await adt({ of: `b^NORTH${tag}^MR`, mrg: `a^NORTH${tag}^MR`, ...ANN }, 'A47')).toBe('AA');
      expect([(await active()).length, await listed()]).toEqual([2, ['possible-duplicate']]);
    });

    test('an ADT finds the record by an alias of another key, beside the identifier of its patient', async () => {
      const { adt, byOther, active, tag } = history();
      await byOther('ORU^R01', { of: `b^SOUTH${tag}&1.2.5.2&ISO^MR`, ...ANN, data: 'ann' });
      await byOther('ADT^A04', { of: `a~E^EPI${tag}&1.2.5.9&ISO^PI`, ...ANN, data: 'ann' });
      expect(await adt({ of: `b^SOUTH${tag}^MR~E^EPI${tag}^PI`, ...ANN })).toBe('AA');
      expect(await active()).toEqual(['E a b 1980-02-03: ann']);
    });

    test('an ADT that names the identifier beside its own absorbs the record, with equal results once', async () => {
      const { adt, oru, active, record } = history();
      await adt({ of: 'a', ...ANN });
      await oru({ of: 'b~c', ...ANN, data: 'ann' });
      expect(await adt({ of: 'a~b', ...ANN })).toBe('AA');
      expect(await active()).toEqual(['a b c 1980-02-03: ann']);
      const [patient] = await record('c');
      expect([patient?.content['identifier'] ?? []].flat()).toHaveLength(3);
      expect(JSON.stringify(patient?.content['identifier'])).not.toContain('"old"');
      expect(await adt({ of: 'c', ...ANN })).toBe('AA');
    });

    test('an ADT that contradicts the record gets the identifier, and the record keeps its results', async () => {
      const { adt, oru, active, listed } = history();
      await oru({ of: 'b', ...BOB, data: 'bob' });
      expect(await adt({ of: 'b', ...ANN, data: 'ann' })).toBe('AA W 205 PID^1^3^1^1');
      expect(await adt({ of: 'b', ...ANN })).toBe('AA');
      expect(await active()).toEqual(['1960-05-06: bob', 'b 1980-02-03: ann']);
      expect(await listed()).toEqual(['possible-duplicate']);
      expect(await oru({ of: 'b', ...BOB, data: 'bob' })).toContain('AE');
    });

    test('a record that a FHIR client or an ADT wrote is not absorbed', async () => {
      const { adt, oru, active, listed } = history();
      await adt({ of: 'a', ...ANN });
      await oru({ of: 'b', ...ANN });
      await adt({ of: 'b', ...ANN });
      expect(await adt({ of: 'a~b', ...ANN })).toBe('AA W 205 PID^1^3^2^1');
      expect(await active()).toHaveLength(2);
      expect(await listed()).toEqual(['possible-duplicate']);
    });

    const MOTHER = { name: 'SMITH^MARY', born: '19900405', sex: 'F' };
    test.each(['SMITH^MARY', 'SMITH^M', 'SMITH'])(
      'a mother’s identifier in the message of a newborn absorbs nothing: %s',
      async (name) => {
        for (const mother of [{ name, born: '19900405' }, { name }]) {
          const { adt, oru, active } = history();
          const baby = { name: 'SMITH^MIA', born: '20260301', sex: 'F' };
          await adt({ of: 'n', ...baby, data: 'baby' }, 'A28');
          await oru({ of: 'm', ...mother, data: 'mary' });
          await adt({ of: 'n~m', ...baby });
          await oru({ of: 'm', ...mother, data: 'mary' });
          await adt({ of: 'm', ...MOTHER });
          await adt({ of: 'n~m', ...baby });
          expect((await active()).map((each) => each.split(': ')[1])).toEqual(['mary', 'baby']);
        }
      },
    );

    test('mother and newborn have a record each, in any order of arrival', async () => {
      const baby = { name: 'SMITH^BABYGIRL', born: '20260301', sex: 'F' };
      for (const order of someOrdersOf([0, 1, 2, 3])) {
        const { adt, oru, active } = history();
        const send = [
          () => adt({ of: 'n~m', ...baby, data: 'baby' }, 'A28'),
          () => oru({ of: 'm', ...MOTHER, data: 'mary' }),
          () => adt({ of: 'm', ...MOTHER }, 'A28'),
          () => oru({ of: 'n', ...baby, data: 'baby' }),
        ];
        for (const at of order) expect(await send[at]?.(), order.join()).toMatch(/^AA/);
        expect(await active(), order.join()).toEqual(['m 1990-04-05: mary', 'n 2026-03-01: baby']);
      }
    });

    test('the record of a trauma name and that of the person are one after their merge', async () => {
      const trauma = { name: 'TRAUMA^DELTA', born: '19700101', sex: 'F' };
      for (const order of someOrdersOf([0, 1, 2, 3])) {
        const { adt, oru, active, listed } = history();
        const send = [
          () => adt({ of: 't', ...trauma }, 'A04'),
          () => oru({ of: 't', ...trauma, data: 'ann' }),
          () => adt({ of: 'a', ...ANN, data: 'ann' }, 'A04'),
          () => adt({ of: 'a', ...ANN, mrg: 't' }, 'A40'),
        ];
        const answers: (string | undefined)[] = [];
        for (const at of order) answers.push(await send[at]?.());
        const records = await active();
        // After the merge, the trauma name contradicts the person: that is rejected or listed.
        const isSeen = answers.some((answer) => answer?.startsWith('AE')) || (await listed()).length > 0;
        if (order.indexOf(3) > Math.max(order.indexOf(0), order.indexOf(1)) || !isSeen)
          expect(records, order.join()).toEqual(['a 1980-02-03: ann']);
      }
    });

    test('a twin’s results by an identifier that the other twin’s message lists stay apart', async () => {
      for (const name of ['SMITH^BABYGIRL', 'SMITH^A', 'SMITH']) {
        const { adt, oru, active } = history();
        const born = '20260301';
        await oru({ of: 'a', name, born, data: 'amy' });
        await adt({ of: 'b', name: 'SMITH^ANN', born, data: 'ann' });
        await adt({ of: 'b~a', name: 'SMITH^ANN', born });
        await oru({ of: 'a', name, born, data: 'amy' });
        expect((await active()).map((each) => each.split(': ')[1])).toEqual(['amy', 'ann']);
      }
    });
  });

  describe('identifiers of merged patients', () => {
    test.each(['A01', 'A04', 'A28', 'A08'])('a reused one identifies a new patient: %s', async (event) => {
      const { adt, oru, active, listed, record } = history();
      await adt({ of: 'a', ...ANN });
      await adt({ of: 'b', ...ANN });
      await adt({ of: 'a', ...ANN, mrg: 'b' }, 'A40');
      expect(await adt({ of: 'b', ...BOB, data: 'bob' }, event)).toBe('AA W 205 PID^1^3^1^1');
      expect(await oru({ of: 'b', ...BOB, data: 'bob' })).toBe('AA');
      expect(await oru({ of: 'a', ...ANN, data: 'ann' })).toBe('AA');
      expect(await active()).toEqual(['a 1980-02-03: ann', 'b 1960-05-06: bob']);
      expect(await listed()).toEqual(['possible-duplicate']);
      expect(JSON.stringify((await record('a'))[0]?.content['identifier'])).not.toMatch(/"b/);
    });
  });
}
