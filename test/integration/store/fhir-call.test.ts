/** Interactions that are one function call: alone and in a bundle they have equal answers and audit rows. Alone they check the caller. */

import { beforeAll, describe, expect, test } from 'vitest';

import type { Query } from '../../../edge/deps.ts';
import { neonDatabase } from '../../../edge/platform/neon.ts';
import { assertCaller } from '../../../edge/store/api-key.ts';
import { addAudit } from '../../../edge/store/audit.ts';
import { type Access, type FhirCall, isFhirCall } from '../../../edge/store/fhir-call.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { type PageRow, toPage } from '../../../edge/store/page.ts';
import { readResource, type ShownIf } from '../../../edge/store/resource-by-id.ts';
import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import { keySearchOf } from '../../../edge/store/search/key-search.ts';
import type { Criterion } from '../../../edge/store/search/kinds.ts';
import type { PageSelection } from '../../../edge/store/search/page-selection.ts';
import { searchPage } from '../../../edge/store/search/search.ts';
import { revokeToken } from '../../../edge/store/token.ts';
import type { JsonObject } from '../../../shared/json.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { edgeDatabase, useTestDatabase } from '../../stack/tools/database.ts';
import { lockWaits } from '../../stack/tools/lock-waits.ts';
import { until } from '../../stack/services/until.ts';
import { callerOf } from '../../stack/tools/caller.ts';
import { SCOPES } from '../../../shared/oauth/scope.ts';

let access: Access;
let other: Access;
let asked: string[] = [];

const accessOf = async (): Promise<Access> => {
  const site = await createSite(db.client);
  const { clientId } = await createApiKey(db.client, { site });
  return {
    caller: callerOf(site, clientId, { audience: 'svc-fhir', scopes: new Set(SCOPES) }),
    address: '192.0.2.1',
    requestId: 'request-1',
    searched: null,
  };
};

const db = await useTestDatabase({ onRequest: ({ statements }) => (asked = statements.map(({ query }) => query)) });
const gateway = edgeDatabase(db);
beforeAll(async () => {
  [access, other] = [await accessOf(), await accessOf()];
});

const newId = (): string => uuidv7(Date.now());
const patient = (...numbers: readonly (readonly [string, string])[]): JsonObject => ({
  resourceType: 'Patient',
  identifier: numbers.map(([system, value]) => (system === '' ? { value } : { system, value })),
});
const observation = (about: string, code: string, system = 'http://loinc.org'): JsonObject => ({
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [system === '' ? { code } : { system, code }] },
  subject: { reference: `Patient/${about}` },
});
async function store(content: JsonObject, by = access): Promise<string> {
  const id = newId();
  const { site } = by.caller;
  await inSite(gateway, site).run(writeResources(site, [toWrite(content, id, 'create')]));
  return id;
}

/** The newest row of the audit, without what is another each time. */
async function newestAudit(): Promise<object | undefined> {
  const { rows } = await db.client.query<object>(
    `select actor_kind, actor, client_id, address, request_id, action, parts, types, ids, patients, parameters
       from audit order by at desc limit 1`,
  );
  return rows[0];
}
const audits = async (): Promise<number> => {
  const { rows } = await db.client.query<{ n: number }>('select count(*)::integer as n from audit');
  return rows[0]?.n ?? 0;
};

/** As an entry of a bundle. */
async function inBundle<Row extends object>(query: Query<Row>, by: Access) {
  const { caller, address, requestId, searched } = by;
  const actor = { kind: 'key', name: null, clientId: caller.clientId, address, requestId } as const;
  const audit = addAudit(caller.site, actor, { action: null, searched });
  const [, rows] = await gateway.batch([assertCaller(caller), query, audit] as const);
  return rows;
}

/** As a single request. */
async function alone<Row extends object>(call: FhirCall<Row>, by: Access = access) {
  const rows = await gateway.run(call.asRequest(by));
  expect(asked).toHaveLength(1);
  return rows;
}

/** The columns that a single request and an entry of a bundle have in common. */
const withoutClock = (rows: readonly object[]): readonly object[] => rows.map((row) => ({ ...row, began_at: null }));

const pageOf = (rows: readonly PageRow[]): readonly object[] =>
  rows.map(({ type, id, version, last_updated, sort_key, meta, body }) => {
    return { type, id, version, last_updated, sort_key, meta, body };
  });

/**
 * A search by key, alone, in a bundle, and in an equivalent order that the planner serves. The answers and audit rows must be
 * equal.
 *
 * @returns the page
 */
async function found(type: ResourceType, criteria: readonly Criterion[], more: Partial<PageSelection> = {}) {
  const sort = { by: 'id', descending: false } as const;
  const selection = { site: access.caller.site, type, criteria, sort, after: null, limit: 3, ...more };
  const by = { ...access, searched: ['identifier', '_count'] };
  const planned = searchPage({ ...selection, sort: { ...sort, ties: [{ by: 'last-updated', descending: false }] } });
  const expected = pageOf(await inBundle(planned, by));
  const left = await newestAudit();
  const page = searchPage(selection);
  if (!isFhirCall(page)) throw new Error('no search by key');
  const rows: readonly PageRow[] = await inBundle(page, by);
  expect(pageOf(rows)).toEqual(expected);
  expect(await newestAudit()).toEqual(left);
  expect(withoutClock(await alone(page, by))).toEqual(withoutClock(rows));
  expect(await newestAudit()).toEqual(left);
  return rows;
}

describe('a search by key', () => {
  const number = (value: string | null, system: string | null = null): Criterion => ({
    kind: 'identifier',
    any: [{ system, value }],
  });

  test('finds an identifier, with each form of system', async () => {
    const long = 'x'.repeat(900);
    await store(patient(['urn:a', 'N1'], ['urn:b', 'N1']));
    await store(patient(['', 'N1']));
    await store(patient(['urn:a', 'N1']));
    await store(patient(['urn:a', long]));
    await store(patient(['urn:a', 'N1']), other);
    expect(await found('Patient', [number('N1')])).toHaveLength(3);
    expect(await found('Patient', [number('N1', 'urn:a')])).toHaveLength(2);
    expect(await found('Patient', [number('N1', '')])).toHaveLength(1);
    expect(await found('Patient', [number(long, 'urn:a')])).toHaveLength(1);
    expect(await found('Patient', [number('n1')])).toEqual([]);
    expect(await found('Observation', [number('N1')])).toEqual([]);
  });

  test('finds several identifiers, page after page, each patient once', async () => {
    const any = (...each: readonly (readonly [string | null, string])[]): Criterion => ({
      kind: 'identifier',
      any: each.map(([system, value]) => ({ system, value })),
    });
    const long = 'y'.repeat(900);
    const ids = [
      await store(patient(['urn:a', 'M1'], ['urn:b', 'M1'], ['urn:a', 'M2'])),
      await store(patient(['', 'M1'])),
      await store(patient(['urn:b', 'M2'])),
      await store(patient(['urn:b', long])),
      await store(patient(['urn:a', '"M3"'])),
    ];
    await store(patient(['urn:a', 'M1']), other);
    const all = any([null, 'M1'], [null, 'M2'], [null, long], [null, 'M1'], ['urn:a', '"M3"'], [null, 'm1']);
    const idsOf = (rows: readonly PageRow[]) => rows.map(({ id }) => id);
    expect(idsOf(await found('Patient', [all]))).toEqual(ids.slice(0, 4));
    expect(idsOf(await found('Patient', [all], { after: { key: null, id: ids[2] ?? '' } }))).toEqual(ids.slice(3));
    expect(idsOf(await found('Patient', [any(['urn:b', 'M1'], ['', 'M1'])]))).toEqual(ids.slice(0, 2));
    expect(await found('Patient', [any(['urn:c', 'M1'], ['', 'M2'])])).toEqual([]);
  });

  test('finds a part of a name, page after page, with the letters of a pattern', async () => {
    const named = (family: string): JsonObject => ({ ...patient(), name: [{ family, given: ['Ann'] }] });
    const like = (...fragments: string[]): readonly Criterion[] => [{ kind: 'name', fragments }];
    for (const family of ['Kowalski', 'Nowak', '100%', 'Kowalska', 'K_wal', 'Kowal']) await store(named(family));
    await store(named('Kowal'), other);
    expect(await found('Patient', like('kowal'), { limit: 9 })).toHaveLength(3);
    expect(await found('Patient', like('0%'))).toHaveLength(1);
    expect(await found('Patient', like('k_wal'))).toHaveLength(1);
    expect(await found('Patient', like('kowalskx'))).toEqual([]);
    const [, second] = await found('Patient', like('kowal'), { limit: 2 });
    const after = { key: null, id: second?.id ?? '' };
    expect(await found('Patient', like('kowal'), { after })).toHaveLength(1);
  });

  test('finds the beginning of a family or given name, page after page', async () => {
    const family = (fragment: string): readonly Criterion[] => [
      { kind: 'name-part', part: 'family', match: 'beginning', any: [{ fragment, line: fragment }] },
    ];
    const named = (...names: JsonObject[]): JsonObject => ({ ...patient(), name: names });
    const given = ['Ottokar', 'Otto'];
    await store(named({ family: 'Ottensen', given }, { family: 'Ottendorf' }));
    await store(named({ family: 'von Ottensen' }));
    await store(named({ text: 'Ottensen' }, { family: 'Ott%_', given: ['Ottensen'] }));
    await store(named({ family: 'OTTENSEN' }));
    await store(named({ family: `Ottx${'y'.repeat(300)}` }));
    await store(named({ family: 'Ottensen' }), other);
    expect(await found('Patient', family('ott'), { limit: 9 })).toHaveLength(4);
    expect(await found('Patient', family('ottens'))).toHaveLength(2);
    expect(await found('Patient', family('ott%'))).toHaveLength(1);
    expect(await found('Patient', family('ott_'))).toEqual([]);
    expect(await found('Patient', family(`ottx${'y'.repeat(196)}`))).toHaveLength(1);
    const otto: Criterion = {
      kind: 'name-part',
      part: 'given',
      match: 'beginning',
      any: [{ fragment: 'otto', line: 'Otto' }],
    };
    expect(await found('Patient', [otto])).toHaveLength(1);
    for (const [fragment, count] of [
      ['ottend', 1],
      ['ott', 1],
      ['ott%', 0],
      ['kowal', 0],
    ] as const) {
      expect(await found('Patient', [...family(fragment), otto])).toHaveLength(count);
      expect(await found('Patient', [otto, ...family(fragment)])).toHaveLength(count);
    }
    const [, second] = await found('Patient', family('ott'), { limit: 2 });
    const after = { key: null, id: second?.id ?? '' };
    expect(await found('Patient', family('ott'), { after })).toHaveLength(2);
  });

  test('finds an identifier of several patients, one of them twice, or of no patient', async () => {
    const [one, two] = [await store(patient()), await store(patient())];
    const numbered = (about: string): JsonObject => ({ ...observation(about, 'A'), identifier: [{ value: 'N3' }] });
    const { subject: _, ...unnamed } = numbered(one);
    for (const content of [numbered(two), numbered(one), unnamed, numbered(two)]) await store(content);
    expect(await found('Observation', [number('N3')], { limit: 4 })).toHaveLength(4);
    expect(await newestAudit()).toMatchObject({ patients: [one, two].toSorted() });
    expect(await found('Observation', [number('N3')], { limit: 1 })).toHaveLength(2);
    expect(await newestAudit()).toMatchObject({ patients: [two] });
  });

  test('finds resources of a patient, with a code or without, page after page', async () => {
    const [about, another] = [await store(patient()), await store(patient())];
    for (let n = 0; n < 8; n += 1) await store(observation(about, n % 2 === 0 ? 'A' : 'B', n === 4 ? '' : undefined));
    await store(observation(another, 'A'));
    const of: Criterion = { kind: 'patient', ids: [about] };
    const coded = (value: string, system: string | null = null): Criterion => ({
      kind: 'token',
      param: 'code',
      any: [{ system, value }],
    });
    expect(await found('Observation', [of], { limit: 20 })).toHaveLength(8);
    expect(await found('Observation', [coded('A'), of], { limit: 20 })).toHaveLength(4);
    expect(await found('Observation', [of, coded('A', 'http://loinc.org')], { limit: 20 })).toHaveLength(3);
    expect(await found('Observation', [of, coded('A', '')], { limit: 20 })).toHaveLength(1);
    const first = await found('Observation', [of]);
    const { resources, more } = toPage(first, 3);
    expect([resources.length, more]).toEqual([3, true]);
    const after = { key: null, id: resources[2]?.id ?? '' };
    expect(await found('Observation', [of], { after })).toHaveLength(4);
  });

  test('finds a code of a patient with many resources', async () => {
    const [about, another] = [await store(patient()), await store(patient())];
    const { site } = access.caller;
    const some = Array.from({ length: 260 }, (_, n) => {
      const whose = n % 7 === 3 ? another : about;
      // The first hundred lack one code, only the last has another, and a third code has two systems in one resource.
      const code = n % 11 === 5 ? 'SEVENTH' : n === 259 ? 'LAST' : n > 130 && n % 13 === 0 ? 'LATE' : 'USUAL';
      const twice = { coding: ['urn:a', 'urn:b'].map((system) => ({ system, code })) };
      const content = n % 29 === 0 ? { ...observation(whose, code), code: twice } : observation(whose, code);
      return toWrite(content, newId(), 'create');
    });
    await inSite(gateway, site).run(writeResources(site, some));
    const of: Criterion = { kind: 'patient', ids: [about] };
    const coded = (value: string, system: string | null = null): Criterion => {
      return { kind: 'token', param: 'code', any: [{ system, value }] };
    };
    const counts = new Map<string, number>();
    for (const code of ['USUAL', 'SEVENTH', 'LATE', 'LAST', 'NONE']) {
      for (const system of [null, 'urn:b', 'http://loinc.org']) {
        const all = await found('Observation', [of, coded(code, system)], { limit: 300 });
        counts.set(`${code} ${system}`, all.length);
        for (let after: PageSelection['after'] = null, left = all.length; left > 0; left -= 7) {
          const page = await found('Observation', [of, coded(code, system)], { limit: 7, after });
          expect(page).toHaveLength(Math.min(left, 8));
          after = { key: null, id: page[6]?.id ?? '' };
        }
      }
    }
    const expected = some.filter(
      ({ patient: whose, tokens }) => whose === about && tokens.some(([, , code]) => code === 'LATE'),
    );
    expect(expected.length).toBeGreaterThan(5);
    expect(counts.get('LATE null')).toBe(expected.length);
    expect([counts.get('LAST null'), counts.get('NONE null')]).toEqual([1, 0]);
  });

  test('ends a page at the budget of bytes', async () => {
    const about = await store(patient());
    const text = { status: 'generated', div: `<div>${'x'.repeat(3 * 1024 * 1024)}</div>` };
    for (let n = 0; n < 4; n += 1) await store({ ...observation(about, 'BIG'), text });
    const rows = await found('Observation', [{ kind: 'patient', ids: [about] }], { limit: 10 });
    expect(rows.map(({ body }) => body !== null)).toEqual([true, true, false]);
  });

  test('is not a search in another order, with more conditions, or with patients', () => {
    const criteria = [number('N1')];
    const sort = { by: 'id', descending: false } as const;
    const plain = { site: access.caller.site, type: 'Patient', criteria, sort, after: null, limit: 3 } as const;
    const of: Criterion = { kind: 'patient', ids: [newId()] };
    const family = (match: 'beginning' | 'contains' | 'exact', ...names: readonly string[]): Criterion => ({
      kind: 'name-part',
      part: 'family',
      match,
      any: names.map((fragment) => ({ fragment, line: fragment })),
    });
    expect(keySearchOf(plain)).toBeDefined();
    expect(keySearchOf({ ...plain, criteria: [family('beginning', 'a'.repeat(200))] })).toBeDefined();
    for (const more of [
      { sort: { by: 'id', descending: true } as const },
      { sort: { by: 'birthdate', descending: false } as const },
      { included: ['Patient'] as const },
      { criteria: [] },
      { criteria: [number(null, 'urn:a')] },
      { criteria: [{ kind: 'name', fragments: ['ann', 'bob'] } as Criterion] },
      { criteria: [{ kind: 'name', fragments: ['ann'], exact: ['Ann'] } as Criterion] },
      { criteria: [{ kind: 'name', fragments: ['ann'] } as Criterion, number('N1')] },
      ...(['contains', 'exact'] as const).map((match) => ({ criteria: [family(match, 'ann')] })),
      { criteria: [family('beginning', 'ann', 'bob')] },
      // Longer than a name in the index.
      { criteria: [family('beginning', 'a'.repeat(201))] },
      { criteria: [family('beginning', 'ann'), number('N1')] },
      { criteria: [number('N1'), number('N2')] },
      { criteria: [{ kind: 'not', of: number('N1') } as Criterion] },
      {
        criteria: [
          {
            kind: 'identifier',
            any: [
              { system: null, value: 'a' },
              { system: 'urn:b', value: null },
            ],
          } as Criterion,
        ],
      },
      { type: 'DiagnosticReport' as const, criteria: [of] },
      { type: 'Observation' as const, criteria: [{ kind: 'patient', ids: [newId(), newId()] } as Criterion] },
      { type: 'Observation' as const, criteria: [{ kind: 'patient', ids: [] } as Criterion] },
    ])
      expect(keySearchOf({ ...plain, ...more })).toBeUndefined();
  });
});

const always: ShownIf = { versions: null, unmodifiedSince: null };

test('a read is equal in both, and is recorded only where the conditions hold', async () => {
  const { site } = access.caller;
  const about = await store(patient());
  for (const [type, id] of [
    ['Patient', about],
    ['Observation', await store(observation(about, 'A'))],
  ] as const) {
    for (const version of [null, 1]) {
      for (const shownIf of [
        always,
        { ...always, versions: [1, 3] },
        { ...always, versions: [2] },
        { ...always, unmodifiedSince: '2000-01-01T00:00:00Z' },
      ]) {
        const read = readResource(site, type, id, version, shownIf);
        const steps = await inBundle(read, access);
        const [count, left] = [await audits(), await newestAudit()];
        const rows = await alone(read);
        expect(rows).toMatchObject([{ id, body: expect.any(String) }]);
        expect(withoutClock(rows)).toEqual(withoutClock(steps));
        const isShown = shownIf === always || shownIf.versions?.includes(1) === true;
        expect(await audits()).toBe(count + Number(isShown));
        if (isShown) expect(await newestAudit()).toEqual(left);
        if (isShown) expect(left).toMatchObject({ types: [type], patients: [about] });
      }
    }
  }
  const count = await audits();
  expect(await alone(readResource(other.caller.site, 'Patient', about), other)).toEqual([]);
  expect(await alone(readResource(site, 'Patient', newId()))).toEqual([]);
  expect(await alone(readResource(site, 'Patient', about, 2))).toEqual([]);
  expect(await audits()).toBe(count);
});

test('a write is equal in both', async () => {
  const { site } = access.caller;
  const [id, later] = [newId(), newId()];
  const locks = { keys: ['Patient|W1'], patients: [] };
  const write = (as: string) => writeResources(site, [toWrite(patient(['urn:w', 'W1']), as, 'create')], locks, null);
  const steps = await inBundle(write(id), access);
  const left = await newestAudit();
  const rows = await alone(write(later));
  expect(rows).toEqual([{ ...steps[0], id: later, last_updated: expect.any(String), began_at: expect.any(Number) }]);
  expect(await newestAudit()).toEqual({ ...left, ids: [later], patients: [later] });
  const changed = toWrite(patient(['urn:w', 'W2']), later, 'update', [7]);
  const failing = alone(writeResources(site, [changed], { ...locks, patients: [later] }, null));
  await expect(failing).rejects.toMatchObject({ kind: 'precondition-failed' });
});

describe('the function rejects a caller', () => {
  const page = (site: string): Query =>
    searchPage({
      site,
      type: 'Patient',
      criteria: [{ kind: 'identifier', any: [{ system: null, value: 'N1' }] }],
      sort: { by: 'id', descending: false },
      after: null,
      limit: 1,
    });
  const each = (by: Access): Query[] => {
    const { site } = by.caller;
    const calls = [
      readResource(site, 'Patient', newId()),
      page(site),
      writeResources(site, [toWrite(patient(), newId(), 'create')]),
    ].filter(isFhirCall);
    expect(calls).toHaveLength(3);
    return calls.map((call) => call.asRequest(by));
  };
  const refused = async (by: Access, fault: object = { kind: 'unauthenticated' }): Promise<void> => {
    const count = await audits();
    for (const query of each(by)) await expect(gateway.run(query)).rejects.toMatchObject(fault);
    expect(await audits()).toBe(count);
  };

  test('with a disabled key, or of another site', async () => {
    const gone = await accessOf();
    await db.client.query(`update api_key set status = 'disabled' where client_id = $1`, [gone.caller.clientId]);
    await refused(gone);
    await refused({ ...access, caller: { ...access.caller, site: other.caller.site } });
  });

  test('with a key that lost the protocol, the audience, or a scope', async () => {
    const gone = await accessOf();
    const set = (text: string) =>
      db.client.query(`update api_key set ${text} where client_id = $1`, [gone.caller.clientId]);
    await set(`protocols = '{hl7}'`);
    await refused(gone);
    await set(`protocols = '{hl7,fhir}', allowed_audiences = '{svc-hl7-http}'`);
    await refused(gone);
    const rows = SCOPES.flatMap((scope, n) => (scope.endsWith('.read') ? [] : [n]));
    await set(
      `allowed_audiences = '{svc-fhir}', allowed_scopes = '{${SCOPES.filter((_, n) => !rows.includes(n)).join()}}'`,
    );
    await refused(gone, { kind: 'forbidden', code: 'insufficient_scope', rows });
    const scopes = new Set(['system/Patient.read']);
    const read = readResource(gone.caller.site, 'Patient', newId());
    expect(await alone(read, { ...gone, caller: { ...gone.caller, scopes } })).toEqual([]);
  });

  test('with a revoked token', async () => {
    const gone = await accessOf();
    await inSite(gateway, gone.caller.site).run(revokeToken(gone.caller, Math.floor(Date.now() / 1000) + 3600));
    await refused(gone);
  });
});

test('a write that waited beyond its deadline does not commit', async () => {
  const { site } = access.caller;
  const id = newId();
  const key = 'Patient|LATE';
  await db.client.query('begin');
  await db.client.query('select lock_keys($1, $2)', [site, [key]]);
  const writing = gateway.run(
    writeResources(site, [toWrite(patient(['urn:w', 'LATE']), id, 'create')], { keys: [key], patients: [] }).asRequest(
      access,
    ),
    { answerMs: 8_000, workMs: 1_000, lockMs: 5_000 },
  );
  const refused = expect(writing).rejects.toMatchObject({ kind: 'unavailable' });
  await until('it waits', async () => (await lockWaits(db.client)) > 0);
  await db.client.query('select pg_sleep(1.2)');
  await db.client.query('commit');
  await refused;
  const { rows } = await db.client.query('select from resource where id = $1', [id]);
  expect(rows).toEqual([]);
});

test('a single request is alone in its transaction', async () => {
  const read = readResource(access.caller.site, 'Patient', newId()).asRequest(access);
  await expect(gateway.batch([assertCaller(access.caller), read])).rejects.toThrow(TypeError);
});

test.each([3_600_000, -3_600_000])(
  'a clock that is %d ms off is corrected, and all requests are served',
  async (offMs) => {
    const edge = neonDatabase(
      { DATABASE_URL: db.url, DATABASE_FETCH_ENDPOINT: db.endpoint.url },
      { now: () => Date.now() + offMs },
    );
    const id = await store(patient());
    for (let time = 0; time < 2; time += 1) {
      expect(await edge.run(readResource(access.caller.site, 'Patient', id).asRequest(access))).toHaveLength(1);
    }
  },
);
