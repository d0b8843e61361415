/** Concurrent messages, merges and FHIR writes about one person end in one patient record, in any order of arrival. */
import { expect, test } from 'vitest';

import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import { identifierKey, lockKeys } from '../../../edge/store/lock.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { patientQueries } from '../../contract/hl7/patient-queries.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { isFull } from '../../stack/tools/size.ts';
import { createHl7Site } from '../../stack/tools/hl7-site.ts';

const ROUNDS = isFull ? 200 : 4;

const site = await createHl7Site();

const queries = () => patientQueries(site.db.client, site.site);
const letters = (round: number) => `${round}`.replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)));
const pid = (numbers: string, family: string) => `PID|1||${numbers}||${family}^Ann||19800203|F`;
const adt = (numbers: string, family: string) => `${msh('ADT^A08')}\n${pid(numbers, family)}`;
const oru = (numbers: string, family: string, filler: string) =>
  `${msh('ORU^R01')}\n${pid(numbers, family)}\nOBR|1||${filler}^LAB|1^T^L|||20260101\nOBX|1|NM|c${family}^T^L||5||||||F`;

test('two messages about one person under different identifiers end in one patient record', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const family = `Race${letters(round)}`;
    const [m, e] = [`M${round}^^^ONE^MR`, `E${round}^^^EPI^PI`];
    const sent = await Promise.all([
      site.send(adt(`${m}~${e}`, family)),
      site.send(adt(`${e}~${m}`, family)),
      site.send(oru(`${e}~${m}`, family, `R${round}`)),
    ]);
    expect(sent.map(({ outcome }) => outcome)).toEqual(['AA', 'AA', 'AA']);
    expect(await queries().patients(family)).toHaveLength(1);
  }
});

test('a message that arrives during a merge ends at the survivor', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const family = `Fire${letters(round)}`;
    const [x, y] = [`X${round}^^^ONE^MR`, `Y${round}^^^ONE^MR`];
    for (const number of [x, y]) await site.send(adt(number, family));
    const merge = `${msh('ADT^A40')}\n${pid(x, family)}\nMRG|${y}`;
    const results = [1, 2, 3].map((n) => oru(y, family, `F${round}-${n}`));
    const sent = await Promise.all([...results.slice(0, 2), merge, ...results.slice(2)].map((each) => site.send(each)));
    expect(sent.map(({ outcome }) => outcome)).toEqual(['AA', 'AA', 'AA', 'AA']);
    const [survivor, merged] = await queries().patients(family);
    expect([survivor?.content['active'], merged?.content['active']]).toEqual([true, false]);
    expect(await queries().subjects(`c${family}`)).toEqual([survivor?.id, survivor?.id, survivor?.id]);
  }
});

test('a message waits for a FHIR client that creates the patient at the same time', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const family = `Fhir${letters(round)}`;
    const value = `H${round}`;
    const resource = {
      resourceType: 'Patient',
      identifier: [{ system: 'urn:oid:1.2.9', value }],
      name: [{ family, given: ['Ann'] }],
      birthDate: '1980-02-03',
    };
    const write = () =>
      site.database.batch([
        lockKeys(site.site, [identifierKey('Patient', value)]),
        writeResources(site.site, [toWrite(resource, uuidv7(Date.now()), 'create')]),
      ]);
    const [, sent] = await Promise.all([write(), site.send(adt(`${value}^^^&1.2.9&ISO`, family))]);
    // If the message was first, there are two patients: an unconditional create is never rejected. The next message
    // identifies them.
    const ids = (await queries().patients(family)).map(({ id }) => id);
    expect(sent.outcome).toBe('AA');
    const next = await site.send(adt(`${value}^^^&1.2.9&ISO`, family));
    expect(next.outcome).toBe(ids.length === 1 ? 'AA' : 'AE');
    if (ids.length > 1) expect(await queries().listed(ids)).toEqual(['possible-duplicate']);
  }
});
