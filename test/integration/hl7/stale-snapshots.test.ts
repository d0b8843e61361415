/**
 * Stale snapshots of isolates never change what is stored and answered. Twin sites get the same messages and changes.
 * The messages of one site go to three isolates at random, those of the other to an isolate without a cache. Another
 * site with the same patients uses the same isolates. It has a twin too, and takes over the address of the first site.
 */
import { randomUUID } from 'node:crypto';

import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';

import { createSnapshotCache } from '../../../edge/hl7/ingest/snapshot/cache.ts';
import { cutMessage } from '../../../edge/hl7/ingest/cut-documents.ts';
import { ingest } from '../../../edge/hl7/ingest/ingest.ts';
import type { Sender } from '../../../edge/hl7/ingest/sender/sender.ts';
import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import { Fault } from '../../../shared/fault.ts';
import { isJsonObject, parseJson } from '../../../shared/json.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { bytesOf, msh } from '../../stack/tools/hl7-text.ts';
import { sized } from '../../stack/tools/size.ts';
import { adt, filedThatMeet, mdm, merged, oru, resultsThatMeet, type Utterance } from '../../inputs/hl7-histories.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';
import { stateOf } from './state.ts';
import { callerOf } from '../../stack/tools/caller.ts';

const trips = { cached: 0, loaded: 0 };
const db = await useTestDatabase();
beforeAll(async () => {
  // The site that has every address by itself.
  await createHl7Site({ database: db, addresses: [] });
});

/** A site with one key, two keys for sidecars at one address, and the owner of its token. */
interface Place {
  readonly site: Hl7Site;
  readonly address: string;
  readonly mllpKeys: readonly string[];
  tokenId: string;
}

let addresses = 0;
async function createPlace(): Promise<Place> {
  addresses += 1;
  const address = `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
  const site = await createHl7Site({ database: db, addresses: [address], timeZone: 'Europe/Vienna' });
  const mllp = { site: site.site, protocols: ['hl7-mllp'], allowedIps: [address] };
  const keys = [
    await createApiKey(db.client, mllp),
    await createApiKey(db.client, { ...mllp, senderApplication: 'LAB' }),
  ];
  return { site, address, mllpKeys: keys.map(({ clientId }) => clientId), tokenId: randomUUID() };
}

/** Messages about these patients, by these ways, all at one time. */
const HOSPITAL: fc.Arbitrary<Utterance> = fc.oneof(
  adt,
  oru,
  mdm,
  merged,
  merged,
  resultsThatMeet,
  filedThatMeet,
  // Messages that teach identifiers, and messages that match by more than one identifier.
  fc
    .constantFrom(
      'P1^^^HOSP&1.2.3&ISO',
      'P2^^^HOSP&1.2.4&ISO',
      'P2~P1',
      'P1^^^ELSE',
      'P3^^^HOSP~P1^^^LAB^PI',
      '7^^^LAB^PI',
    )
    .map(
      (numbers) => (minute: number) =>
        `MSH|^~\\&|LAB|HOSP|GATEWAY|SITE|20260102081${minute % 10}||ADT^A31|N-${minute}|P|2.5.1\nPID|1||${numbers}||Doe^Jane||19800229|F`,
    ),
);

/** The control ids of histories have components, of which the first would be that of all. */
const numbered = (message: string): string => message.replace(/\|([A-Z]{3})\^([A-Z]\d\d-\d+)\|P\|/, '|$1$2|P|');

interface Step {
  readonly what: string;
  /** @param isolate undefined: one without a cache. @returns the answer without ids */
  readonly run: (places: readonly [Place, Place], isolate: number | undefined, nowMs: number) => Promise<unknown>;
}

const isolates = Array.from({ length: 3 }, () => ({ snapshots: createSnapshotCache() }));

/** An ACK without its time and control id. */
const textOf = (ack: Uint8Array | null): string | undefined =>
  ack === null ? undefined : new TextDecoder('latin1').decode(ack).replace(/(ACK[^|]*\|)[0-9a-f]+/, '$1');

const sends = (index: 0 | 1, message: string, isMllp: boolean): Step => ({
  what: `${index} ${isMllp ? 'mllp' : 'http'} ${message}`,
  run: async (places, isolate, nowMs) => {
    const { site, address, tokenId } = places[index];
    const caller = callerOf(site.site, site.clientId, { tokenId });
    const sender: Sender = isMllp
      ? { kind: 'address', address, tlsSubject: undefined, sidecar: 'sidecar-1' }
      : { kind: 'caller', caller };
    const source = { kind: isMllp ? 'mllp' : 'http', address: '192.0.2.7' } as const;
    const snapshots = isolate === undefined ? undefined : isolates[isolate]?.snapshots;
    try {
      const ingested = await ingest(
        { ...site.deps, now: () => nowMs, snapshots },
        { sender, ...(await cutMessage(bytesOf(message), Infinity)), source, requestId: 'request-1' },
      );
      if (ingested.status === 'no-sender') return ingested.refusal.refused;
      const { status, outcome, ack, site: of, clientId } = ingested;
      const whose = places.findIndex((place) => place.site.site === of);
      const key = [places[whose]?.site.clientId, ...(places[whose]?.mllpKeys ?? [])].indexOf(clientId);
      return { status, outcome, ack: textOf(ack), whose, key };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return error.kind;
    }
  },
});

const said = (index: 0 | 1): fc.Arbitrary<Step> =>
  fc
    .record({
      make: HOSPITAL,
      minute: fc.integer({ min: 0, max: 40 }),
      isMllp: fc.constantFrom(false, false, false, true),
    })
    .map(({ make, minute, isMllp }) => sends(index, numbered(make(minute)), isMllp));

/** Each begins with snapshots that hold. */
const BEGUN: readonly (readonly [Step, number])[] = ['Jane', 'Janet', 'Joan'].map((given) => [
  sends(0, `${msh('ADT^A08')}\nPID|1||P9^^^HOSP^MR||Doe^${given}`, false),
  0,
]);

const asked = (statement: string, params: (place: Place, other: Place) => unknown[]): Step['run'] => {
  return async ([place, other]) => {
    const given = params(place, other);
    await db.client.query(statement, given);
  };
};
const ofSite = (set: string): [string, Step['run']] => [
  set,
  asked(`update site set ${set} where site_id = $1`, ({ site }) => [site.site]),
];
const ofKey = (set: string): [string, Step['run']] => [
  set,
  asked(`update api_key set ${set} where client_id = $1`, ({ site }) => [site.clientId]),
];
const ofMllpKey = (n: number, set: string): [string, Step['run']] => [
  `mllp ${n} ${set}`,
  asked(`update api_key set ${set} where client_id = $1`, ({ mllpKeys }) => [mllpKeys[n]]),
];

/** The oldest patient with an identifier; undefined where no patient has it. */
async function patientOf({ site }: Place, value: string): Promise<{ id: string; body: string } | undefined> {
  const { rows } = await db.client.query<{ id: string; body: string }>(
    `select r.id, r.body from patient_identity i join resource r using (site_id, type, id)
      where i.site_id = $1 and i.value = $2 order by (select min(h.last_updated) from resource_history h where h.id = r.id), r.id`,
    [site.site, value],
  );
  return rows[0];
}

/** Changes by administrators, clients, operators and time in between. */
const CHANGES: readonly (readonly [string, Step['run']])[] = [
  ofKey('hl7_strict = not hl7_strict'),
  ofKey(`hl7_identity_check = 'refuse'`),
  ofKey(`hl7_identity_check = 'warn'`),
  ofKey('hl7_information = not hl7_information'),
  ofKey(`hl7_default_authority = 'HOSP'`),
  ofKey(`hl7_default_charset = '8859/1'`),
  ofKey(`allowed_scopes = '{system/Patient.write}'`),
  ofKey(`status = 'disabled'`),
  ofKey(`status = 'active'`),
  ofMllpKey(0, `status = 'disabled'`),
  ofMllpKey(0, `status = 'active'`),
  ofMllpKey(1, `status = 'disabled'`),
  ofMllpKey(1, `hl7_sender_application = 'ELSE'`),
  ofMllpKey(1, `hl7_strict = true`),
  ofSite(`assigning_authorities = '{"HOSP": "urn:oid:1.2.3"}'`),
  ofSite(`assigning_authorities = '{}'`),
  ofSite(`processing_ids = '{T}'`),
  ofSite(`processing_ids = '{P}'`),
  ofSite(`placeholders = '{P2}'`),
  ofSite(`time_zone = 'Asia/Kolkata'`),
  ['reject', asked(`update authority_alias set state = 'rejected' where site_id = $1`, ({ site }) => [site.site])],
  [
    'revoke',
    async ([place]) => {
      await db.client.query(`select token_revoke($1, $2, now() + interval '1 hour')`, [place.site.site, place.tokenId]);
    },
  ],
  [
    'new token',
    async ([place]) => {
      place.tokenId = randomUUID();
    },
  ],
  [
    'a client changes the patient',
    async ([place], _, nowMs) => {
      const found = await patientOf(place, 'P1');
      const content = found === undefined ? undefined : parseJson(`{${found.body}}`);
      if (found === undefined || !isJsonObject(content)) return;
      const changed = { resourceType: 'Patient', ...content, birthDate: `19${10 + (nowMs % 80)}-01-01` };
      await place.site.database.run(writeResources(place.site.site, [toWrite(changed, found.id, 'update')]));
    },
  ],
  [
    'a client makes another with the number',
    async ([place]) => {
      const identifier = [{ system: 'urn:oid:1.2.3', value: 'P1' }];
      const made = { resourceType: 'Patient', identifier, name: [{ family: 'Doe', given: ['Jane'] }] };
      await place.site.database.run(writeResources(place.site.site, [toWrite(made, randomUUID(), 'create')]));
    },
  ],
  [
    'an operator erases',
    async ([place]) => {
      const found = await patientOf(place, 'P1');
      await db.client.query('select * from patient_erase($1, $2, true)', [place.site.site, found?.id ?? randomUUID()]);
    },
  ],
  [
    'an operator corrects a name by hand',
    asked(`update resource set body = replace(body, 'Roe', 'Doe') where site_id = $1`, ({ site }) => [site.site]),
  ],
  [
    'time passes for the messages',
    asked(
      `select hl7_messages_forget($1, array(select message_id from hl7_message where site_id = $1))`,
      ({ site }) => [site.site],
    ),
  ],
  [
    'the address is assigned to the other site',
    async ([place, other]) => {
      await db.client.query(`update site_address set site_id = $1 where range = $2`, [other.site.site, place.address]);
      await db.client.query(`update api_key set allowed_ips = allowed_ips || $2 where client_id = $1`, [
        other.mllpKeys[0],
        [place.address],
      ]);
    },
  ],
  [
    'and is assigned back',
    asked(`update site_address set site_id = $1 where range = $2`, ({ site, address }) => [site.site, address]),
  ],
];

const step: fc.Arbitrary<readonly [Step, number]> = fc.tuple(
  fc.oneof(
    { weight: 20, arbitrary: said(0) },
    { weight: 3, arbitrary: said(1) },
    { weight: 4, arbitrary: fc.constantFrom(...CHANGES).map(([what, run]) => ({ what, run })) },
  ),
  fc.constantFrom(0, 0, 0, 0, 1, 2),
);

/** Everything that is kept of messages beside what they made. */
async function keptOf({ site }: Place): Promise<unknown> {
  const statements = [
    `select control_id, outcome, message_type, errors::text, raw is null as is_gone from hl7_message where site_id = $1 order by 1, 3, 2, 4`,
    `select m.control_id, m.message_type, a.number, a.why, a.outcome, a.errors::text from hl7_attempt a join hl7_message m using (site_id, message_id)
      where site_id = $1 order by 1, 2, 3, 4, 5, 6`,
    `select kind, detail::text ~ 'x' as x from attention where site_id = $1 order by 1, 2`,
    `select namespace, uri, state from authority_alias where site_id = $1 order by 1, 2, 3`,
    `select kind, name, count(*) from unmapped_name where site_id = $1 group by 1, 2 order by 1, 2`,
    `select type, version, count(*) from resource where site_id = $1 group by 1, 2 order by 1, 2`,
    `select type, version, count(*) from resource_history where site_id = $1 group by 1, 2 order by 1, 2`,
    `select type, count(*) from hl7_identity where site_id = $1 group by 1 order by 1`,
    `select type, what, at, place, filler, placer from hl7_result where site_id = $1 order by 1, 2, 3, 4, 5, 6`,
    `select trait, count(*) from patient_trait where site_id = $1 group by 1 order by 1`,
    `select action, actor_kind, types from audit where site_id = $1 order by 1, 2, 3`,
  ];
  const kept: unknown[] = [];
  for (const statement of statements) kept.push((await db.client.query(statement, [site.site])).rows);
  return kept;
}

test('cached snapshots change nothing but the number of round trips', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 16, size: 'max' }), async (steps) => {
      const pairs: [Place, Place][] = [];
      for (let n = 0; n < 2; n += 1) pairs.push([await createPlace(), await createPlace()]);
      const [caching, loading] = pairs;
      if (caching === undefined || loading === undefined) throw new Error('two pairs were made');
      const started = Date.now();
      for (const [n, [{ what, run }, isolate]] of [...BEGUN, ...steps].entries()) {
        const nowMs = started + n * 1_000;
        const before = db.endpoint.requests();
        const one = await run(caching, isolate, nowMs);
        const cached = db.endpoint.requests() - before;
        const other = await run(loading, undefined, nowMs);
        const loaded = db.endpoint.requests() - before - cached;
        expect({ what, answer: one }).toEqual({ what, answer: other });
        expect(cached).toBeLessThanOrEqual(loaded);
        trips.cached += cached;
        trips.loaded += loaded;
      }
      for (const index of [0, 1] as const) {
        const [one, other] = [caching[index], loading[index]];
        expect(await stateOf(db.client, one.site.site)).toEqual(await stateOf(db.client, other.site.site));
        expect(await keptOf(one)).toEqual(await keptOf(other));
      }
    }),
    { numRuns: sized(3, 1_000) },
  );
  // Else nothing was tried.
  expect(trips.cached).toBeLessThan(trips.loaded);
});
