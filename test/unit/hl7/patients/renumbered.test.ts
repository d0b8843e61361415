/**
 * A47 about two known records: messages under either number are about one patient, in every order of arrival
 * (edge/docs/behaviour.md, HL7 v2, Merges).
 */
import { expect, test } from 'vitest';

import { segment } from '../../../inputs/hl7-mapped.ts';
import { objectOf } from '../../../inputs/hl7-results.ts';
import { createWorld } from '../../../inputs/hl7-world.ts';
import { ordersOf } from '../../../stack/tools/orders.ts';
import { objectsOf, type JsonObject } from '../../../../shared/json.ts';

const STREETS = ['1 Old Street^^York', '2 New Street^^York'];
type Said = Readonly<Record<number, string>>;

/** @param more further fields of PID; 11 is the address, 13 and 14 are telephones */
function message(type: string, minute: number, number: string, more: Said = {}, mrg = ''): string {
  const at = `2026010208${String(minute).padStart(2, '0')}`;
  const pid = segment('PID', { 1: '1', 3: `${number}^^^HOSP^MR`, 5: 'Doe^Jane', 7: '19800229', ...more });
  const result = ['OBR|1||F1|1^Panel^L|||202601010800', 'OBX|1|NM|K^K^L||4.0||||||F'];
  return [
    `MSH|^~\\&|ADT|HOSP|GATEWAY|SITE|${at}||${type}|${number}-${minute}|P|2.5.1`,
    ...(type === 'ORU^R01' ? [pid, ...result] : [`EVN||${at}`, pid]),
    ...(mrg === '' ? [] : [`MRG|${mrg}^^^HOSP^MR`]),
  ].join('\n');
}

const adt = (minute: number, number: string, more?: Said): string => message('ADT^A08', minute, number, more);
const renumbered = (minute: number): string => message('ADT^A47', minute, 'NEW', {}, 'OLD');

/** The address lines, telephones and death of the only active patient. */
function patientAfter(messages: readonly string[]): readonly unknown[] {
  const world = createWorld();
  for (const each of messages) world.send(each);
  const patients = world
    .resources()
    .flatMap(({ type, body }): JsonObject[] => (type === 'Patient' ? [objectOf(body)] : []));
  const [patient, ...others] = patients.filter(({ active }) => active !== false);
  expect(others).toEqual([]);
  const values = (member: string, of: string): unknown[] => objectsOf(patient?.[member]).map((item) => item[of]);
  const isDead = patient?.['deceasedBoolean'] === true;
  return [...values('address', 'line').flat(), ...values('telecom', 'value'), ...(isDead ? ['dead'] : [])];
}

test.each<[string, readonly string[], readonly string[]]>([
  [
    'an address under the old number',
    [adt(1, 'NEW'), adt(2, 'OLD'), renumbered(3), adt(4, 'OLD', { 11: STREETS[0] ?? '' })],
    ['1 Old Street'],
  ],
  [
    'an address under each number',
    [adt(1, 'OLD', { 11: STREETS[0] ?? '' }), adt(2, 'NEW', { 11: STREETS[1] ?? '' }), renumbered(3)],
    ['2 New Street'],
  ],
  [
    'an address that the new number deletes',
    [adt(1, 'OLD', { 11: STREETS[0] ?? '' }), adt(2, 'NEW', { 11: '""' }), renumbered(3)],
    [],
  ],
  [
    'telephones of two fields, and a death',
    [adt(1, 'OLD', { 13: '555-1^PRN^PH', 30: 'Y' }), adt(2, 'NEW', { 14: '555-2' }), renumbered(3)],
    ['555-1', '555-2', 'dead'],
  ],
  [
    'an address that only a result under the old number has',
    [adt(1, 'OLD'), adt(2, 'NEW'), renumbered(3), message('ORU^R01', 4, 'OLD', { 11: STREETS[0] ?? '' })],
    ['1 Old Street'],
  ],
  [
    'a merge of the same records',
    [adt(1, 'OLD'), renumbered(2), message('ADT^A40', 3, 'NEW', {}, 'OLD'), adt(4, 'OLD', { 11: STREETS[0] ?? '' })],
    ['1 Old Street'],
  ],
])('%s', (_, messages, expected) => {
  for (const order of ordersOf(messages)) {
    const name = order.map((each) => messages.indexOf(each) + 1).join();
    expect(patientAfter(order), name).toEqual(expected);
  }
});

test('a merge alone leaves the personal data of the merged patient there', () => {
  const merge = message('ADT^A40', 3, 'NEW', {}, 'OLD');
  for (const order of ordersOf([adt(1, 'OLD', { 11: STREETS[0] ?? '' }), adt(2, 'NEW'), merge]))
    expect(patientAfter(order)).toEqual([]);
});

test('a record that only results made is absorbed as if its results had been about the patient', () => {
  const result = (minute: number, number: string, street: string | undefined): string =>
    message('ORU^R01', minute, number, { 11: street ?? '' });
  const both = message('ADT^A08', 3, 'A1', { 3: 'A1^^^HOSP^MR~B1^^^LAB^PI' });
  const messages = [
    adt(0, 'A1'),
    result(1, 'A1', STREETS[0]),
    result(2, 'B1', STREETS[1]).replace('B1^^^HOSP', 'B1^^^LAB'),
    both,
  ];
  for (const order of ordersOf(messages.slice(1)))
    expect(patientAfter([adt(0, 'A1'), ...order])).toEqual(['2 New Street']);
});
