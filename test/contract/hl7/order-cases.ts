/**
 * Any order of arrival ends in the same patient record, also for an old message from a queue, a second connection or a resend.
 * Each history is sent in several orders of its messages, at full size in all, each about a separate patient.
 */
import { describe, expect, test } from 'vitest';

import type { TestDatabase } from '../../stack/tools/database.ts';
import { isJsonObject, type Json, type JsonObject, readObject } from '../../stack/tools/exact-json.ts';
import { someOrdersOf } from '../../stack/tools/orders.ts';

/** A site in the zone of Vienna. */
export interface OrderSubject {
  readonly db: TestDatabase;
  readonly send: (message: string) => Promise<Answer>;
  /** As a FHIR client updates a resource. */
  readonly update: (resource: JsonObject & { readonly resourceType: string; readonly id: string }) => Promise<void>;
}

interface Answer {
  readonly outcome: string;
  readonly errors: readonly string[];
}

let control = 0;
let patients = 0;
const newPatient = (): string => `T${(patients += 1)}`;

const msh = (type: string, sent: string): string =>
  `MSH|^~\\&|LAB|HOSP|GATEWAY|SITE|${sent}||${type}|T-${(control += 1)}|P|2.5.1`;
const JANE = 'Doe^Jane||19800229|F';
const pid = (id: string, rest = JANE): string => `PID|1||${id}^^^&1.2.40.8&ISO^MR||${rest}`;
/** An instant as MSH-7. */
const soon = (seconds: number): string =>
  `${new Date(Date.now() + seconds * 1000).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}+0000`;

interface Result {
  /** OBR-22. */
  readonly at?: string;
  /** MSH-7. */
  readonly sent?: string;
  /** OBX-11. */
  readonly status: string;
  /** OBX-5. */
  readonly value: string;
  /** OBR-25, else the same. */
  readonly report?: string;
  /** OBX-7. */
  readonly range?: string;
  /** OBX-17. */
  readonly method?: string;
  /** OBX-19. */
  readonly analyzed?: string;
  /** OBX-3; without a text there is no OBX. */
  readonly code?: string;
  /** NTE behind OBR and behind OBX. */
  readonly notes?: readonly string[];
}

const oru = (id: string, result: Result): string => {
  const { at = '', sent = at, status, value, report = status, range = '', method = '', analyzed = '' } = result;
  const notes = (result.notes ?? []).map((note) => `\nNTE|1||${note}`).join('');
  const { code = 'GLU' } = result;
  const obx = `\n    OBX|1|ST|${code}^Glucose^L||${value}||${range}||||${status}||||||${method}||${analyzed}${notes}`;
  return `${msh('ORU^R01^ORU_R01', sent)}
    ${pid(id)}
    OBR|1||F-${id}|P^Panel^L|||202601010700+0100|||||||||||||||${at}|||${report}${notes}${code === '' ? '' : obx}`;
};

/** `none` of what is not there. */
const text = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? 'none').replaceAll('"', '');

type History = readonly ((id: string) => string)[];

export function orderCases(subject: () => OrderSubject): void {
  const accepted = async (message: string): Promise<readonly string[]> => {
    const { outcome, errors } = await subject().send(message);
    expect(outcome, errors.join()).toBe('AA');
    return errors;
  };

  interface Row {
    readonly id: string;
    readonly version: number;
    readonly content: JsonObject;
  }
  const stored = async (id: string, type: string): Promise<readonly Row[]> => {
    const { rows } = await subject().db.client.query<{ id: string; version: number; body: string }>(
      `select r.id, r.version, r.body from resource r
         join resource_identifier i on i.site_id = r.site_id and i.type = 'Patient' and i.id = coalesce(r.patient_id, r.id)
        where i.value = $1 and r.type = $2 order by r.id`,
      [id, type],
    );
    return rows.map(({ body, ...row }) => ({ ...row, content: readObject(`{${body}}`) }));
  };
  const only = async (id: string, type: string): Promise<Row> => {
    const [row, ...more] = await stored(id, type);
    if (row === undefined || more.length > 0) throw new Error(`${type} of ${id}: ${more.length + 1} found, or none`);
    return row;
  };
  /** `5.4 corrected, corrected` of the one result and its report. */
  const result = async (id: string): Promise<string> => {
    const { content } = await only(id, 'Observation');
    return `${text(content['valueString'])} ${text(content['status'])}, ${text((await only(id, 'DiagnosticReport')).content['status'])}`;
  };
  const update = async (patientId: string, resourceType: string, members: JsonObject): Promise<void> => {
    const { id, content } = await only(patientId, resourceType);
    await subject().update({ ...content, ...members, resourceType, id });
  };

  describe('results', () => {
    const P: Result = { at: '202601010730', status: 'P', value: '4.9' };
    const F: Result = { at: '202601010800', status: 'F', value: '5.2' };
    const C: Result = { at: '202601020800', status: 'C', value: '5.4' };
    const W: Result = { at: '202601010900', status: 'W', value: '', report: 'C' };
    const as = (result: Result, more: Partial<Result>): Result => ({ ...result, ...more });

    test.each<[name: string, results: readonly Result[], end: string]>([
      ['preliminary, final, corrected', [P, F, C], '5.4 corrected, corrected'],
      ['final, and preliminary by a later clock', [F, as(P, { at: '202601010900' })], '5.2 final, final'],
      ['final twice: the later one', [F, as(F, { at: '202601010801', value: '5.3' })], '5.3 final, final'],
      ['a correction at the same time', [F, as(C, { at: F.at ?? '' })], '5.4 corrected, corrected'],
      [
        'at the same time and status, the message that was sent later',
        [as(F, { sent: '202601010801' }), as(F, { sent: '202601010802', value: '5.3' })],
        '5.3 final, final',
      ],
      [
        'withdrawn, and then a value of a later time',
        [
          F,
          as(F, { at: '202601010900', status: 'W', report: 'C' }),
          as(F, { at: '202601011000', value: '5.5', report: 'C' }),
        ],
        '5.5 final, corrected',
      ],
      [
        'withdrawn after all of them: the value is hidden',
        [F, C, as(F, { at: '202601030800', status: 'W', value: '', report: 'C' })],
        'none entered-in-error, corrected',
      ],
      [
        'withdrawn, and rerun: the preliminary result counts at once',
        [F, as(W, { report: 'C' }), as(P, { at: '202601011000', value: '2.1', report: 'P' })],
        '2.1 preliminary, corrected',
      ],
      [
        'withdrawn, rerun, and final again',
        [
          F,
          as(W, { report: 'C' }),
          as(P, { at: '202601011000', report: 'P' }),
          as(F, { at: '202601011100', value: '2.2' }),
        ],
        '2.2 final, final',
      ],
      [
        'withdrawn twice',
        [F, W, as(F, { at: '202601011000', value: '5.5' }), as(W, { at: '202601011100', value: '5.5' })],
        '5.5 entered-in-error, corrected',
      ],
      ['preliminary, final, withdrawn, corrected', [P, F, W, C], '5.4 corrected, corrected'],
      [
        'withdrawn between a late preliminary result and the final one',
        [F, as(W, { at: '202601010900' }), as(P, { at: '202601010830', value: '4.8' })],
        'none entered-in-error, corrected',
      ],
      [
        'cancelled, and recollected: result and report',
        [as(W, { status: 'X', at: '202601010900', report: 'X' }), as(P, { at: '202601011000', value: '2.1' })],
        '2.1 preliminary, preliminary',
      ],
      [
        'final, cancelled, and recollected',
        [F, as(W, { status: 'X', at: '202601010900', report: 'X' }), as(P, { at: '202601011000', value: '2.1' })],
        '2.1 preliminary, preliminary',
      ],
      [
        'a rerun without a value has no value',
        [F, as(W, { value: '5.2', report: 'X' }), as(P, { at: '202601011000', value: '' })],
        'none preliminary, preliminary',
      ],
      [
        'the empty status after a withdrawal leaves the result withdrawn',
        [F, as(W, { report: 'C' }), as(P, { at: '202601011000', status: '', report: 'P' })],
        '4.9 entered-in-error, corrected',
      ],
      [
        'a final result that is older than the withdrawal of its report stays',
        [F, as(F, { code: 'GLU', status: '', value: '', report: 'X', at: '202601010900' })],
        '5.2 final, cancelled',
      ],
      [
        'withdrawn before its report is cancelled',
        [F, as(W, { value: '5.2' }), as(F, { code: '', report: 'X', at: '202601011000' })],
        '5.2 entered-in-error, cancelled',
      ],
      [
        'an empty status is a missing status',
        [F, as(F, { at: '202601010900', status: '', report: '', value: '5.2' })],
        '5.2 final, final',
      ],
      [
        'when it was analyzed is not when it was said',
        [as(F, { analyzed: '202601050800' }), as(C, { analyzed: '202601010800' })],
        '5.4 corrected, corrected',
      ],
    ])('%s', async (_name, results, end) => {
      for (const order of someOrdersOf(results)) {
        const id = newPatient();
        for (const each of order) await accepted(oru(id, each));
        expect(await result(id)).toBe(end);
        expect((await only(id, 'Observation')).content['code'], 'FHIR requires it').toBeDefined();
      }
    });

    test('a withdrawn statement does not return, nor the notes of its result and report', async () => {
      const more = { range: '1-5', method: 'M1^Method^L' };
      for (const order of someOrdersOf([
        { ...F, ...more, notes: ['of the old one'] },
        { ...W, report: 'X', notes: ['mixed up'] },
        { ...P, at: '202601011000', notes: [] },
      ])) {
        const id = newPatient();
        for (const each of order) await accepted(oru(id, each));
        expect(await result(id)).toBe('4.9 preliminary, preliminary');
        const rows = [await only(id, 'Observation'), await only(id, 'DiagnosticReport')];
        const members = rows.map(({ content }) => Object.keys(content).toSorted().join(' '));
        expect(members).toEqual([
          'basedOn code effectiveDateTime status subject valueString',
          'basedOn code effectiveDateTime identifier issued result status subject',
        ]);
      }
    });

    test('a withdrawn result and report with the time of the withdrawal are listed', async () => {
      const tied = { ...W, at: F.at ?? '', report: 'X' };
      for (const order of someOrdersOf<Result>([F, tied, { ...P, at: '202601011000' }])) {
        const id = newPatient();
        // The second time nothing more is listed.
        for (const each of [order, order]) {
          for (const statement of each) await accepted(oru(id, statement));
          expect(await result(id)).toBe('4.9 preliminary, preliminary');
          const about = [await only(id, 'DiagnosticReport'), await only(id, 'Observation')].map((row) => row.id);
          const { rows } = await subject().db.client.query<{ type: string }>(
            `select detail ->> 'type' as type from attention
              where kind = 'tied-result' and detail ->> 'id' = any ($1) order by type`,
            [about],
          );
          expect(rows).toEqual([{ type: 'DiagnosticReport' }, { type: 'Observation' }]);
        }
      }
    });

    test('a rerun replaces values that a FHIR client wrote before the withdrawal, and none that it wrote after', async () => {
      const id = newPatient();
      await accepted(oru(id, F));
      await update(id, 'Observation', { valueString: 'by hand' });
      await accepted(oru(id, { ...W, at: soon(60), report: 'X' }));
      expect(await result(id)).toBe('none entered-in-error, cancelled');
      await accepted(oru(id, { ...P, at: soon(120), value: '2.1' }));
      expect(await result(id)).toBe('2.1 preliminary, preliminary');
      const other = newPatient();
      await accepted(oru(other, F));
      await accepted(oru(other, { ...W, at: soon(-60), report: 'X' }));
      await update(other, 'Observation', { status: 'final', valueString: 'by hand' });
      await accepted(oru(other, { ...P, at: soon(-30), value: '2.1' }));
      expect(await result(other)).toBe('by hand final, preliminary');
    });

    test('a late message is AA with W 205, changes nothing, and a late correction is listed', async () => {
      const id = newPatient();
      for (const each of [{ ...C, at: '202601030800' }, F]) await accepted(oru(id, each));
      expect((await only(id, 'Observation')).version).toBe(1);
      expect(await accepted(oru(id, P))).toEqual(['W 205 OBX^1', 'W 205 OBR^1']);
      expect(await accepted(oru(id, { ...C, value: '6.0' }))).toEqual(['W 205 OBX^1', 'W 205 OBR^1']);
      const { id: about } = await only(id, 'Observation');
      const { rows } = await subject().db.client.query(`select kind from attention where detail ->> 'id' = $1`, [
        about,
      ]);
      expect(rows).toEqual([{ kind: 'stale-correction' }]);
      expect((await only(id, 'Observation')).version).toBe(1);
    });

    test('a late message fills elements without a newer value, and adds its results to the report', async () => {
      for (const order of someOrdersOf([
        { ...F, range: '1-5', method: 'M1^Method^L' },
        { ...C, method: '' },
        { ...F, at: '202601010801', code: 'NA' },
      ])) {
        const id = newPatient();
        for (const each of order) await accepted(oru(id, each));
        const glucose = (await stored(id, 'Observation')).find(({ content }) => content['valueString'] === '5.4');
        // The range belongs to another value.
        expect(glucose?.content).not.toHaveProperty('referenceRange');
        expect(glucose?.content).toHaveProperty('method');
        expect((await only(id, 'DiagnosticReport')).content['result']).toHaveLength(2);
      }
    });

    test('a clock that is an hour ahead does not have the last word', async () => {
      const id = newPatient();
      await accepted(oru(id, { ...F, at: soon(3600), sent: soon(3600), value: 'ahead' }));
      await accepted(oru(id, { ...F, at: soon(60), sent: soon(60), value: 'now' }));
      expect(await result(id)).toBe('now final, final');
    });

    test('a FHIR client stamps only the elements that it changed, with its time', async () => {
      const id = newPatient();
      await accepted(oru(id, F));
      await update(id, 'Observation', { valueString: 'by hand' });
      await accepted(oru(id, C));
      expect(await result(id)).toBe('by hand corrected, corrected');
      await accepted(oru(id, { ...C, at: soon(60), value: '7.0' }));
      expect(await result(id)).toBe('7.0 corrected, corrected');
    });
  });

  describe('patients and resources of an admission', () => {
    interface Admission {
      readonly sent?: string;
      readonly lines?: readonly string[];
      readonly event?: string;
    }
    /** @param at EVN-2 */
    const adt =
      (at: string, rest: string, { sent = '202601050800', lines = [], event = 'A08' }: Admission = {}) =>
      (id: string): string =>
        [msh(`ADT^${event}`, sent), `EVN||${at}`, pid(id, rest), ...lines].join('\n');
    const merge = (at: string, survivor: string, merged: string): string =>
      `${adt(at, JANE, { event: 'A40' })(survivor)}\nMRG|${merged}^^^&1.2.40.8&ISO^MR`;
    const send = async (messages: History): Promise<string> => {
      const id = newPatient();
      for (const message of messages) await accepted(message(id));
      return id;
    };
    const patient = async (id: string): Promise<string> => {
      const { content } = await only(id, 'Patient');
      return `${JSON.stringify(content['name'])} ${['birthDate', 'gender', 'active'].map((element) => text(content[element])).join(' ')}`;
    };

    test.each<[name: string, messages: History, family: string, rest: string]>([
      [
        'an admission of last year does not bring the old name back, and fills the birth date',
        [adt('202601010800', 'New^Jane'), adt('202501010800', 'Old^Jane||19800229', { event: 'A04' })],
        'New',
        '1980-02-29 none true',
      ],
      [
        '"" is a value, an empty field is not',
        [adt('202601010800', JANE), adt('202601020800', 'Doe^Jane||""|'), adt('202512310800', 'Doe^Jane||19810101|F')],
        'Doe',
        'none female true',
      ],
      [
        'a date without a time is replaced by MSH-7',
        [adt('20260109', 'Old^Jane', { sent: '202601010800' }), adt('202601020800', 'New^Jane')],
        'New',
        'none none true',
      ],
      [
        'the patient data of a result has the lowest precedence',
        [adt('202501010800', 'Adt^Jane||19800229'), (id) => oru(id, { at: '202601020800', status: 'F', value: '1' })],
        'Adt',
        '1980-02-29 female true',
      ],
      [
        'a patient who was deleted and admitted again is active',
        [
          adt('202601010800', 'Doe^Jane'),
          adt('202601020800', 'Doe^Jane', { event: 'A29' }),
          adt('202601030800', 'Doe^Jane', { event: 'A04' }),
        ],
        'Doe',
        'none none true',
      ],
    ])('%s', async (_name, messages, family, rest) => {
      for (const order of someOrdersOf(messages)) {
        const said = await patient(await send(order));
        expect(said).toContain(`"family":"${family}"`);
        expect(said.endsWith(`] ${rest}`), said).toBe(true);
      }
    });

    // PID-25 and the last digit of the year in PID-29; PID-24 and PID-30.
    test.each<[name: string, said: readonly string[], end: string]>([
      ['Y alone keeps the time of death and the birth order', ['9|Y', '|Y'], '9'],
      ['a later time or number', ['|Y', '9|Y'], '9'],
      ['a corrected time or number, with Y between', ['8|Y', '|Y', '9|'], '9'],
      ['N', ['9|Y', '|N'], 'false'],
      ['N between', ['9|Y', '|N', '|Y'], 'true'],
      ['Y after a deleted time or number', ['9|Y', '""|Y', '|Y'], 'true'],
      ['both deleted', ['9|Y', '""|""'], 'none'],
    ])('death and multiple birth: %s', async (_name, said, end) => {
      const yearOf = (digit: string) => digit.replace(/^\d/, '199$&');
      const messages = said.map((each, at) => {
        const [specific = '', general = ''] = each.split('|');
        const fields = [general, specific, '', '', '', yearOf(specific), general].join('|');
        return adt(`2026010${at + 1}0800`, `Doe^Jane${'|'.repeat(19)}${fields}`);
      });
      for (const order of someOrdersOf(messages)) {
        const { content } = await only(await send(order), 'Patient');
        expect(text(content['deceasedDateTime'] ?? content['deceasedBoolean'])).toBe(yearOf(end));
        expect(text(content['multipleBirthInteger'] ?? content['multipleBirthBoolean'])).toBe(end);
      }
    });

    test.each<[type: string, newer: string, older: string, has: JsonObject]>([
      [
        'AllergyIntolerance',
        'AL1|1|DA|PEN^Penicillin^L|SV|Rash',
        'AL1|1|DA|PEN^Penicillin^L|MO|Cough',
        { criticality: 'high', reaction: [{ manifestation: [{ text: 'Rash' }] }] },
      ],
      [
        'Condition',
        `DG1|1||I10^Hypertension^I10|Severe|20260101||A${'|'.repeat(13)}DG-1`,
        `DG1|1||I10^Hypertension^I10|Mild|20260101||A${'|'.repeat(13)}DG-1`,
        { code: { text: 'Severe' } },
      ],
      [
        'Procedure',
        `PR1|1||1^Appendectomy^L|By laparoscopy|20260101|C${'|'.repeat(13)}PR-1`,
        `PR1|1||1^Appendectomy^L|Open|20260101|C${'|'.repeat(13)}PR-1`,
        { code: { text: 'By laparoscopy' } },
      ],
    ])('%s: the older admission changes nothing', async (type, newer, older, has) => {
      const rest = 'Doe^Jane';
      for (const order of someOrdersOf([
        adt('202601020800', rest, { lines: [newer] }),
        adt('202601010800', rest, { lines: [older] }),
      ])) {
        const id = await send(order);
        expect((await only(id, type)).content).toMatchObject(has);
      }
    });

    /** `code clinicalStatus` of each allergy, sorted. */
    const allergies = async (id: string): Promise<readonly string[]> =>
      (await stored(id, 'AllergyIntolerance'))
        .map(({ content }) => {
          const [code, status] = ['code', 'clinicalStatus'].map((name) => JSON.stringify(content[name] ?? ''));
          return `${/"code":"([^"]*)"/.exec(code ?? '')?.[1] ?? /"text":"([^"]*)"/.exec(code ?? '')?.[1]} ${/"code":"([^"]*)"/.exec(status ?? '')?.[1]}`;
        })
        .toSorted();

    test.each<[name: string, lines: readonly string[], end: readonly string[]]>([
      [
        'a known allergy makes an older "no known allergies" inactive',
        ['AL1|1|DA|NKA^No known allergies^L', 'AL1|1|DA|PEN^Penicillin^L'],
        ['NKA inactive', 'PEN active'],
      ],
      [
        '"no known allergies" that is stated again is active',
        ['AL1|1||716186003^No known allergy^SCT', 'AL1|1|DA|PEN^Penicillin^L', 'AL1|1||^No Known Allergies.'],
        ['No Known Allergies. active', 'PEN active'],
      ],
      [
        'an allergy to food leaves "no known drug allergies"',
        ['AL1|1|DA|NKDA^No known drug allergies^L', 'AL1|1|FA|NUT^Peanut^L'],
        ['NKDA active', 'NUT active'],
      ],
      [
        'an allergy without a category may be to a drug',
        ['AL1|1|DA|409137002^No known drug allergy^SCT', 'AL1|1||PEN^Penicillin^L'],
        ['409137002 inactive', 'PEN active'],
      ],
      [
        'an unknown or denied allergen, and a deleted allergy, leave "no known allergies"',
        ['AL1|1||NKA', 'AL1|1||UNK^Unknown', 'AL1|1||L1^No known allergy to latex^L', 'IAM|1||PEN^Penicillin^L|||D'],
        ['L1 active', 'NKA active', 'PEN undefined', 'UNK active'],
      ],
      ['the code NO may be nitric oxide', ['AL1|1||NKA', 'AL1|1|DA|NO^Nitric oxide^L'], ['NKA inactive', 'NO active']],
    ])('%s', async (_name, lines, end) => {
      const messages = lines.map((line, at) => adt(`2026010${at + 1}0800`, 'Doe^Jane', { lines: [line] }));
      for (const order of someOrdersOf(messages)) expect(await allergies(await send(order))).toEqual(end);
    });

    test('a merge brings a known allergy and "no known allergies" together', async () => {
      const none = adt('202601010800', JANE, { lines: ['AL1|1||NKA'] });
      const known = adt('202601020800', JANE, { lines: ['AL1|1|DA|PEN^Penicillin^L'] });
      for (const [first, second] of [
        [none, known],
        [known, none],
      ] as const) {
        const [survivor, loser] = [newPatient(), newPatient()];
        await accepted(first(survivor));
        await accepted(second(loser));
        await accepted(merge('202601030800', survivor, loser));
        expect(await allergies(survivor)).toEqual(['NKA inactive', 'PEN active']);
      }
    });

    test('a late message with the number of a merged patient ends as an early one does', async () => {
      const states: string[] = [];
      for (const order of someOrdersOf<'late' | 'result' | 'merge'>(['late', 'result', 'merge'])) {
        const [survivor, loser] = [newPatient(), newPatient()];
        const messages = {
          late: adt('202601010800', JANE)(loser).replace('^MR||', `^MR~L-${loser}^^^LAB2^PI||`),
          result: oru(loser, { at: '202601010900', status: 'F', value: '5.2' }),
          merge: merge('202601020800', survivor, loser),
        };
        await accepted(adt('202512010800', JANE)(survivor));
        for (const name of order) await accepted(messages[name]);
        const [kept] = await stored(survivor, 'Patient');
        const observations = await stored(survivor, 'Observation');
        const identifiers = kept?.content['identifier'];
        const numbers = (Array.isArray(identifiers) ? identifiers.filter(isJsonObject) : []).map(
          ({ use, value }) => `${text(use)} ${text(value)}`,
        );
        states.push(`${numbers.join()} ${observations.length}`.replaceAll(survivor, 'S').replaceAll(loser, 'L'));
      }
      expect(new Set(states)).toEqual(new Set(['none S,old L,old L-L 1']));
    });

    test('a late message does not restore values that a FHIR client removed from a survivor; a new value is stored', async () => {
      const [survivor, loser] = [newPatient(), newPatient()];
      const jane = adt('202601010800', JANE);
      for (const id of [survivor, loser]) await accepted(jane(id));
      await accepted(merge('202601010800', survivor, loser));
      const numbers = async () => {
        const { identifier } = (await only(survivor, 'Patient')).content;
        return (Array.isArray(identifier) ? identifier.filter(isJsonObject) : []).map(({ value }) => value);
      };
      expect(await numbers()).toEqual([survivor, loser]);
      const { content } = await only(survivor, 'Patient');
      const [own = null] = Array.isArray(content['identifier']) ? content['identifier'] : [];
      await update(survivor, 'Patient', { identifier: [own] });
      await accepted(jane(loser));
      expect(await numbers()).toEqual([survivor]);
      await accepted(jane(loser).replace('^MR||', `^MR~L-${loser}^^^LAB2^PI||`));
      expect(await numbers()).toEqual([survivor, `L-${loser}`]);
    });
  });

  describe('documents', () => {
    interface Document {
      readonly parent?: string;
      readonly text?: string;
      /** EVN-2. */
      readonly recorded?: string;
      /** TXA-6. */
      readonly originated?: string;
      /** TXA-19. */
      readonly availability?: string;
    }
    /** @param at TXA-8 */
    const mdm =
      (event: string, number: string, at: string, more: Document = {}) =>
      (id: string): string => {
        const { parent = '', text = number, recorded = '', originated = '', availability = 'AV' } = more;
        return `${msh(`MDM^${event}`, '202601050800')}
        EVN||${recorded}
        ${pid(id)}
        TXA|1|OP|TX|||${originated}||${at}||||${number}-${id}|${parent === '' ? '' : `${parent}-${id}`}||||AU||${availability}
        OBX|1|TX|a^A^L||${text}`;
      };
    /** `A superseded one` of each document, by number. */
    const documents = async (id: string): Promise<readonly string[]> => {
      const rows = await stored(id, 'DocumentReference');
      return rows
        .map(({ content }) => {
          const { masterIdentifier, status, content: attached } = content;
          const number = isJsonObject(masterIdentifier) ? text(masterIdentifier['value']).split('-')[0] : '';
          const data = /"data":"([^"]*)"/.exec(JSON.stringify(attached))?.[1] ?? '';
          return `${number} ${text(status)} ${Buffer.from(data, 'base64').toString()}`;
        })
        .toSorted();
    };

    test.each<[name: string, messages: History, end: readonly string[]]>([
      [
        'a replaced document stays superseded, with any repetition of it',
        [
          mdm('T02', 'A', '202601010800'),
          mdm('T10', 'B', '202601020800', { parent: 'A' }),
          mdm('T02', 'A', '202601010700', { text: 'draft' }),
        ],
        ['A superseded A', 'B current B'],
      ],
      [
        'by TXA-8, else by EVN-2',
        [
          mdm('T02', 'A', '', { recorded: '202601010800', text: 'old' }),
          mdm('T08', 'A', '202601020800', { recorded: '202512010800', text: 'new' }),
        ],
        ['A current new'],
      ],
      [
        'when it was dictated is not when it was said',
        [
          mdm('T02', 'A', '202601010800', { originated: '202601040800', text: 'old' }),
          mdm('T08', 'A', '202601020800', { originated: '202512010800', text: 'new' }),
        ],
        ['A current new'],
      ],
      [
        'a document that was replaced twice',
        [
          mdm('T02', 'A', '202601010800'),
          mdm('T10', 'B', '202601020800', { parent: 'A' }),
          mdm('T10', 'C', '202601030800', { parent: 'B' }),
        ],
        ['A superseded A', 'B superseded B', 'C current C'],
      ],
    ])('%s', async (_name, messages, end) => {
      for (const order of someOrdersOf(messages)) {
        const id = newPatient();
        for (const message of order) await accepted(message(id));
        expect(await documents(id)).toEqual(end);
      }
    });
  });
}
