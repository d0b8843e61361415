/** A site as a file: exported, planned and applied, beside colleagues, CI retries and files of other sites. */
import { randomUUID } from 'node:crypto';

import fc from 'fast-check';
import { exportJWK, generateKeyPair } from 'jose';
import { beforeEach, expect, test } from 'vitest';
import * as z from 'zod';

import { changeKey, createKey } from '../../../edge/admin/keys/keys.ts';
import { saveSettings } from '../../../edge/admin/settings/save.ts';
import { applyFile } from '../../../edge/admin/site-file/apply.ts';
import { exportSite } from '../../../edge/admin/site-file/export.ts';
import { fileSchema } from '../../../edge/admin/site-file/file.ts';
import type { PlanOptions } from '../../../edge/admin/site-file/part.ts';
import { API_LIMITS } from '../../../edge/admin/site-file/operations.ts';
import { planFile } from '../../../edge/admin/site-file/plan.ts';
import { filterProblem, topicTypes } from '../../../edge/fhir/subscriptions/administer.ts';
import { toActor } from '../../../edge/admin/staff/actor.ts';
import { PERMISSIONS } from '../../../edge/permissions.ts';
import { printYaml, readYaml } from '../../../edge/platform/node/admin-site-file.ts';
import { connectDatabase } from '../../../edge/platform/node/database.ts';
import { audited, type AuditActor } from '../../../edge/store/audit.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { createSite } from '../../stack/services/seed.ts';
import { edgeDatabase, type TestDatabase, useTestDatabase } from '../../stack/tools/database.ts';
import { sized } from '../../stack/tools/size.ts';
import { testDeps } from '../../stack/tools/test-deps.ts';

const [here, there] = [await useTestDatabase(), await useTestDatabase()];
beforeEach(async () => {
  for (const { client } of [here, there]) await client.query('truncate site cascade');
});

const ADA: AuditActor = { kind: 'person', name: 'ada', clientId: null, address: '192.0.2.7', requestId: randomUUID() };
const ALL = Object.keys(PERMISSIONS);

type Members = Readonly<Record<string, unknown>>;
type File = Members & { readonly apiKeys?: readonly Members[]; readonly subscriptions?: readonly Members[] };

interface SiteOptions {
  /** With the owner's rights. */
  readonly isOperator?: boolean;
  readonly permissions?: readonly string[];
  /** Default: a new site. */
  readonly site?: string;
  /** The content of each JWKS URI. Default: their host is away. */
  readonly jwks?: object;
}

/** A site as an administrator with these permissions uses it. */
async function siteIn(db: TestDatabase, { isOperator = false, permissions = ALL, site = '', jwks }: SiteOptions = {}) {
  const id = site === '' ? await createSite(db.client, { name: 'North' }) : site;
  const owner = isOperator ? await connectDatabase(db.ownerUrl) : undefined;
  const database = owner ?? edgeDatabase(db);
  const deps = testDeps({
    database: audited(database, id, ADA),
    fetch: async () => (jwks === undefined ? new Response('', { status: 503 }) : Response.json(jwks)),
    resolveHost: async () => ['93.184.216.34'],
  });
  const actor = toActor({ sub: 'ada', name: 'Ada', site: id, permissions });
  // As edge/workbench.ts gives them.
  const { config } = testDeps({ env: { FHIR_SUBSCRIPTIONS: 'on' } });
  const notifications = {
    topicTypes: () => topicTypes(config),
    filterProblem: (type: ResourceType, filter: string) => filterProblem(config, Date.now(), type, filter),
  };
  const planning = { ...deps, subscribing: { isOn: true, notifications, now: Date.now } };
  const withDefaults = (options: Partial<PlanOptions>): PlanOptions => ({
    prune: false,
    copy: false,
    ...API_LIMITS,
    ...options,
  });
  const plan = (file: unknown, options: Partial<PlanOptions> = {}) =>
    planFile(planning, actor, file, withDefaults(options));
  const apply = (file: unknown, fingerprint: string, options: Partial<PlanOptions> = {}) =>
    applyFile(planning, actor, ADA, file, { ...withDefaults(options), fingerprint, isOperator });
  return {
    site: id,
    deps,
    actor,
    plan,
    apply,
    now: async (file: unknown, options: Partial<PlanOptions> = {}) =>
      apply(file, (await plan(file, options)).fingerprint, options),
    // As the caller of the API gets it.
    file: async () => JSON.parse(JSON.stringify(await exportSite(deps.database, actor, API_LIMITS))) as File,
    /** The rows that changes write. */
    rows: async () => {
      const { rows } = await db.client.query<{ rows: string }>(
        `select json_build_array((select count(*) from site_change where site_id = $1),
           (select count(*) from api_key_change where site_id = $1), (select count(*) from audit where site_id = $1),
           (select sum(version) from api_key where site_id = $1), (select sum(version) from subscription where site_id = $1),
           (select count(*) from rules_release where site_id = $1), (select count(*) from code_table_release where site_id = $1))::text as rows`,
        [id],
      );
      return rows[0]?.rows;
    },
    close: () => owner?.close(),
  };
}

const jwkOf = async (kid: string) => ({
  ...(await exportJWK((await generateKeyPair('ES256', { extractable: true })).publicKey)),
  kid,
  alg: 'ES256',
});
const POOL = await Promise.all(Array.from({ length: 8 }, (_, at) => jwkOf(`k${at}`)));
const key = (name: string, at: number, more: object = {}) => ({
  name,
  jwks: { keys: [POOL[at]] },
  tokenTtlSeconds: 300,
  ...more,
});
const issuesOf = async (refused: Promise<unknown>) => {
  const error: unknown = await refused.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ kind: 'invalid' });
  return (error as { issues: { at: string; message: string }[] }).issues;
};

const schema = z.fromJSONSchema(fileSchema());

const hook = (more: object = {}) => ({
  apiKey: 'Lab',
  type: 'Observation',
  filter: 'code=8867-4',
  endpoint: 'https://hooks.example/SECRET-PATH',
  reason: 'reports',
  ...more,
});
const receiving = { subscriptionHosts: ['hooks.example'], allowedScopes: ['system/Observation.read'] };

const text = fc
  .string({
    unit: fc.constantFrom('a', 'Z', '0', ' ', '.', ':', '#', '-', '"', "'", '&', '*', '!', '|', 'é', '名'),
    minLength: 1,
    maxLength: 12,
  })
  .filter((t) => t.trim() !== '');
const table = (label: string) =>
  fc
    .uniqueArray(fc.tuple(text, fc.webUrl()), { maxLength: 4, selector: ([name]) => name.trim().toLowerCase() })
    .map((rows) =>
      rows.map(([name, system]) => ({ [label]: name, system: encodeURI(system).replaceAll(/[^\w:/.-]/g, '') })),
    );
const quote = (value: string): string => `"${value.replaceAll('"', '""')}"`;
const anySite = fc.record({
  settings: fc.record({
    name: text,
    timeZone: fc.constantFrom(null, 'Europe/Berlin', 'America/New_York'),
    defaultCharset: fc.constantFrom(null, 'iso-8859-1'),
    processingIds: fc.constantFrom(['P'], ['T', 'P']),
    assigningAuthorities: table('namespace'),
    codeSystems: table('name'),
    alertErrorPercent: fc.constantFrom(null, 1, 100),
    identifyingTypes: fc.constantFrom([], ['NH', 'NI']),
    placeholders: fc.constantFrom([], ['NOMRN', '1234567']),
    placeholderBirthDates: fc.constantFrom([], ['1899-12-30']),
    usCore: fc.boolean(),
    legalHold: fc.boolean(),
    keepMessagesDays: fc.integer({ min: 30, max: 36_500 }),
  }),
  addresses: fc.constantFrom([], [{ range: '10.0.0.0/8', senderFacility: 'EAST' }]),
  // Several keys may have one name: the first application gives each its Client ID.
  apiKeys: fc.uniqueArray(
    fc.record({
      key: fc.record({
        name: fc.constantFrom('Lab', 'lab', 'Röntgen: a', 'yes', '123', 'null'),
        at: fc.nat(POOL.length - 1),
        isByUri: fc.boolean(),
        status: fc.constantFrom('active', 'disabled'),
        tokenTtlSeconds: fc.integer({ min: 60, max: 3600 }),
        allowedScopes: fc.constantFrom([], ['system/Patient.read', 'system/Observation.read']),
        protocols: fc.constantFrom(['fhir'], ['hl7', 'fhir'], ['hl7-mllp']),
        hl7SenderApplication: fc.constantFrom(null, 'LAB'),
        silentHours: fc.constantFrom(null, '22:00-06:00'),
        notes: fc.constantFrom(null, 'line 1\nline 2: # no comment'),
        rules: fc.constantFrom<object[][]>(
          [],
          [{ verb: 'map', path: 'PID-8', values: { U: 'no', '0': ' 1' }, name: 'Sex: #1' }],
          [
            { verb: 'trim', path: 'PID-5.1' },
            { verb: 'ignore', when: { types: ['ADT^A08'], all: [{ path: 'PV1-2', equals: 'yes' }] } },
          ],
        ),
      }),
      // Also equal ones, each of which has its id in a file.
      subscriptions: fc.array(
        fc.record({
          type: fc.constantFrom('Patient', 'Observation'),
          filter: fc.constantFrom('', '_id=a'),
          endpoint: fc.constantFrom('https://hooks.example/a', 'https://hooks.example/b?key=x'),
          payload: fc.constantFrom('id-only', 'full-resource'),
          reason: fc.constantFrom('for: reports', '#1'),
          heartbeatSeconds: fc.constantFrom(null, 60),
          maxCount: fc.constantFrom(1, 100),
          endsAt: fc.constantFrom(null, '2099-01-01T00:00:00+02:00'),
          status: fc.constantFrom('on', 'paused'),
        }),
        { maxLength: 3 },
      ),
    }),
    { selector: ({ key: { at } }) => at, maxLength: 6 },
  ),
  codeTables: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('Laboratory', 'Röntgen: a', 'no', '1'),
      csv: fc.option(
        fc
          .uniqueArray(fc.record({ code: text, display: text, targetCode: fc.constantFrom('1', '22') }), {
            selector: ({ code, targetCode }) => `${code.trim().replaceAll(/\s+/g, ' ')}\n${targetCode}`,
            maxLength: 5,
          })
          .map((rows) =>
            [
              'code,targetSystem,targetCode,display',
              ...rows.map((row) => `${quote(row.code)},urn:x,${row.targetCode},${quote(row.display)}`),
            ].join('\n'),
          ),
      ),
    }),
    { selector: ({ name }) => name, maxLength: 3 },
  ),
});

const sorted = (items: readonly Members[]): readonly Members[] =>
  items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
const withoutIds = ({ apiKeys = [], subscriptions = [], ...rest }: File): File => ({
  ...rest,
  site: '',
  apiKeys: sorted(apiKeys.map((each) => ({ ...each, clientId: '' }))),
  subscriptions: sorted(
    subscriptions.map((each) => {
      // A Client ID stands for the key, where several have one name.
      const key = apiKeys.find(({ clientId }) => clientId === each['apiKey']);
      return { ...each, subscriptionId: '', apiKey: key === undefined ? each['apiKey'] : { ...key, clientId: '' } };
    }),
  ),
});

test('an export that is applied to an empty site and exported again is equal except for ids', async () => {
  await fc.assert(
    fc.asyncProperty(anySite, async ({ settings, addresses, apiKeys, codeTables }) => {
      for (const { client } of [here, there]) await client.query('truncate site cascade');
      const [first, second] = [await siteIn(here, { isOperator: true }), await siteIn(there, { isOperator: true })];
      try {
        const keys = apiKeys.map(({ key: { at, isByUri, ...members } }) => ({
          ...members,
          subscriptionHosts: ['hooks.example'],
          // Finds the key of a subscription where several have one name.
          clientId: `svc-${at}`,
          ...(isByUri ? { jwksUri: `https://client-${at}.example/jwks` } : { jwks: { keys: [POOL[at]] } }),
          ...(members.protocols.some((protocol) => protocol === 'hl7-mllp') ? { allowedIps: ['10.1.2.3'] } : {}),
        }));
        const subscriptions = apiKeys.flatMap(({ key: { at }, subscriptions: of }) =>
          of.map((each) => ({ ...each, apiKey: `svc-${at}` })),
        );
        const made = await first.now(
          { format: 1, settings, addresses, apiKeys: keys, subscriptions, codeTables },
          { copy: true },
        );
        expect(made.created).toHaveLength(subscriptions.length);
        expect(made.clientIds).toHaveLength(keys.length);
        const file = await first.file();
        expect(file.apiKeys).toHaveLength(keys.length);
        expect(file.subscriptions).toHaveLength(subscriptions.length);
        expect(file['codeTables']).toHaveLength(codeTables.length);
        // A person edits it as YAML, in an editor that knows its schema.
        expect(readYaml(printYaml(file)).content).toEqual(file);
        expect(schema.safeParse(file).error).toBeUndefined();
        await second.now(file, { copy: true });
        const again = await second.file();
        expect(withoutIds(again)).toEqual(withoutIds(file));
        const rows = [await first.rows(), await second.rows()];
        for (const [of, its] of [
          [first, file],
          [second, again],
        ] as const) {
          const { items, fingerprint } = await of.plan(its, { prune: true });
          expect(items).toEqual([]);
          await of.apply(its, fingerprint, { prune: true });
        }
        expect([await first.rows(), await second.rows()]).toEqual(rows);
      } finally {
        await Promise.all([first.close(), second.close()]);
      }
    }),
    { numRuns: sized(5, 200) },
  );
});

test('the JSON Schema rejects what a plan rejects', () => {
  for (const wrong of [
    {},
    { format: 2 },
    { format: 1, colour: 'red' },
    { format: 1, settings: { colour: 'red' } },
    { format: 1, apiKeys: [{ name: 'A', version: 3 }] },
    { format: 1, apiKeys: [{ name: 'A', tokenTtlSeconds: 5 }] },
    { format: 1, addresses: [{}] },
    { format: 1, subscriptions: [{ apiKey: 'A', headers: ['Authorization: x'] }] },
    { format: 1, subscriptions: [{ apiKey: 'A', status: 'error' }] },
  ])
    expect([wrong, schema.safeParse(wrong).success]).toEqual([wrong, false]);
});

test('plans and applies each change with its row of the audit, and returns the Client IDs', async () => {
  const at = await siteIn(here);
  const old = await createKey(at.deps, at.actor, key('Old', 0));
  await createKey(at.deps, at.actor, key('Kept', 1));
  await here.client.query('truncate audit');
  const file = {
    format: 1,
    settings: { timeZone: 'Europe/Berlin', alertWebhook: 'https://hooks.example/services/SECRET-TOKEN' },
    apiKeys: [key('Lab', 2, { allowedScopes: ['system/Patient.read'] }), { name: 'Kept', tokenTtlSeconds: 600 }],
  };
  const plan = await at.plan(file, { prune: true });
  expect(plan.diff).toBe(`~ settings "North"
    ~ timeZone: nothing → "Europe/Berlin"
    ~ alertWebhook: nothing → "https://hooks.example/…"
+ API key "Lab": new
    + name: "Lab"
    + status: "active"
${plan.diff.split('\n').slice(6, -6).join('\n')}
~ API key "Kept" (${plan.items[2]?.clientId})
    ~ tokenTtlSeconds: 300 → 600
- API key "Old" (${old.key.client_id}): disabled, because the file does not have it
    ~ status: "active" → "disabled"
1 to create, 2 to change, 1 to disable.
`);
  expect(JSON.stringify([plan.items, plan.diff])).not.toContain('SECRET');
  expect(plan.diff).toContain('    + jwks: EC k2\n');
  const { clientIds } = await at.apply(file, plan.fingerprint, { prune: true });
  expect(clientIds).toMatchObject([{ name: 'Lab', clientId: expect.stringMatching(/^svc-/) }, { name: 'Kept' }]);
  const { rows } = await here.client.query<{ action: string; actor: string }>(
    'select action, actor, ids::text[] from audit order by at, action',
  );
  expect(rows.map(({ action }) => action).toSorted()).toEqual([
    'key-changed',
    'key-changed',
    'key-created',
    'settings-changed',
  ]);
  expect(new Set(rows.map(({ actor }) => actor))).toEqual(new Set(['ada']));
  const exported = await at.file();
  expect(JSON.stringify(exported)).not.toContain('SECRET');
  expect(exported.apiKeys?.map(({ name, status }) => [name, status])).toEqual([
    ['Kept', 'active'],
    ['Lab', 'active'],
    ['Old', 'disabled'],
  ]);
  // A CI job that runs again after its answer was lost: nothing to change, and the same Client IDs.
  const before = await at.rows();
  expect(await at.apply(file, plan.fingerprint, { prune: true })).toMatchObject({ items: [], clientIds });
  expect(await at.rows()).toBe(before);
});

test('leaves alone what the file does not have', async () => {
  const at = await siteIn(here);
  await at.now({
    format: 1,
    settings: { usCore: true, assigningAuthorities: [{ namespace: 'Hosp', system: 'urn:a:1' }] },
    apiKeys: [key('Lab', 0, { contact: 'Ada' })],
  });
  const plan = await at.plan({
    format: 1,
    settings: {
      assigningAuthorities: [
        { namespace: 'HOSP', system: 'urn:a:2' },
        { namespace: 'EAST', system: 'urn:a:3' },
      ],
    },
    apiKeys: [],
  });
  expect(plan.unmentioned.apiKeys).toMatchObject([{ name: 'Lab' }]);
  expect(plan.warnings).toMatchObject([expect.stringMatching(/URI of the assigning authority HOSP changes/)]);
  expect(plan.items).toMatchObject([{ kind: 'settings', members: [{ member: 'assigningAuthorities' }] }]);
  await at.apply(
    {
      format: 1,
      settings: {
        assigningAuthorities: [
          { namespace: 'HOSP', system: 'urn:a:2' },
          { namespace: 'EAST', system: 'urn:a:3' },
        ],
      },
      apiKeys: [],
    },
    plan.fingerprint,
  );
  expect(await at.file()).toMatchObject({
    settings: {
      usCore: true,
      assigningAuthorities: [
        { namespace: 'EAST', system: 'urn:a:3' },
        { namespace: 'Hosp', system: 'urn:a:2' },
      ],
    },
    apiKeys: [{ name: 'Lab', contact: 'Ada', status: 'active' }],
  });
  // `prune` of a file without API keys disables none.
  expect((await at.plan({ format: 1, settings: {} }, { prune: true })).items).toEqual([]);
});

test('rejects a plan after a colleague saved the form of a record that it changes, and only then', async () => {
  const at = await siteIn(here);
  const lab = await createKey(at.deps, at.actor, key('Lab', 0));
  const other = await createKey(at.deps, at.actor, key('Other', 1));
  const file = { format: 1, apiKeys: [{ name: 'Lab', tokenTtlSeconds: 900 }] };
  const { fingerprint } = await at.plan(file);
  await changeKey(at.deps, at.actor, other.key.client_id, [], { contact: 'Bob' });
  await saveSettings(at.deps, at.actor, [], { usCore: true });
  await changeKey(at.deps, at.actor, lab.key.client_id, [], { contact: 'Bob' });
  const rows = await at.rows();
  await expect(at.apply(file, fingerprint)).rejects.toMatchObject({ kind: 'precondition-failed' });
  expect(await at.rows()).toBe(rows);
  const again = await at.plan(file);
  await changeKey(at.deps, at.actor, other.key.client_id, [], { contact: 'Eve' });
  await at.apply(file, again.fingerprint);
  expect((await at.file()).apiKeys?.[0]).toMatchObject({ contact: 'Bob', tokenTtlSeconds: 900 });
});

test('rejects a change that a colleague makes between the check and the write, and writes nothing', async () => {
  const at = await siteIn(here);
  const lab = await createKey(at.deps, at.actor, key('Lab', 0));
  const file = { format: 1, settings: { usCore: true }, apiKeys: [{ name: 'Lab', tokenTtlSeconds: 900 }] };
  const { fingerprint } = await at.plan(file);
  const real = at.deps.database;
  let rows: string | undefined;
  const interrupted: typeof real = {
    run: (query, limits) => real.run(query, limits),
    async batch(queries, limits) {
      if (queries.some(({ text: statement }) => statement.includes('site_apply'))) {
        await changeKey(at.deps, at.actor, lab.key.client_id, [], { contact: 'Bob' });
        rows = await at.rows();
      }
      return real.batch(queries, limits);
    },
  };
  const options = { prune: false, copy: false, ...API_LIMITS, fingerprint, isOperator: false };
  await expect(applyFile({ ...at.deps, database: interrupted }, at.actor, ADA, file, options)).rejects.toMatchObject({
    kind: 'precondition-failed',
  });
  expect(rows).toBeDefined();
  expect(await at.rows()).toBe(rows);
  // Two CI jobs at once make one key.
  const twice = { format: 1, apiKeys: [{ name: 'New', jwksUri: 'https://client.example/jwks', tokenTtlSeconds: 300 }] };
  const planned = await at.plan(twice);
  const ended = await Promise.allSettled([at.apply(twice, planned.fingerprint), at.apply(twice, planned.fingerprint)]);
  expect(ended.some(({ status }) => status === 'fulfilled')).toBe(true);
  expect((await at.file()).apiKeys?.filter(({ name }) => name === 'New')).toHaveLength(1);
});

test('a plan has one fingerprint for every reader and for any content of a JWKS URI', async () => {
  const at = await siteIn(here, { jwks: { keys: [POOL[0]] } });
  const { site } = at;
  const file = {
    format: 1,
    apiKeys: [{ name: 'By URI', jwksUri: 'https://client.example/jwks', tokenTtlSeconds: 300 }],
  };
  const { fingerprint } = await at.plan(file);
  // A CI job that may only read does not load the URI.
  const reader = await siteIn(here, { site, permissions: ['site.settings.read', 'site.api_keys.read'] });
  expect(await reader.plan(file)).toMatchObject({ fingerprint, warnings: [] });
  // The host is away, or has another key, when the plan is applied.
  expect(await (await siteIn(here, { site })).plan(file)).toMatchObject({ fingerprint });
  const rotated = await siteIn(here, { site, jwks: { keys: [POOL[1]] } });
  expect(await rotated.apply(file, fingerprint)).toMatchObject({ items: [{ name: 'By URI' }] });
  // The rules hold when the file is applied: that key is another client's meanwhile.
  await createKey(at.deps, at.actor, key('Owner', 2));
  const foreign = await siteIn(here, { site, jwks: { keys: [POOL[2]] } });
  const second = { format: 1, apiKeys: [...file.apiKeys, { ...file.apiKeys[0], name: 'Second' }] };
  const planned = await reader.plan(second);
  const [issue] = await issuesOf(foreign.apply(second, planned.fingerprint));
  expect(issue).toMatchObject({ at: 'apiKeys[1].jwksUri', message: expect.stringContaining('already belongs') });
});

test('finds keys of one name by their Client ID, and a renamed key only by it', async () => {
  const at = await siteIn(here);
  const [one, two] = [
    await createKey(at.deps, at.actor, key('Lab', 0)),
    await createKey(at.deps, at.actor, key('Lab', 1)),
  ];
  expect(await issuesOf(at.plan({ format: 1, apiKeys: [{ name: 'Lab', contact: 'Ada' }] }))).toMatchObject([
    { at: 'apiKeys[0].name', message: expect.stringContaining('several API keys have the name "Lab"') },
  ]);
  expect(await issuesOf(at.plan({ format: 1, apiKeys: [key('Two', 2), key('Two', 3)] }))).toHaveLength(2);
  const file = await at.file();
  expect(file.apiKeys?.map(({ clientId }) => clientId)).toEqual([one.key.client_id, two.key.client_id]);
  const renamed = { format: 1, apiKeys: [{ clientId: one.key.client_id, name: 'Laboratory' }] };
  expect((await at.plan(renamed)).items).toMatchObject([{ members: [{ member: 'name', after: 'Laboratory' }] }]);
  await at.now(renamed);
  // Without a Client ID a new name would be a second key, and the first would go on.
  const [issue] = await issuesOf(at.plan({ format: 1, apiKeys: [key('Renamed', 0)] }));
  expect(issue).toMatchObject({ at: 'apiKeys[0].name' });
  expect(issue?.message).toContain(`add clientId: ${one.key.client_id}`);
  const uri = { jwksUri: 'https://client.example/jwks', tokenTtlSeconds: 300 };
  await at.now({ format: 1, apiKeys: [{ name: 'By URI', ...uri }] });
  expect(await issuesOf(at.plan({ format: 1, apiKeys: [{ name: 'By address', ...uri }] }))).toHaveLength(1);
  const both = { format: 1, apiKeys: [{ name: 'By URI' }, { name: 'By address', ...uri }] };
  expect((await at.plan(both)).items).toMatchObject([{ action: 'create', name: 'By address' }]);
});

test('rejects a file of another site or deployment unless it is to be copied', async () => {
  const at = await siteIn(here);
  await expect(at.plan({ format: 1, site: randomUUID() })).rejects.toMatchObject({ kind: 'conflict' });
  const foreign = { format: 1, site: at.site, apiKeys: [{ clientId: `svc-${randomUUID()}`, ...key('Lab', 0) }] };
  expect(await issuesOf(at.plan(foreign))).toMatchObject([{ at: 'apiKeys[0].clientId' }]);
  const { items } = await at.plan({ ...foreign, site: randomUUID() }, { copy: true });
  expect(items).toMatchObject([{ action: 'create', name: 'Lab', clientId: null }]);
});

test('accepts a file that is older than the members of today, and rejects unknown ones at their place', async () => {
  const at = await siteIn(here);
  await at.now({ format: 1, apiKeys: [key('Lab', 0)] });
  expect((await at.file()).apiKeys?.[0]).toMatchObject({ hl7IdentityCheck: 'refuse-results', protocols: ['fhir'] });
  expect(await issuesOf(at.plan({ format: 2 }))).toMatchObject([{ at: 'format' }]);
  const wrong = {
    format: 1,
    settings: { colour: 'red', keepAuditDays: 1, alertWebhook: 'https://10.0.0.1/x' },
    addresses: [{ range: '10.0.0.0/33' }],
    apiKeys: [
      key('A', 1, { version: 3, allowedScopes: ['x'] }),
      key('B', 1),
      { name: 'C', jwksUri: 'http://c.example' },
    ],
  };
  const places = (await issuesOf(at.plan(wrong))).map(({ at: place }) => place);
  expect(places.toSorted()).toEqual([
    'addresses[0].range',
    'apiKeys[0].allowedScopes',
    'apiKeys[0].version',
    'apiKeys[1].jwks',
    'apiKeys[2].jwksUri',
    'apiKeys[2].tokenTtlSeconds',
    'settings.alertWebhook',
    'settings.colour',
    'settings.keepAuditDays',
  ]);
});

test('warns when a file takes away a public key that was rotated in the console, and rejects an older plan', async () => {
  const at = await siteIn(here);
  const lab = await createKey(at.deps, at.actor, key('Lab', 0));
  const file = { format: 1, apiKeys: [{ ...key('Lab', 0), contact: 'Ada' }] };
  const before = await at.plan(file);
  expect(before.warnings).toEqual([]);
  await changeKey(at.deps, at.actor, lab.key.client_id, [], { jwks: { keys: [POOL[5]] } });
  await expect(at.apply(file, before.fingerprint)).rejects.toMatchObject({ kind: 'precondition-failed' });
  const after = await at.plan(file);
  expect(after.warnings).toMatchObject([expect.stringContaining('"Lab" loses a public key')]);
  expect(after.diff).toContain('    ~ jwks:\n        - EC k5\n        + EC k0\n');
});

test('checks the permission of each change, and that of the operator for addresses', async () => {
  const { site, ...at } = await siteIn(here);
  await createKey(at.deps, at.actor, key('Lab', 0));
  const as = (...permissions: string[]) =>
    siteIn(here, { site, permissions: ['site.settings.read', 'site.api_keys.read', ...permissions] });
  const file = {
    format: 1,
    settings: { usCore: true },
    apiKeys: [{ name: 'Lab', contact: 'Ada' }, key('New', 1)],
  };
  const rows = await at.rows();
  const rights = ['site.settings.update', 'site.api_keys.update', 'site.api_keys.create'];
  for (const missing of rights) {
    const by = await as(...rights.filter((right) => right !== missing));
    await expect(by.now(file)).rejects.toMatchObject({ kind: 'forbidden', message: expect.stringContaining(missing) });
  }
  const pruning = await as('site.api_keys.update');
  await expect(pruning.now({ format: 1, apiKeys: [] }, { prune: true })).rejects.toMatchObject({
    message: expect.stringContaining('site.api_keys.disable'),
  });
  const address = { format: 1, addresses: [{ range: '10.0.0.1' }] };
  await expect(at.now(address)).rejects.toMatchObject({ kind: 'forbidden' });
  expect(await at.rows()).toBe(rows);
  await expect((await siteIn(here, { site, permissions: ['site.settings.read'] })).file()).rejects.toMatchObject({
    kind: 'forbidden',
  });
});

test('plans and applies the subscriptions of new and stored API keys, without their secrets', async () => {
  const at = await siteIn(here);
  const file = { format: 1, apiKeys: [key('Lab', 0, receiving)], subscriptions: [hook()] };
  const plan = await at.plan(file);
  expect(plan.diff).toContain('+ subscription "Lab: Observation?code=8867-4 to https://hooks.example/…": new\n');
  expect(JSON.stringify([plan.items, plan.diff])).not.toContain('SECRET');
  // Each plan makes other ids; the fingerprint is the same.
  expect((await at.plan(file)).fingerprint).toBe(plan.fingerprint);
  const { created } = await at.apply(file, plan.fingerprint);
  expect(created).toMatchObject([{ apiKey: 'Lab', type: 'Observation', subscriptionId: expect.any(String) }]);
  const rows = await at.rows();
  expect(await at.apply(file, plan.fingerprint)).toMatchObject({ items: [], created: [] });
  expect(await at.rows()).toBe(rows);
  const exported = await at.file();
  expect(exported.subscriptions).toEqual([
    hook({ payload: 'id-only', heartbeatSeconds: null, maxCount: 100, endsAt: null, status: 'on' }),
  ]);

  // Only the given members change, and only a pause keeps the delivery as it is.
  const now = async (more: object) => (await at.now({ format: 1, subscriptions: [hook(more)] })).items;
  expect(await now({ payload: 'full-resource' })).toMatchObject([{ members: [{ member: 'payload' }] }]);
  expect(await now({})).toEqual([]);
  expect(await now({ status: 'paused' })).toMatchObject([{ members: [{ before: 'on', after: 'paused' }] }]);
  expect((await at.file()).subscriptions).toMatchObject([{ payload: 'full-resource', status: 'paused' }]);
  expect(await now({ status: 'on' })).toHaveLength(1);
  const { rows: actions } = await here.client.query<{ action: string }>(
    `select action from audit where site_id = $1 and action <> 'key-created' and action <> 'site-created' order by at`,
    [at.site],
  );
  expect(actions.map(({ action }) => action)).toEqual([
    'create',
    'update',
    'subscription-paused',
    'subscription-resumed',
  ]);
  // The state of delivery is not drift.
  await here.client.query(`update subscription set status = 'error'`);
  expect(await now({})).toEqual([]);

  const pruned = await at.plan({ format: 1, subscriptions: [] }, { prune: true });
  expect(pruned.diff).toMatch(/^- subscription "Lab: Observation.*: paused, because the file does not have it\n/);
  expect((await at.plan({ format: 1, subscriptions: [] })).unmentioned.subscriptions).toHaveLength(1);
  expect((await at.plan({ format: 1, apiKeys: [] }, { prune: false })).unmentioned.subscriptions).toEqual([]);
  await at.now({ format: 1, subscriptions: [] }, { prune: true });
  expect((await at.file()).subscriptions).toMatchObject([{ status: 'paused' }]);
});

test('a new address of a subscription needs its id, so that the old receiver does not go on', async () => {
  const at = await siteIn(here);
  await at.now({ format: 1, apiKeys: [key('Lab', 0, receiving), key('Other', 1)], subscriptions: [hook()] });
  const moved = hook({ endpoint: 'https://hooks.example/new' });
  const [issue] = await issuesOf(at.plan({ format: 1, subscriptions: [moved] }));
  expect(issue).toMatchObject({ at: 'subscriptions[0].endpoint' });
  const [, id = ''] = /subscriptionId: (\S+)\. /.exec(issue?.message ?? '') ?? [];
  expect((await at.plan({ format: 1, subscriptions: [hook(), moved] })).items).toMatchObject([{ action: 'create' }]);
  const byId = { format: 1, subscriptions: [{ ...moved, subscriptionId: id }] };
  // Headers are secrets of one host: they stay, and never go to another.
  await here.client.query(`update subscription set headers = 'sealed'`);
  await here.client.query(`update api_key set subscription_hosts = '{hooks.example,other.example}' where name = 'Lab'`);
  const elsewhere = { ...moved, subscriptionId: id, endpoint: 'https://other.example/x' };
  expect((await at.plan(byId)).warnings).toEqual([]);
  expect((await at.plan({ format: 1, subscriptions: [elsewhere] })).warnings).toMatchObject([
    expect.stringMatching(/headers for its receiver are deleted/),
  ]);
  expect(await at.now(byId)).toMatchObject({ items: [{ action: 'update', members: [{ member: 'endpoint' }] }] });
  const { rows: kept } = await here.client.query<{ headers: string | null }>('select headers from subscription');
  expect(kept).toContainEqual({ headers: 'sealed' });
  expect(JSON.stringify(await at.file())).not.toContain('sealed');
  const places = async (...entries: object[]) =>
    (await issuesOf(at.plan({ format: 1, subscriptions: entries }))).map(({ at: place }) => place);
  expect(await places({ subscriptionId: id, apiKey: 'Other' })).toEqual(['subscriptions[0].apiKey']);
  expect(await places({ subscriptionId: id, filter: '' })).toEqual(['subscriptions[0].filter']);
  expect(await places({ subscriptionId: randomUUID() })).toEqual(['subscriptions[0].subscriptionId']);
  expect(await places(moved, moved)).toEqual(['subscriptions[1].subscriptionId']);
  expect(
    await places(
      hook({ apiKey: 'Nobody' }),
      hook({ colour: 'red', endpoint: 'https://hooks.example/x' }),
      hook({ apiKey: 'Other' }),
      hook({ type: 'Patient', filter: 'nonsense=1', endpoint: 'https://10.0.0.1/x' }),
      { apiKey: 'Lab' },
    ),
  ).toEqual(
    expect.arrayContaining([
      'subscriptions[0].apiKey',
      'subscriptions[1].colour',
      'subscriptions[2].endpoint',
      'subscriptions[3].filter',
      'subscriptions[3].endpoint',
      'subscriptions[4].type',
      'subscriptions[4].endpoint',
    ]),
  );
});

test('rejects a subscription that was changed or made since the plan, also twice at once', async () => {
  const at = await siteIn(here);
  await at.now({ format: 1, apiKeys: [key('Lab', 0, receiving)], subscriptions: [hook()] });
  const changed = { format: 1, subscriptions: [hook({ maxCount: 5 })] };
  const { fingerprint } = await at.plan(changed);
  await here.client.query('update subscription set version = version + 1');
  await expect(at.apply(changed, fingerprint)).rejects.toMatchObject({ kind: 'precondition-failed' });
  const more = { format: 1, subscriptions: [hook(), hook({ filter: '' })] };
  const planned = await at.plan(more);
  const ended = await Promise.allSettled([at.apply(more, planned.fingerprint), at.apply(more, planned.fingerprint)]);
  expect(ended.some(({ status }) => status === 'fulfilled')).toBe(true);
  expect((await at.file()).subscriptions).toHaveLength(2);
  expect((await at.file()).subscriptions).toMatchObject([{ filter: '' }, { filter: 'code=8867-4', maxCount: 100 }]);
});

test('shows no address of a receiver and no filter with a patient without the permissions to see them', async () => {
  const at = await siteIn(here);
  const named = hook({
    filter: 'patient=Patient/0192f0c1-0000-7000-8000-000000000001',
    endpoint: 'https://hooks.example/n',
  });
  await at.now({ format: 1, apiKeys: [key('Lab', 0, receiving)], subscriptions: [hook()] });
  const as = (...permissions: string[]) =>
    siteIn(here, { site: at.site, permissions: ['site.settings.read', 'site.api_keys.read', ...permissions] });
  // A CI job that plans needs neither permission.
  const reader = await as();
  expect((await reader.plan({ format: 1, subscriptions: [hook()] })).items).toEqual([]);
  expect((await reader.file()).subscriptions).toBeUndefined();
  expect((await (await as('site.api_keys.update')).file()).subscriptions).toHaveLength(1);
  await at.now({ format: 1, subscriptions: [named] });
  expect((await (await as('site.api_keys.update')).file()).subscriptions).toBeUndefined();
  expect((await (await as('site.api_keys.update', 'site.messages.read')).file()).subscriptions).toHaveLength(2);
  const { unmentioned } = await reader.plan({ format: 1, subscriptions: [hook()] });
  expect(unmentioned.subscriptions).toEqual(['Lab: Observation?patient=… to https://hooks.example/…']);
  await expect(reader.plan({ format: 1, subscriptions: [{ ...named, maxCount: 3 }] })).rejects.toMatchObject({
    kind: 'forbidden',
  });
  const updating = await as('site.api_keys.create');
  await expect(updating.now({ format: 1, subscriptions: [hook({ maxCount: 3 })] })).rejects.toMatchObject({
    message: expect.stringContaining('site.api_keys.update'),
  });
});

test('plans and applies 1,000 API keys in as many round trips as one', async () => {
  const at = await siteIn(here);
  const COUNT = sized(300, 1000);
  const keys = Array.from({ length: COUNT }, (_, n) => ({
    name: `Sender ${n}`,
    jwksUri: `https://client.example/jwks`,
    tokenTtlSeconds: 300,
  }));
  let trips = 0;
  const counted: typeof at.deps.database = {
    run: (query, limits) => at.deps.database.run(query, limits),
    batch(queries, limits) {
      trips += 1;
      return at.deps.database.batch(queries, limits);
    },
  };
  const deps = { ...at.deps, database: counted };
  const options = { prune: false, copy: false, ...API_LIMITS, maxFetches: 1 };
  const { fingerprint } = await planFile(deps, at.actor, { format: 1, apiKeys: keys }, options);
  const started = process.cpuUsage();
  await applyFile(deps, at.actor, ADA, { format: 1, apiKeys: keys }, { ...options, fingerprint, isOperator: false });
  expect(process.cpuUsage(started).user / 1e6).toBeLessThan(10);
  expect(trips).toBeLessThanOrEqual(5);
  expect((await at.file()).apiKeys).toHaveLength(COUNT);
  // A file may be larger than one apply: a plan of each part works.
  const more = { format: 1, apiKeys: [key('One', 0), key('Two', 1)] };
  await expect(at.plan(more, { maxChanges: 1 })).rejects.toMatchObject({
    kind: 'invalid',
    message: expect.stringContaining('makes 2 changes, of at most 1 at once'),
  });
  expect((await at.plan({ ...more, apiKeys: more.apiKeys.slice(1) }, { maxChanges: 1 })).items).toHaveLength(1);
});
