/** Patient/$match: who is certain, probable, possible or certainly another person, and what the caller may ask. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

import { getToken } from '../../stack/services/client.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { type Body, expectOutcome, idsOf, type Reply, type Subject } from './subject.ts';

const GRADE = 'http://hl7.org/fhir/StructureDefinition/match-grade';

interface Who {
  readonly family?: string;
  readonly given?: string;
  readonly born?: string | undefined;
  readonly sex?: string;
  /** The value of `urn:mrn`. */
  readonly mrn?: string;
  readonly more?: Body;
}

const patientOf = ({ family = 'Smith', given = 'Mary', born, sex = 'female', mrn, more }: Who): Body => ({
  resourceType: 'Patient',
  ...(mrn !== undefined && { identifier: [{ system: 'urn:mrn', value: mrn }] }),
  name: [{ family, given: [given] }],
  ...(born !== undefined && { birthDate: born }),
  gender: sex,
  ...more,
});

const parametersOf = (resource: Body, ...more: Body[]): Body => ({
  resourceType: 'Parameters',
  parameter: [{ name: 'resource', resource }, ...more],
});
const ONLY_CERTAIN = { name: 'onlyCertainMatches', valueBoolean: true };
const count = (valueInteger: number): Body => ({ name: 'count', valueInteger });

/** `[id, grade]` of each match, in order. */
const gradesOf = ({ status, text, body }: Reply): (readonly [id: string, grade: string])[] => {
  expect(status, text).toBe(200);
  expect(body).toMatchObject({ resourceType: 'Bundle', type: 'searchset' });
  const entries = (body['entry'] ?? []) as Body[];
  const scores = entries.map(({ search }) => Number(search.score));
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  expect(body['total']).toBe(entries.length);
  return entries.map(({ resource, search, fullUrl }) => {
    expect(fullUrl).toMatch(new RegExp(`/fhir/Patient/${resource.id}$`));
    expect(search).toMatchObject({ mode: 'match', extension: [{ url: GRADE }] });
    return [String(resource.id), String(search.extension[0].valueCode)];
  });
};

export function matchCases(subject: () => Subject): void {
  let days = 0;
  /** A birth date that no other case has. */
  const day = (): string => new Date(Date.UTC(1951, 0, (days += 1))).toISOString().slice(0, 10);
  const mrn = (): string => randomUUID();
  const match = (body: object | string, more: { token?: string; query?: string; id?: string } = {}): Promise<Reply> =>
    subject().call('POST', `/Patient/$match${more.query ?? ''}`, {
      body,
      ...(more.token !== undefined && { token: more.token }),
      ...(more.id !== undefined && { headers: { 'x-request-id': more.id } }),
    });
  const create = (who: Who): Promise<string> => subject().create(patientOf(who));

  test('a patient with the identifier, name and birth date is certain', async () => {
    const who = { mrn: mrn(), born: day() };
    const id = await create(who);
    const reply = await match(parametersOf(patientOf(who)));
    expect(gradesOf(reply)).toEqual([[id, 'certain']]);
    expect(reply.body['entry'][0].search.score).toBe(1);
    expect(reply.body['entry'][0].resource).toEqual((await subject().call('GET', `/Patient/${id}`)).body);
    // The resource may be the body, as for every operation with one resource.
    expect(gradesOf(await match(patientOf(who), { query: '?onlyCertainMatches=true&count=1' }))).toEqual([
      [id, 'certain'],
    ]);
  });

  test('an identifier of another person is certainly not', async () => {
    const number = mrn();
    const id = await create({ mrn: number, born: day() });
    const other = patientOf({ mrn: number, family: 'Jones', given: 'Peter', sex: 'male', born: '2001-09-09' });
    const reply = await match(parametersOf(other));
    expect(gradesOf(reply)).toEqual([[id, 'certainly-not']]);
    expect(reply.body['entry'][0].search.score).toBe(0);
    expect(gradesOf(await match(parametersOf(other, ONLY_CERTAIN)))).toEqual([]);
  });

  test('without an identifier no patient is certain: an equal name and birth date is probable, another given name possible', async () => {
    const born = day();
    const mary = await create({ mrn: mrn(), born });
    const twin = await create({ mrn: mrn(), born, given: 'Martha' });
    await create({ mrn: mrn(), born, family: 'Jones' });
    expect(gradesOf(await match(parametersOf(patientOf({ born }))))).toEqual([
      [mary, 'probable'],
      [twin, 'possible'],
    ]);
    expect(gradesOf(await match(parametersOf(patientOf({ born }), ONLY_CERTAIN)))).toEqual([]);
    expect(gradesOf(await match(parametersOf(patientOf({ born }), count(1))))).toEqual([[mary, 'probable']]);
    // The identifier decides between them.
    const both = gradesOf(await match(parametersOf(patientOf({ born, mrn: mrn() }))));
    expect(both).toEqual([
      [mary, 'probable'],
      [twin, 'possible'],
    ]);
  });

  test('the same address raises a probable patient above a namesake', async () => {
    const born = day();
    const address = [{ line: ['Hill Street 4'], postalCode: '1010', city: 'Vienna' }];
    const namesake = await create({ mrn: mrn(), born, more: { address: [{ city: 'Graz', line: ['Lane 2'] }] } });
    const same = await create({ mrn: mrn(), born, more: { address } });
    const sent = patientOf({ born, more: { address: [{ line: ['Hill St. 4'], postalCode: '1010' }] } });
    expect(gradesOf(await match(parametersOf(sent)))).toEqual([
      [same, 'probable'],
      [namesake, 'probable'],
    ]);
  });

  test('an identifier without name and birth date in the record is probable, and several owners are not certain', async () => {
    const number = mrn();
    const bare = await subject().create({
      resourceType: 'Patient',
      identifier: [{ system: 'urn:mrn', value: number }],
    });
    expect(gradesOf(await match(parametersOf(patientOf({ mrn: number, born: day() }))))).toEqual([[bare, 'probable']]);

    const who = { mrn: mrn(), born: day() };
    const two = [await create(who), await create(who)];
    const grades = gradesOf(await match(parametersOf(patientOf(who))));
    expect(new Map(grades)).toEqual(new Map(two.map((id) => [id, 'probable'])));
    expect(gradesOf(await match(parametersOf(patientOf(who), ONLY_CERTAIN)))).toEqual([]);
  });

  test('an identifier without a system counts only with the person, and a placeholder never', async () => {
    const who = { mrn: mrn(), born: day() };
    const id = await create(who);
    const assumed = (value: string, more: Who): Body => patientOf({ ...more, more: { identifier: [{ value }] } });
    expect(gradesOf(await match(parametersOf(assumed(who.mrn, { born: who.born }))))).toEqual([[id, 'certain']]);
    const stranger = { born: '2002-02-02', family: 'Jones', given: 'Peter' };
    expect(gradesOf(await match(parametersOf(assumed(who.mrn, stranger))))).toEqual([[id, 'certainly-not']]);
    await create({ mrn: '00000000', born: day() });
    expectOutcome(await match(parametersOf(assumed('00000000', { given: 'Ann' }))), 422, 'required', 'Patient');
  });

  test('finds letters and digraphs of a name as one', async () => {
    const born = day();
    const id = await create({ mrn: mrn(), born, family: 'Müller', given: 'Zoë' });
    expect(gradesOf(await match(parametersOf(patientOf({ born, family: 'MUELLER', given: 'Zoe' }))))).toEqual([
      [id, 'probable'],
    ]);
  });

  test('a merged patient is answered by its survivor, once', async () => {
    const [a, b] = [
      { mrn: mrn(), born: day() },
      { mrn: mrn(), born: day() },
    ];
    const survivor = await create(a);
    const link = [{ type: 'replaced-by', other: { reference: `Patient/${survivor}` } }];
    await create({ ...b, born: a.born, more: { link } });
    expect(gradesOf(await match(parametersOf(patientOf({ ...b, born: a.born }))))).toEqual([[survivor, 'certain']]);
    expect(gradesOf(await match(parametersOf(patientOf({ born: a.born }))))).toEqual([[survivor, 'probable']]);
  });

  test('answers at most ten, and fewer by count', async () => {
    const born = day();
    const ids = new Set<string>();
    for (let n = 0; n < 12; n += 1) ids.add(await create({ mrn: mrn(), born }));
    const all = idsOf(await match(parametersOf(patientOf({ born }))));
    expect(all).toHaveLength(10);
    expect(all.every((id) => ids.has(id))).toBe(true);
    expect(idsOf(await match(parametersOf(patientOf({ born }), count(2_147_483_647))))).toEqual(all);
    expect(idsOf(await match(parametersOf(patientOf({ born }), count(3))))).toEqual(all.slice(0, 3));
  });

  test('without a match the Bundle is empty, also if another site has the patient', async () => {
    const who = { mrn: mrn(), born: day() };
    await create(who);
    const reply = await match(parametersOf(patientOf(who)), { token: subject().otherToken });
    expect(reply.body).toEqual({ resourceType: 'Bundle', type: 'searchset', total: 0 });
    expect(gradesOf(await match(parametersOf(patientOf({ mrn: mrn(), born: day() }))))).toEqual([]);
  });

  test.each<[string, object | string, number, string, string]>([
    ['a name alone', parametersOf(patientOf({})), 422, 'required', 'Patient'],
    [
      'a birth date and a sex',
      { resourceType: 'Patient', birthDate: '1951-01-01', gender: 'male' },
      422,
      'required',
      'Patient',
    ],
    ['a year of birth', parametersOf(patientOf({ born: '1951' })), 422, 'required', 'Patient'],
    ['an identifier alone', { resourceType: 'Patient', identifier: [{ value: '7' }] }, 422, 'required', 'Patient'],
    ['no resource', { resourceType: 'Parameters', parameter: [count(1)] }, 400, 'required', 'Parameters.parameter'],
    ['an invalid Patient', parametersOf(patientOf({ born: '1.1.1951' })), 400, 'value', 'Patient.birthDate'],
    ['another type', parametersOf({ resourceType: 'Observation' }), 400, 'invalid', 'Patient'],
    [
      'another parameter',
      parametersOf(patientOf({ born: '1951-01-01' }), { name: 'limit', valueInteger: 1 }),
      422,
      'not-supported',
      'Parameters.parameter',
    ],
    ['a count of 0', parametersOf(patientOf({ born: '1951-01-01' }), count(0)), 400, 'value', 'Parameters.parameter'],
    [
      'a text as onlyCertainMatches',
      parametersOf(patientOf({ born: '1951-01-01' }), { name: 'onlyCertainMatches', valueString: 'yes' }),
      400,
      'value',
      'Parameters.parameter',
    ],
    [
      'eleven identifiers',
      patientOf({ more: { identifier: Array.from({ length: 11 }, (_, n) => ({ system: 'urn:x', value: `v${n}` })) } }),
      422,
      'too-costly',
      'Patient.identifier',
    ],
  ])('rejects %s', async (_, body, status, code, at) => {
    expectOutcome(await match(body), status, code, at);
  });

  test('needs the switch of the key and the scope to read patients', async () => {
    const who = patientOf({ mrn: mrn(), born: day() });
    const { site, gateway, client, tokenWith } = subject();
    const id = randomUUID();
    const off = await tokenWith(['system/Patient.read']);
    const refused = await match(parametersOf(who), { token: off, id });
    expectOutcome(refused, 403, 'forbidden');
    expect(refused.text).toContain('patientMatch');
    const { rowCount } = await client.query('select from audit where request_id = $1', [id]);
    expect(rowCount).toBe(0);
    const unscoped = await createApiKey(client, { site, scopes: ['system/Patient.write'], patientMatch: true });
    const token = await getToken(gateway.oauthBaseUrl, unscoped, { audience: 'svc-fhir' });
    expectOutcome(await match(parametersOf(who), { token }), 403, 'forbidden');
  });

  test('the audit has a search with the names of the attributes and the patients', async () => {
    const who = { mrn: mrn(), born: day() };
    const id = await create(who);
    const request = randomUUID();
    await match(parametersOf(patientOf(who)), { id: request });
    const { rows } = await subject().client.query(
      'select action, parameters, ids::text[] as ids, patients::text[] as patients from audit where request_id = $1',
      [request],
    );
    expect(rows).toEqual([
      {
        action: 'search',
        parameters: ['identifier', 'family', 'given', 'birthdate', 'gender'],
        ids: [id],
        patients: [id],
      },
    ]);
  });

  test('the capabilities list it', async () => {
    const { body } = await subject().call('GET', '/metadata');
    const listed = (body['rest'][0].resource as Body[]).filter(({ operation }) =>
      (operation as Body[]).some(({ name }) => name === 'match'),
    );
    expect(listed.map(({ type }) => type)).toEqual(['Patient']);
    expect(listed[0]?.['operation']).toContainEqual({
      name: 'match',
      definition: 'http://hl7.org/fhir/OperationDefinition/Patient-match',
    });
  });

  test('finds what HL7 messages stored, by the names that the site gives to authorities', async () => {
    const { client, gateway } = subject();
    const site = await createSite(client, { assigningAuthorities: { HOSP: 'urn:hosp', LAB: 'urn:lab' } });
    const key = await createApiKey(client, { site, patientMatch: true });
    const hl7 = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' });
    const message = [
      'MSH|^~\\&|ADT|NORTH|GW|SITE|20260101120000+0100||ADT^A01|C1|P|2.5.1',
      'EVN||20260101120000+0100',
      'PID|1||1001^^^HOSP^MR||Doe^Jane||19800229|F',
      'PV1|1|I',
    ].join('\r');
    const sent = await fetch(`${gateway.hl7BaseUrl}/hl7/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${hl7}`, 'content-type': 'text/plain' },
      body: message,
    });
    expect(sent.status, await sent.text()).toBe(200);
    const token = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
    const jane = { family: 'Doe', given: 'Jane', born: '1980-02-29' };
    const by = (identifier: Body) =>
      match(parametersOf(patientOf({ ...jane, more: { identifier: [identifier] } })), { token });
    for (const identifier of [
      { system: 'urn:hosp', value: '1001' },
      { value: '1001', assigner: { display: 'HOSP' } },
    ])
      expect(gradesOf(await by(identifier)).map(([, grade]) => grade)).toEqual(['certain']);
    expect(gradesOf(await by({ system: 'urn:lab', value: '1001' })).map(([, grade]) => grade)).toEqual(['probable']);
  });
}
