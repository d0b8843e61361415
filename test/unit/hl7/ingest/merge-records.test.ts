/** The resources of two patient records that are equal, where one patient is merged into the other. */
import { expect, test } from 'vitest';

import { readMessage } from '../../../../shared/hl7/message.ts';
import { mergeRecords } from '../../../../edge/hl7/ingest/merge-records.ts';
import { createDrafts, type Found } from '../../../../edge/hl7/mapping/drafts.ts';
import { filedResults } from '../../../../edge/hl7/results/filed-results.ts';
import { keyOf } from '../../../../edge/hl7/mapping/key.ts';
import { msh } from '../../../stack/tools/hl7-text.ts';
import { liveIn, resultMessage, type SentResults } from '../../../inputs/hl7-results.ts';
import { ordersOf } from '../../../stack/tools/orders.ts';
import { createWorld } from '../../../inputs/hl7-world.ts';

const id = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const [FROM, TO, THIRD] = [id(1), id(2), id(3)];

const allergy = (n: number, keyOwner: string, patient: string, key = '["PEN"]'): Found => ({
  role: 'identity',
  key: keyOf(key, keyOwner),
  resource: {
    type: 'AllergyIntolerance',
    id: id(n),
    version: 1,
    last_updated: '2026-01-01T00:00:00.000Z',
    meta: '',
    body: `"verificationStatus":{"text":"x"},"patient":{"reference":"Patient/${patient}"}`,
  },
  contributions: null,
});
/** Ids of what is changed. */
const changed = (found: readonly Found[], merges = [{ from: FROM, to: TO }]): string[] => {
  const drafts = createDrafts(found);
  const [segment] = readMessage(msh('ADT^A40')).segments;
  if (segment === undefined) throw new Error('a message has a segment');
  mergeRecords(new Map(merges.map((merge) => [merge, segment])), {
    drafts,
    results: filedResults(found, drafts),
    context: { report: () => undefined, attend: () => undefined },
  });
  return drafts
    .result('urn:x', 'MRG-1', '')
    .resources.flatMap((each) => (typeof each['id'] === 'string' ? [each['id']] : []))
    .toSorted();
};

test('merges resources that have the same key in both patient records', () => {
  expect(changed([allergy(10, FROM, FROM), allergy(11, TO, TO)])).toEqual([id(10), id(11)]);
  expect(changed([allergy(10, FROM, FROM), allergy(11, TO, TO, '["ASA"]')])).toEqual([]);
});

test('does not merge a resource that a FHIR client gave to another patient', () => {
  expect(changed([allergy(10, FROM, THIRD), allergy(11, TO, TO)])).toEqual([]);
  expect(changed([allergy(10, FROM, FROM), allergy(11, TO, THIRD)])).toEqual([]);
});

test('the second of several merges into one patient merges with the resources of the first', () => {
  const merges = [
    { from: FROM, to: TO },
    { from: THIRD, to: TO },
  ];
  expect(changed([allergy(10, FROM, FROM), allergy(11, THIRD, THIRD)], merges)).toEqual([id(10), id(11)]);
});

test('a PID with several MRG segments merges each of them', () => {
  const world = createWorld();
  const pid = (number: string) => `PID|1||${number}^^^HOSP^MR||Smith^Ann||19800203|F`;
  for (const number of ['A1', 'B1', 'C1']) world.send(`${msh('ADT^A04')}\n${pid(number)}`);
  expect(world.send(`${msh('ADT^A40')}\n${pid('A1')}\nMRG|B1^^^HOSP^MR\nMRG|C1^^^HOSP^MR`)).toEqual([]);
  expect(world.state().match(/replaced-by/g)).toHaveLength(2);
  expect(() => world.send(`${msh('ADT^A40')}\n${pid('A1')}\nMRG|B1^^^HOSP^MR\nMRG|`)).toThrow('E 101 MRG^2^1^1^1');
  expect(world.send(`${msh('ADT^A45')}\n${pid('A1')}\nMRG|X1^^^HOSP^MR\nMRG|Y1^^^HOSP^MR`)).toEqual([
    'W 205 MRG^1 not-moved',
    'W 205 MRG^2 not-moved',
  ]);
});

test('a merge of two patients whose data contradict each other returns a warning', () => {
  const world = createWorld();
  const [ann, bob] = ['Smith^Ann||19800203|F', 'Jones^Bob||19600506|M'];
  const pid = (number: string, person: string) => `PID|1||${number}^^^HOSP^MR||${person}`;
  const merge = (merged: string) => world.send(`${msh('ADT^A40')}\n${pid('A1', ann)}\nMRG|${merged}`);
  for (const number of ['A1', 'A2', 'A3']) world.send(`${msh('ADT^A04')}\n${pid(number, ann)}`);
  world.send(`${msh('ADT^A04')}\n${pid('B1', bob)}`);
  world.send(`${msh('ADT^A04')}\n${pid('D1', 'Doe^John||19000101|U')}`);
  expect(merge('B1^^^HOSP^MR')).toEqual(['W 205 MRG^1^1^1^1 patient-differs']);
  expect(merge('A2^^^HOSP^MR||||||Jones^Bob')).toEqual(['W 205 MRG^1^1^1^1 patient-differs']);
  for (const merged of ['A3^^^HOSP^MR||||||Smith^Ann', 'D1^^^HOSP^MR||||||Doe^John']) expect(merge(merged)).toEqual([]);
});

const said = (at: number, status: string, type: string, ...values: readonly string[]): SentResults => ({
  at,
  orders: [{ status, obx: values.map((value) => `${type}|A^A^L||${value}`) }],
});

// The first message is about one of the two patients, the others about the other.
test.each<readonly [string, readonly SentResults[], readonly string[], isListed: boolean]>([
  [
    'an addendum does not replace the report, and is listed',
    [said(1, 'F', 'TX', 'a', 'b', 'c', 'd'), said(2, 'F', 'TX', 'Addendum')],
    ['Addendum final', 'a/b/c/d final'],
    true,
  ],
  [
    'a corrected text replaces the other text',
    [said(1, 'F', 'TX', 'a', 'b', 'c', 'd'), said(2, 'C', 'TX', 'x')],
    ['x corrected'],
    true,
  ],
  [
    'no growth is withdrawn when two organisms are final',
    [said(1, 'P', 'ST', 'No growth'), said(2, 'F', 'ST', 'E. coli', 'Klebsiella')],
    ['E. coli final', 'Klebsiella final'],
    false,
  ],
  [
    'an organism that the final message no longer has is withdrawn',
    [said(1, 'P', 'ST', 'E. coli', 'Klebsiella'), said(2, 'F', 'ST', 'E. coli')],
    ['E. coli final'],
    false,
  ],
  [
    'a final organism that a newer final message no longer has is listed',
    [said(1, 'F', 'ST', 'E. coli', 'Klebsiella'), said(2, 'F', 'ST', 'E. coli')],
    ['E. coli final', 'Klebsiella final'],
    true,
  ],
  [
    'an organism below final stays while the report of the other is not final',
    [said(1, 'P', 'ST', 'E. coli', 'Klebsiella'), { at: 2, orders: [{ status: 'P', obx: ['ST|A^A^L||E. coli|F'] }] }],
    ['E. coli final', 'Klebsiella preliminary'],
    false,
  ],
  [
    'an organism that a final report has below final stays, and is not listed',
    [
      { at: 1, orders: [{ obx: ['ST|A^A^L||E. coli', 'ST|A^A^L||Klebsiella|P'] }] },
      { at: 2, orders: [{ filler: 'F2', obx: ['NM|G^G^L||90'] }] },
    ],
    ['90 final', 'E. coli final', 'Klebsiella preliminary'],
    false,
  ],
  [
    'no growth without OBX-4 stays beside two final organisms, and is listed',
    [said(1, 'P', 'ST', 'No growth'), { at: 2, orders: [{ obx: ['ST|A^A^L|1|E. coli', 'ST|A^A^L|2|Klebsiella'] }] }],
    ['E. coli final', 'Klebsiella final', 'No growth preliminary'],
    true,
  ],
  [
    'a time of a tolerance test that is not final yet stays, and is not listed',
    [
      { at: 1, orders: [{ status: 'P', obx: ['NM|G^G^L||90||202601010800', 'NM|G^G^L||91||202601010900'] }] },
      { at: 2, orders: [{ obx: ['NM|G^G^L||90||202601010800'] }] },
    ],
    ['90 final', '91 preliminary'],
    false,
  ],
  [
    'a correction of one final organism leaves the other one',
    [said(1, 'F', 'ST', 'E. coli', 'Klebsiella'), said(2, 'C', 'ST', 'E. coli')],
    ['E. coli corrected', 'Klebsiella final'],
    false,
  ],
])('when two records are merged, %s', (_, messages, live, isListed) => {
  const pid = (number: string): string => `${number}^^^HOSP^MR||Smith^Ann||19800203|F`;
  const merge = `${msh('ADT^A40')}\nPID|1||${pid('A1')}\nMRG|B1^^^HOSP^MR`;
  for (const numbers of [
    ['A1', 'B1'],
    ['B1', 'A1'],
  ]) {
    const sent = messages.map((each, at) => resultMessage(each, pid(numbers[Math.min(at, 1)] ?? '')));
    for (const order of ordersOf([...sent, merge])) {
      const world = createWorld();
      for (const each of order) world.send(each);
      expect(liveIn(world)).toEqual(live);
      if (isListed) expect(world.attention).not.toEqual([]);
      if (isListed || order.at(-1) !== merge) continue;
      expect(world.attention.filter(({ kind }) => kind !== 'correction-unmatched')).toEqual([]);
    }
  }
});

test.each([
  ['withdraws another one', { at: 2, orders: [{ obx: ['ST|A^A^L||E. coli|X'] }] }, ['Klebsiella preliminary'], true],
  ['is cancelled', { at: 2, orders: [{ status: 'X', obx: ['ST|A^A^L||E. coli'] }] }, [], false],
])('a preliminary organism in a merge: the report of the other record %s', (_, later, live, isListed) => {
  const pid = (number: string): string => `${number}^^^HOSP^MR||Smith^Ann||19800203|F`;
  for (const numbers of [
    ['A1', 'B1'],
    ['B1', 'A1'],
  ] as const) {
    const world = createWorld();
    world.send(resultMessage(said(1, 'P', 'ST', 'E. coli', 'Klebsiella'), pid(numbers[0])));
    world.send(resultMessage(later, pid(numbers[1])));
    world.send(`${msh('ADT^A40')}\nPID|1||${pid('A1')}\nMRG|B1^^^HOSP^MR`);
    expect(liveIn(world)).toEqual(live);
    expect(world.attention.map(({ kind }) => kind)).toEqual(isListed ? ['result-missing'] : []);
  }
});
