/** The owner of a source address: saved keys never let two sites share one sender, and no change removes a sender. */
import fc from 'fast-check';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeEach, expect, test } from 'vitest';

import { createKey } from '../../../edge/admin/keys/keys.ts';
import { PERMISSIONS } from '../../../edge/permissions.ts';
import { toActor } from '../../../edge/admin/staff/actor.ts';
import { selectKey } from '../../../edge/hl7/ingest/sender/select-key.ts';
import { type GivenAddress, assignAddress, withdrawAddress } from '../../../edge/admin/settings/addresses.ts';
import { connectDatabase } from '../../../edge/platform/node/database.ts';
import type { CandidateRow } from '../../../edge/store/hl7-snapshot.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { sized } from '../../stack/tools/size.ts';

const db = await useTestDatabase();
const database = await connectDatabase(db.ownerUrl);
afterAll(() => database?.close());
beforeEach(async () => {
  await db.client.query('truncate site cascade');
});

const MLLP = { protocols: ['hl7-mllp'] };
const assign = (site: string, given: GivenAddress) => assignAddress(database, site, 'test', given);
const withdraw = (site: string, given: GivenAddress) => withdrawAddress(database, site, given);
const save = (site: string, allowedIps: readonly string[], more: object = {}) =>
  createApiKey(db.client, { site, ...MLLP, allowedIps, ...more });
const FOREIGN = { code: 'GW423' };
const rangesOf = async (site: string) =>
  (
    await db.client.query<{ range: string }>('select range from site_address where site_id = $1 order by 1', [site])
  ).rows.map(({ range }) => range);

test('a site that is alone has every address, and keeps it on the day a second one is made, which has none', async () => {
  const first = await createSite(db.client);
  await save(first, ['*']);
  await save(first, ['10.1.0.0/16', '2001:db8::/32']);
  const second = await createSite(db.client);
  expect([await rangesOf(first), await rangesOf(second)]).toEqual([['*'], []]);
  await expect(save(second, ['*'])).rejects.toMatchObject(FOREIGN);
  await expect(save(second, ['192.0.2.1'])).rejects.toMatchObject(FOREIGN);
  await save(first, ['192.0.2.1']);
  await expect(assign(second, { range: '192.0.2.0/24' })).rejects.toThrow(first);
});

test('two sites that are made at once do not both have every address', async () => {
  const other = await db.connect(db.ownerUrl);
  const sites = await Promise.all([createSite(db.client), createSite(other)]);
  await other.end();
  const ranges = await Promise.all(sites.map(rangesOf));
  expect(ranges.flat()).toEqual(['*']);
});

test('a network within several of its ranges is the site’s; half of it is not', async () => {
  const site = await createSite(db.client, { addresses: ['10.0.0.0/25', '10.0.0.128/25', '2001:db8::/32'] });
  await save(site, ['10.0.0.0/24', '::ffff:10.0.0.7', '2001:db8:9::/48', '*']);
  for (const range of ['10.0.0.0/23', '10.0.1.0', '2001:db8::/31', '0.0.0.0/0']) {
    await expect(save(site, [range])).rejects.toMatchObject({ ...FOREIGN, detail: '[0]' });
  }
});

test('checks the addresses of a disabled key when it is saved and enabled, and always allows disabling', async () => {
  const site = await createSite(db.client, { addresses: ['10.0.0.0/8'] });
  await expect(save(site, ['192.0.2.1'], { status: 'disabled' })).rejects.toMatchObject(FOREIGN);
  const { clientId } = await save(site, ['10.0.0.1'], { status: 'disabled' });
  const write = (record: object) =>
    db.client.query(`select outcome from api_key_write($1, $2, '{}', 'me', $3, null, '{}')`, [
      site,
      clientId,
      JSON.stringify(record),
    ]);
  await withdraw(site, { range: '10.0.0.0/8' });
  await write({ name: 'Renamed' });
  await expect(write({ status: 'active' })).rejects.toMatchObject(FOREIGN);
  await assign(site, { range: '10.0.0.1' });
  await write({ status: 'active' });
  await db.client.query('delete from site_address');
  await write({ status: 'disabled' });
});

test('no key loses an address when a range is removed; its administrator is named', async () => {
  const site = await createSite(db.client, { addresses: ['10.0.0.0/8', '192.0.2.0/24'] });
  const { clientId } = await save(site, ['10.1.0.0/16'], { name: 'Lab' });
  const all = await save(site, ['*'], { senderFacility: 'EAST' });
  await expect(withdraw(site, { range: '10.0.0.0/8' })).rejects.toThrow(`Lab (${clientId})`);
  await expect(withdraw(site, { range: '192.0.2.0/24' })).rejects.toThrow(all.clientId);
  expect(await rangesOf(site)).toEqual(['10.0.0.0/8', '192.0.2.0/24']);
  // Narrower senders do not make up for it, nor does a part of it; the same for all, or for the key's own, does.
  await assign(site, { range: '192.0.2.0/24', facility: 'WEST' });
  await assign(site, { range: '192.0.2.0/25' });
  await expect(withdraw(site, { range: '192.0.2.0/24' })).rejects.toThrow(all.clientId);
  await assign(site, { range: '192.0.2.0/24', facility: 'EAST' });
  await withdraw(site, { range: '192.0.2.0/24' });
  await assign(site, { range: '10.0.0.0/7' });
  await withdraw(site, { range: '10.0.0.0/8' });
});

test('two sites share a range only by senders that differ in a field that both name', async () => {
  const first = await createSite(db.client, { addresses: [] });
  const second = await createSite(db.client, { addresses: [] });
  await assign(first, { range: '10.0.0.0/8', facility: 'EAST' });
  for (const given of [
    { range: '10.1.0.0/16' },
    { range: '::ffff:10.0.0.1' },
    { range: '*' },
    { range: '10.0.0.1', application: 'LAB' },
    { range: '10.0.0.1', facility: 'EAST', tlsSubject: 'CN=x' },
  ]) {
    await expect(assign(second, given)).rejects.toMatchObject({ kind: 'conflict' });
  }
  await assign(second, { range: '10.0.0.0/8', facility: 'WEST' });
  await expect(save(second, ['10.0.0.1'], { senderFacility: 'EAST' })).rejects.toMatchObject(FOREIGN);
  await save(second, ['10.0.0.1']);
});

test('among the saved keys of any two sites no sender fits both', async () => {
  const address = fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.1.1', '2001:db8::1', '::1');
  const range = fc.oneof(
    address,
    fc.constantFrom('*', '0.0.0.0/0', '::/0', '10.0.0.0/31', '10.0.0.0/23', '::ffff:10.0.0.0/127', '2001:db8::/32'),
  );
  const mark = fc.constantFrom(undefined, undefined, 'A', 'B');
  const marks = { application: mark, facility: mark, tlsSubject: mark };
  const site = fc.constantFrom(0, 1);
  const step = fc.oneof(
    fc.record({ kind: fc.constant('assign' as const), site, range, ...marks }),
    fc.record({ kind: fc.constant('withdraw' as const), site, range, ...marks }),
    fc.record({
      kind: fc.constant('save' as const),
      site,
      ranges: fc.array(range, { minLength: 1, maxLength: 2 }),
      ...marks,
    }),
  );
  let [saved, fitted] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 16, maxLength: 30 }), async (steps) => {
      // Not truncated: that is slow, and there are a few rows only.
      for (const table of ['site_address', 'site_change', 'api_key_thumbprint', 'api_key_change', 'api_key', 'site'])
        await db.client.query(`delete from ${table}`);
      const sites = [
        await createSite(db.client, { addresses: [] }),
        await createSite(db.client, { addresses: [] }),
      ] as const;
      for (const each of steps) {
        const at = sites[each.site === 0 ? 0 : 1];
        if (each.kind === 'save') {
          const { application: senderApplication, facility: senderFacility, tlsSubject } = each;
          const filters = Object.entries({ senderApplication, senderFacility, tlsSubject });
          const given = Object.fromEntries(filters.filter(([, value]) => value !== undefined));
          await save(at, each.ranges, given).then(
            () => (saved += 1),
            () => undefined,
          );
        } else await (each.kind === 'assign' ? assign : withdraw)(at, each).catch(() => undefined);
      }
      for (const source of ['10.0.0.1', '10.0.1.1', '2001:db8::1']) {
        for (const [application, facility, tlsSubject] of ['AAA', 'AB ', 'BA ', 'BBB'].map((text) =>
          text.trim().split(''),
        )) {
          const from = { application: application ?? '', facility: facility ?? '', tlsSubject: tlsSubject ?? '' };
          const { rows } = await db.client.query<CandidateRow>('select * from mllp_candidates($1, $2, $3, $4)', [
            source,
            from.application,
            from.facility,
            from.tlsSubject,
          ]);
          const keys = rows.map((row) => ({
            clientId: row.client_id,
            site: row.site_id,
            status: row.status,
            protocols: row.protocols,
            allowedIps: row.allowed_ips,
            senderApplication: row.hl7_sender_application,
            senderFacility: row.hl7_sender_facility,
            tlsSubject: row.tls_subject,
            isOwn: row.is_own,
            isForeign: row.is_foreign,
          }));
          const peer = {
            address: source,
            sendingApplication: from.application,
            sendingFacility: from.facility,
            tlsSubject: from.tlsSubject,
          };
          const selected = selectKey(keys, peer);
          if ('key' in selected) fitted += 1;
          else expect(selected.refused).toBe('no-key');
        }
      }
    }),
    { numRuns: sized(20, 1_000) },
  );
  // The rule is not kept by saving nothing.
  expect(saved).toBeGreaterThan(20);
  expect(fitted).toBeGreaterThan(20);
});

test('an administrator sees which of the addresses belong to the site and which do not, and of no other site', async () => {
  const neighbour = await createSite(db.client, { name: 'Neighbour', addresses: ['192.0.2.0/24'] });
  const site = await createSite(db.client, { addresses: ['10.0.0.0/8'] });
  await assign(site, { range: '2001:db8::/32', facility: 'EAST' });
  const { publicKey } = await generateKeyPair('ES256', { extractable: true });
  const deps = { database, config: { JWKS_TRUSTED_HOSTS: [] }, fetch, resolveHost: async () => [] };
  const actor = toActor({ sub: 'a', name: 'A', site, permissions: Object.keys(PERMISSIONS) });
  const jwks = { keys: [await exportJWK(publicKey)] };
  const body = { name: 'Lab', tokenTtlSeconds: 300, ...MLLP, jwks, allowedIps: ['10.0.0.1', '192.0.2.7'] };
  await expect(createKey(deps, actor, body)).rejects.toMatchObject({
    kind: 'invalid',
    issues: [
      {
        at: 'allowedIps',
        message:
          '192.0.2.7 is outside the addresses that the operator has assigned to this site for such senders ' +
          '(10.0.0.0/8, 2001:db8::/32 (MSH-4 EAST)): choose one of them, or ask the operator',
      },
    ],
  });
  // Together with what needs no database to be seen, and what another site has.
  const theirs = toActor({ sub: 'b', name: 'B', site: neighbour, permissions: Object.keys(PERMISSIONS) });
  await createKey(deps, theirs, { ...body, protocols: ['fhir'] });
  const refused = createKey(deps, actor, { ...body, name: '' });
  await expect(refused).rejects.toMatchObject({ issues: [{ at: 'name' }, { at: 'jwks' }, { at: 'allowedIps' }] });
  const isRight = createKey(deps, actor, body);
  await expect(isRight).rejects.toMatchObject({ issues: [{ at: 'jwks', code: 'duplicate' }, { at: 'allowedIps' }] });
});
