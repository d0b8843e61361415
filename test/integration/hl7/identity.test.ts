/**
 * Tests which patient a message matches, against a real PostgreSQL. At full size these cases also run on each runtime, with a
 * gateway.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

import { whyListed } from '../../../edge/admin/attention/kinds.ts';
import { changeSite } from '../../../edge/admin/settings/site.ts';
import { toActor } from '../../../edge/admin/staff/actor.ts';
import { msh } from '../../stack/tools/hl7-text.ts';

import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import { identityCases, type PatientSubject } from '../../contract/hl7/identity-cases.ts';
import { personCases } from '../../contract/hl7/person-cases.ts';
import { patientQueries } from '../../contract/hl7/patient-queries.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';

const site = await createHl7Site();

const subject = (): PatientSubject => ({
  send: (message) => site.send(message),
  sendByOther: (message) => site.sendByOther(message),
  ...patientQueries(site.db.client, site.site),
  async write(patient, id) {
    const written = toWrite(patient, id ?? randomUUID(), id === undefined ? 'create' : 'update');
    await site.database.run(writeResources(site.site, [written]));
    return written.id;
  },
});

identityCases(subject);
describe('persons', () => personCases(subject));

test('patients who share an identifier once a namespace gets a URI are possible duplicates, and both are found', async () => {
  const named = await createHl7Site({ database: site.db });
  const send = (numbers: string, family: string, birth: string) =>
    named.send(`${msh('ADT^A08')}\nPID|1||${numbers}||${family}^Ann||${birth}`);
  await send('1001^^^HOSP^MR', 'Named', '19800203');
  await send('1001^^^&1.2.77&ISO^MR', 'Numbered', '19600506');
  await send('1002^^^HOSP^MR', 'Alone', '19700101');
  const queries = patientQueries(named.db.client, named.site);
  const ids = await Promise.all(
    ['Named', 'Numbered'].map(async (family) => (await queries.patients(family))[0]?.id ?? ''),
  );
  await named.db.client.query('truncate issue cascade');
  const actor = toActor({ sub: 'ada', site: named.site, permissions: ['site.settings.update'] });
  const assigningAuthorities = [{ namespace: 'Hosp', system: 'urn:oid:1.2.77' }];
  await changeSite(named.deps.database, actor, [], { assigningAuthorities });
  expect(await queries.listed(ids)).toEqual(['possible-duplicate']);
  expect((await send('1002^^^&1.2.77&ISO', 'Alone', '19700101')).errors).toEqual([]);
  expect(await queries.patients('Alone')).toHaveLength(1);
  // The name is removed: results that arrived under it meanwhile are still found by it.
  await send('1003^^^HOSP', 'Later', '19900304');
  await named.db.client.query(`update site set assigning_authorities = '{}' where site_id = $1`, [named.site]);
  expect((await send('1003^^^HOSP', 'Later', '19900304')).errors).toEqual([]);
  expect(await queries.patients('Later')).toHaveLength(1);
});

test('a contested namespace is listed once, without a patient', async () => {
  const contested = await createHl7Site({ database: site.db });
  for (const each of ['1', '2', '3'])
    await contested.send(`${msh('ADT^A08')}\nPID|1||${each}^^^MRN&1.2.9.${each}&ISO^MR||Doe^Jane`);
  const { rows } = await contested.db.client.query(
    `select kind, patient_a, about, detail from attention where site_id = $1`,
    [contested.site],
  );
  expect(rows).toEqual([{ kind: 'namespace-contested', patient_a: null, about: 'MRN', detail: { namespace: 'MRN' } }]);
});

describe('a number that a hundred patients have', () => {
  const admit = (to: Hl7Site, numbers: string, family: string) =>
    to.send(`${msh('ADT^A08')}\nPID|1||${numbers}||${family}^Ann||19800203|F`);
  const result = (to: Hl7Site, numbers: string, family: string) =>
    to.send(
      `${msh('ORU^R01^ORU_R01')}\nPID|1||${numbers}||${family}^Ann||19800203|F\nOBR|1||F1|1^x^L|||20260101\nOBX|1|ST|K^K^L||5||||||F`,
    );

  /**
   * A hundred strangers with one number, each by another name of who gave it out, or all by one. Their ids are before those
   * that are made now.
   */
  const strangers = async (of: Hl7Site, value: string, type: string, domain?: string) => {
    await of.db.client.query(
      `insert into resource (site_id, type, id, version, last_updated, meta, body)
         select $1, 'Patient', ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, now(), '', '"name":[{"family":"Stranger"}]'
           from generate_series(1, 100) n`,
      [of.site],
    );
    await of.db.client.query(
      `insert into patient_identity (site_id, value, authority, id, number_type, led, is_assumed, is_taught)
         select $1, $2, coalesce($4, 'name:CLINIC' || n), ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $3, true, false, true
           from generate_series(1, 100) n`,
      [of.site, value, type, domain ?? null],
    );
  };

  test('an identifier that identifies no patient hides no patient', async () => {
    const crowd = await createHl7Site({ database: site.db });
    const queries = patientQueries(crowd.db.client, crowd.site);
    await strangers(crowd, '555129876', 'SS');
    expect((await admit(crowd, 'C100^^^HOSP^MR~555129876^^^SSA^SS', 'Crowd100x')).outcome).toBe('AA');
    // This patient is not among the hundred who share the common identifier.
    expect((await admit(crowd, 'C100^^^HOSP^MR~555129876^^^SSA^SS', 'Crowd100x')).outcome).toBe('AA');
    expect(await queries.patients('Crowd100x')).toHaveLength(1);
    expect((await result(crowd, 'C100^^^HOSP^MR~555129876^^^SSA^SS', 'Crowd100x')).outcome).toBe('AA');
    expect(await queries.subjects('K')).toEqual((await queries.patients('Crowd100x')).map(({ id }) => id));
    // Alone it could mean any of more than can be looked at.
    const alone = await admit(crowd, '555129876^^^SSA^SS', 'Crowd100x');
    expect([alone.outcome, alone.errors]).toEqual(['AE', ['E 205 PID^1^3']]);
    expect(await crowd.resources('Patient')).toHaveLength(101);
  });

  test('a leading identifier that many patients share is rejected, and nothing is filed with the first match', async () => {
    const crowd = await createHl7Site({ database: site.db });
    const queries = patientQueries(crowd.db.client, crowd.site);
    await strangers(crowd, '77123', 'MR', 'name:CLINIC7');
    const refused = await result(crowd, '77123^^^CLINIC7^MR', 'Clinic7x');
    expect([refused.outcome, refused.errors]).toEqual(['AE', ['E 205 PID^1^3']]);
    expect(await queries.subjects('K')).toEqual([]);
    // If the site lists it as a placeholder, the other identifiers decide.
    await crowd.db.client.query(`update site set placeholders = '{77123}' where site_id = $1`, [crowd.site]);
    expect((await result(crowd, '77123^^^CLINIC7^MR~881^^^OWN^MR', 'Clinic7x')).outcome).toBe('AA');
  });
});

test('an identifier that a hundred patients have elsewhere is still unique in its assigning authority', async () => {
  const crowd = await createHl7Site({ database: site.db });
  const queries = patientQueries(crowd.db.client, crowd.site);
  const send = (number: string, family: string) =>
    crowd.send(`${msh('ADT^A08')}\nPID|1||${number}||${family}^Ann||19800203|F`);
  for (let clinic = 0; clinic < 100; clinic += 1) await send(`55^^^CLINIC${clinic}^MR`, `Crowd${clinic}x`);
  // One more patient, whose id sorts after all others, and each of the others.
  for (const number of ['55^^^OWN^MR', '55^^^OWN^MR~9^^^OTHER^MR', '55^^^CLINIC7^MR', '55^^^CLINIC99^MR']) {
    const family = /CLINIC(\d+)/.exec(number)?.[1];
    const sent = await send(number, family === undefined ? 'Ownx' : `Crowd${family}x`);
    expect([number, sent.outcome]).toEqual([number, 'AA']);
  }
  for (const family of ['Ownx', 'Crowd7x', 'Crowd99x']) expect(await queries.patients(family)).toHaveLength(1);
});

test('the list gives the reason, and for a move which patient is which', async () => {
  const listing = await createHl7Site({ database: site.db });
  const adt = (event: string, number: string, name: string, more = '') =>
    listing.send(`${msh(event)}\nPID|1||${number}||${name}||19800203|F${more}`);
  await adt('ADT^A08', '1^^^HOSP^MR', 'One^Ann');
  await adt('ADT^A08', '2^^^HOSP^MR', 'Two^Bea');
  await adt('ADT^A08', '1^^^HOSP^MR~2^^^HOSP^MR', 'One^Ann');
  await adt('ADT^A43^ADT_A43', '1^^^HOSP^MR', 'One^Ann', '\nMRG|2^^^HOSP^MR');
  const [one, two] = await listing.resources('Patient');
  const { rows } = await listing.db.client.query<{ kind: string; detail: unknown }>(
    'select kind, detail from attention where site_id = $1 order by kind',
    [listing.site],
  );
  expect(rows).toEqual([
    { kind: 'not-moved', detail: { from: two?.id, to: one?.id } },
    { kind: 'possible-duplicate', detail: { reason: 'identifiers-of-several', at: 'PID^1^3^2^1' } },
  ]);
  const [a = '', b = ''] = [one?.id ?? '', two?.id ?? ''].toSorted();
  const why = whyListed('not-moved', { from: two?.id ?? '', to: one?.id ?? '' }, [a, b]);
  expect(why).toContain(
    a === two?.id ? 'from the first patient to the second' : 'from the second patient to the first',
  );
  expect(whyListed('not-moved', { to: a }, [a])).toContain('from an unknown patient');
});
