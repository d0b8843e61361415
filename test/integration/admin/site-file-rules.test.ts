/** Rules and code tables in the file of a site: what a plan shows, what an apply makes live, and drafts of colleagues. */
import { randomUUID } from 'node:crypto';

import { beforeEach, expect, test } from 'vitest';

import { editBody, editRows } from '../../../edge/admin/code-tables/import.ts';
import { findRows, findTables, release as releaseTable, requireTable } from '../../../edge/admin/code-tables/tables.ts';
import { createKey } from '../../../edge/admin/keys/keys.ts';
import { release, requireRules, saveDraft } from '../../../edge/admin/rules/rules.ts';
import { applyFile } from '../../../edge/admin/site-file/apply.ts';
import { exportSite } from '../../../edge/admin/site-file/export.ts';
import { API_LIMITS } from '../../../edge/admin/site-file/operations.ts';
import type { PlanOptions } from '../../../edge/admin/site-file/part.ts';
import { planFile } from '../../../edge/admin/site-file/plan.ts';
import { toActor } from '../../../edge/admin/staff/actor.ts';
import type { SenderRule } from '../../../edge/members/sender-rules.ts';
import { PERMISSIONS } from '../../../edge/permissions.ts';
import { audited, type AuditActor } from '../../../edge/store/audit.ts';
import { Fault, printPlace } from '../../../shared/fault.ts';
import { createSite } from '../../stack/services/seed.ts';
import { edgeDatabase, useTestDatabase } from '../../stack/tools/database.ts';
import { testDeps } from '../../stack/tools/test-deps.ts';

const db = await useTestDatabase();
const ADA: AuditActor = { kind: 'person', name: 'ada', clientId: null, address: '192.0.2.7', requestId: randomUUID() };
const SNOMED = 'http://snomed.info/sct';
const HEAD = 'system,code,application,facility,targetSystem,targetCode,display,equivalence';
const csv = (...lines: string[]): string => `${[HEAD, ...lines].join('\n')}\n`;
const GLU = `L,GLU,,,${SNOMED},36048009,Glucose,equivalent`;
const K = `L,K,,,${SNOMED},59573005,Potassium,equivalent`;
const TRIM: SenderRule = { verb: 'trim', path: 'PID-5.1' };
const SEX: SenderRule = { verb: 'map', path: 'PID-8', values: { W: 'F' }, name: 'Sex' };

let site = '';
let clientId = '';
function as(...without: string[]) {
  const deps = testDeps({
    database: audited(edgeDatabase(db), site, ADA),
    resolveHost: async () => ['93.184.216.34'],
    fetch: async () => new Response('', { status: 503 }),
  });
  const permissions = Object.keys(PERMISSIONS).filter((each) => !without.includes(each));
  const actor = toActor({ sub: 'ada', name: 'Ada', site, permissions });
  const withDefaults = (given: Partial<PlanOptions>) => ({ prune: false, copy: false, ...API_LIMITS, ...given });
  const plan = (file: object, given: Partial<PlanOptions> = {}) =>
    planFile(deps, actor, { format: 1, ...file }, withDefaults(given));
  const apply = async (file: object, fingerprint: string, given: Partial<PlanOptions> & { comment?: string } = {}) =>
    applyFile(deps, actor, ADA, { format: 1, ...file }, { ...withDefaults(given), fingerprint, isOperator: false });
  const now = async (file: object, given: Partial<PlanOptions> & { comment?: string } = {}) =>
    apply(file, (await plan(file, given)).fingerprint, given);
  const exported = async (given: Pick<PlanOptions, 'maxRows'> = API_LIMITS): Promise<Record<string, unknown>> =>
    JSON.parse(JSON.stringify(await exportSite(deps.database, actor, given)));
  return { deps, actor, plan, apply, now, exported };
}
beforeEach(async () => {
  await db.client.query('truncate site cascade');
  site = await createSite(db.client, { name: 'North' });
  const { deps, actor } = as();
  const made = await createKey(deps, actor, { name: 'Lab', jwksUri: 'https://lab.example/jwks', tokenTtlSeconds: 300 });
  clientId = made.key.client_id;
  await db.client.query('truncate audit');
});

const rules = (...of: unknown[]) => ({ apiKeys: [{ name: 'Lab', rules: of }] });
const tables = (rowsOf: string | null | undefined) => ({
  codeTables: [{ name: 'Laboratory', ...(rowsOf === undefined ? {} : { csv: rowsOf }) }],
});
const rulesNow = () => requireRules(as().deps.database, site, clientId);
async function tableNow(name = 'Laboratory') {
  const { deps } = as();
  const found = (await findTables(deps.database, site)).find((table) => table.name === name);
  return requireTable(deps.database, site, found?.table_id ?? '');
}
const codes = async (version?: number): Promise<string[]> => {
  const { table } = await tableNow();
  const query = { limit: 50, q: '', ...(version === undefined ? {} : { version }) };
  return (await findRows(as().deps.database, site, table, query)).items.map(
    ({ code, display }) => `${code} ${display}`,
  );
};
const actions = async (): Promise<string[]> => {
  const { rows } = await db.client.query<{ action: string }>('select action from audit order by at, action');
  return rows.map(({ action }) => action);
};
const places = async (refused: Promise<unknown>): Promise<string[]> => {
  const error: unknown = await refused.catch((reason: unknown) => reason);
  if (!(error instanceof Fault)) throw new Error('was accepted', { cause: error });
  return error.issues.map((issue) => `${printPlace(issue)}: ${issue.message}`);
};
const NO_CHANGES = 'No changes: the site is as the file says.\n';

test('a plan shows each rule and the first rows; an apply makes both live with a comment, and again changes nothing', async () => {
  const at = as();
  const file = { ...rules(TRIM, SEX), ...tables(csv(GLU, K)) };
  const plan = await at.plan(file);
  expect(plan.diff).toBe(`~ rules of API key "Lab" (${clientId})
    ~ rules:
        + Remove white space around PID-5.1.
        + Sex. In PID-8, replace “W” by “F”.
+ code table "Laboratory": new
    + liveRows: 2
    + rows: L GLU → ${SNOMED} 36048009 Glucose (equivalent), L K → ${SNOMED} 59573005 Potassium (equivalent)
1 to create, 1 to change, 0 to disable.
`);
  expect(await actions()).toEqual([]);
  await at.apply(file, plan.fingerprint);
  expect(await actions()).toEqual(['rules-live', 'code-table-live']);
  const comment = `site file, ${plan.fingerprint.slice(0, 17)}`;
  expect(await rulesNow()).toMatchObject({
    liveVersion: 1,
    live: [TRIM, SEX],
    isDraftChanged: false,
    releases: [{ comment, by: expect.stringContaining('Ada') }],
  });
  expect(await tableNow()).toMatchObject({ table: { live: 1, draft: 2, is_changed: false }, releases: [{ comment }] });
  expect((await at.plan(file)).diff).toBe(NO_CHANGES);
  await at.apply(file, 'plan_another');
  expect(await actions()).toHaveLength(2);

  // One row changes its text, one leaves, one is new.
  const changed = tables(csv(GLU.replace('Glucose', 'Glucose in serum'), `L,NA,,,,,,unmatched`));
  expect((await at.plan(changed)).diff).toBe(`~ code table "Laboratory"
    ~ liveRows: 2 → 2
    ~ rows:
        - L GLU → ${SNOMED} 36048009 Glucose (equivalent)
        - L K → ${SNOMED} 59573005 Potassium (equivalent)
        + L GLU → ${SNOMED} 36048009 Glucose in serum (equivalent)
        + L NA → unmatched
0 to create, 1 to change, 0 to disable.
`);
  await at.now({ ...rules(SEX, TRIM), ...changed }, { comment: 'why' });
  expect(await rulesNow()).toMatchObject({ liveVersion: 2, live: [SEX, TRIM], releases: [{ comment: 'why' }, {}] });
  expect(await codes(2)).toEqual(['GLU Glucose in serum', 'NA ']);
  expect(await codes(1), 'a version never changes').toEqual(['GLU Glucose', 'K Potassium']);
  const { rows } = await db.client.query('select code_tables, k.hl7_rules from site join api_key k using (site_id)');
  expect(rows).toMatchObject([{ code_tables: [{ version: 2, systems: ['L'] }], hl7_rules: { version: 2 } }]);
});

test('a file as a spreadsheet or an editor leaves it changes nothing', async () => {
  const at = as();
  await at.now({ ...rules(TRIM), ...tables(csv(GLU, K, `L,"a,b",LAB,EAST,${SNOMED},1,"x ""y""",wider`)) });
  for (const same of [
    // The rows in another order.
    csv(K, `L,"a,b",LAB,EAST,${SNOMED},1,"x ""y""",wider`, GLU),
    // With semicolons, CRLF, a byte order mark and an empty last line.
    `\ufeff${csv(GLU, K, `L,"a;b"`.replace(';', ',') + `,LAB,EAST,${SNOMED},1,"x ""y""",wider`)
      .replaceAll(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/g, ';')
      .replaceAll('\n', '\r\n')};;;;;;;\r\n`,
    // Standard names of one system, and white space around values.
    csv(` l , GLU ,,,${SNOMED} ,36048009, Glucose,`, K, `,"a,b",LAB,EAST,${SNOMED},1,"x ""y""",wider`),
  ])
    expect((await at.plan(tables(same))).diff, same).toBe(NO_CHANGES);
  // Another order of members, and of the values of a map.
  const two: SenderRule = { verb: 'map', path: 'PID-8', values: { W: 'F', X: 'O' } };
  await at.now(rules(two));
  const file = rules({ values: { X: 'O', W: 'F' }, path: 'PID-8', verb: 'map' });
  expect((await at.plan(file)).diff).toBe(NO_CHANGES);
});

test.each<[string, object, (string | RegExp)[]]>([
  ['a number that YAML reads', rules({ ...SEX, values: { W: 1 } }), [/^apiKeys\[0\]\.rules\[0\]\.values\.W: must be/]],
  ['a key field', rules(TRIM, { verb: 'clear', path: 'PID-3' }), [/^apiKeys\[0\]\.rules\[1\]\.path: /]],
  [
    'a rule instead of a list',
    { apiKeys: [{ name: 'Lab', rules: TRIM }] },
    ['apiKeys[0].rules: must be a list of rules'],
  ],
  ['rules of a key without a name', { apiKeys: [{ rules: [] }] }, ['apiKeys[0].name: is required']],
  ['a wrong row', tables(csv(GLU, `L,,,,${SNOMED},1,,`)), ['codeTables[0].csv, line 3: code is empty']],
  ['a row twice', tables(csv(GLU, GLU)), ['codeTables[0].csv, line 3: line 2 has the same code, sender and target']],
  ['no head', tables(''), ['codeTables[0].csv, line 1: the column code is missing']],
  ['a table twice', { codeTables: [{ name: 'A' }, { name: ' A ' }] }, ['codeTables[1].name: is in the file twice']],
  [
    'too many rows of a code',
    tables(csv(...Array.from({ length: 51 }, (_, n) => `L,A,,,${SNOMED},${n},,`))),
    ['codeTables[0].csv: has 51 rows of L A, of at most 50'],
  ],
  [
    'too many coding systems',
    tables(csv(...Array.from({ length: 101 }, (_, n) => `S${n},A,,,${SNOMED},1,,`))),
    ['codeTables[0].csv: has more than 100 coding systems: divide the table'],
  ],
  ['a file that the gateway cannot read', { codeTables: [{ name: 'A', csvFile: 'a.csv' }] }, [/csvFile: is unknown/]],
])('%s is a fault at its place, and nothing is written', async (_, file, expected) => {
  const found = await places(as().plan(file));
  expect(found).toEqual(
    expected.map((each) => (typeof each === 'string' ? expect.stringContaining(each) : expect.stringMatching(each))),
  );
  expect(await actions()).toEqual([]);
});

test('a draft that a colleague has changed stays, and one without changes follows the live version', async () => {
  const at = as();
  await at.now({ ...rules(TRIM), ...tables(csv(GLU)) });
  await saveDraft(at.deps.database, at.actor, clientId, { edits: (await rulesNow()).edits, rules: [SEX] });
  const { table } = await tableNow();
  const added = editBody.parse({ change: 'set', csv: csv(K) });
  await editRows({}, at.deps.database, at.actor, table.table_id, added);
  const file = { ...rules(TRIM, SEX), ...tables(csv(GLU.replace('Glucose', 'Sugar'))) };
  const plan = await at.plan(file);
  expect(plan.warnings).toEqual(['The draft of the code table "Laboratory" has other changes. It stays as it is.']);
  // A draft that is saved meanwhile does not concern the file.
  await saveDraft(at.deps.database, at.actor, clientId, { edits: (await rulesNow()).edits, rules: [SEX, SEX] });
  await at.apply(file, plan.fingerprint);
  expect(await rulesNow()).toMatchObject({
    liveVersion: 2,
    live: [TRIM, SEX],
    draft: [SEX, SEX],
    isDraftChanged: true,
  });
  expect(await codes(2)).toEqual(['GLU Sugar']);
  expect(await codes(), 'the draft').toEqual(['GLU Glucose', 'K Potassium']);
  const { table: after } = await tableNow();
  expect(after).toMatchObject({ live: 2, draft: 3, is_changed: true });
  // The colleague can release it.
  const { deps, actor } = at;
  const why = { comment: 'x', edits: after.edits };
  await releaseTable(deps.database, actor, after.table_id, { ...why, version: 3 });
  expect(await codes(3)).toEqual(['GLU Glucose', 'K Potassium']);
  await at.now(tables(csv(K)));
  expect((await tableNow()).table).toMatchObject({ live: 4, is_changed: false });
  const { edits } = await rulesNow();
  await expect(
    release(deps.database, actor, clientId, { version: 3, edits: edits - 1, comment: 'x' }),
  ).rejects.toMatchObject({ kind: 'precondition-failed' });
});

test('an apply does not overwrite a version that a colleague made live since the plan', async () => {
  const at = as();
  await at.now({ ...rules(TRIM), ...tables(csv(GLU)) });
  const file = { ...rules(SEX), ...tables(csv(K)) };
  const plan = await at.plan(file);
  const { table } = await tableNow();
  const off = { version: null, comment: 'x' };
  await releaseTable(at.deps.database, at.actor, table.table_id, { ...off, edits: table.edits });
  await expect(at.apply(file, plan.fingerprint)).rejects.toMatchObject({ kind: 'precondition-failed' });
  expect(await rulesNow(), 'all or nothing').toMatchObject({ liveVersion: 1 });
  const again = await at.plan(file);
  await release(at.deps.database, at.actor, clientId, { ...off, edits: (await rulesNow()).edits });
  await expect(at.apply(file, again.fingerprint)).rejects.toMatchObject({ kind: 'precondition-failed' });
  await at.now(file);
  expect(await rulesNow()).toMatchObject({ liveVersion: 2, live: [SEX] });
});

test('[] and null switch off; what is left out stays; prune switches off the tables that the file leaves out', async () => {
  const at = as();
  await at.now({ ...rules(TRIM), ...tables(csv(GLU)) });
  await at.now({ apiKeys: [{ name: 'Lab' }], codeTables: [{ name: 'Laboratory' }, { name: 'Planned' }] });
  expect([(await rulesNow()).liveVersion, (await tableNow()).table.live]).toEqual([1, 1]);
  expect((await tableNow('Planned')).table).toMatchObject({ live: null, rows: 0 });
  expect((await at.exported())['codeTables']).toEqual([
    { name: 'Laboratory', csv: csv(GLU) },
    { name: 'Planned', csv: null },
  ]);
  expect((await at.plan({ codeTables: [] })).unmentioned.codeTables).toEqual(['Laboratory', 'Planned']);
  expect((await at.plan({ codeTables: [] }, { prune: true })).diff).toContain(
    '- code table "Laboratory": switched off, because the file does not have it\n    ~ liveRows: 1 → nothing\n',
  );
  await at.now({ ...rules(), codeTables: [] }, { prune: true });
  expect([(await rulesNow()).liveVersion, (await tableNow()).table.live]).toEqual([null, null]);
  expect((await at.plan({ ...rules(), ...tables(null) })).items).toEqual([]);
  // The rows of the file are live again, as another version.
  await at.now({ ...rules(TRIM), ...tables(csv(GLU)) });
  expect([(await rulesNow()).liveVersion, (await tableNow()).table.live]).toEqual([2, 2]);
  // A live version without rows is not the same as none.
  await at.now(tables(csv()));
  expect((await at.exported())['codeTables']).toMatchObject([{ csv: csv() }, {}]);
});

test('reading needs site.rules.read and applying site.rules.write; a new key gets its rules; large tables are left out', async () => {
  const file = {
    apiKeys: [{ name: 'New', jwksUri: 'https://new.example/jwks', tokenTtlSeconds: 300, rules: [SEX] }],
    ...tables(csv(GLU, K)),
  };
  await expect(as('site.rules.read').plan(file)).rejects.toMatchObject({ kind: 'forbidden' });
  await expect(as('site.rules.write').now(file)).rejects.toMatchObject({
    kind: 'forbidden',
    message: expect.stringContaining('site.rules.write'),
  });
  const at = as();
  const { clientIds } = await at.now(file);
  const { live } = await requireRules(at.deps.database, site, clientIds[0]?.clientId ?? '');
  expect(live).toEqual([SEX]);
  const exported = await at.exported();
  expect(exported).toMatchObject({
    apiKeys: [
      { name: 'Lab', rules: [] },
      { name: 'New', rules: [SEX] },
    ],
  });
  expect(await as('site.rules.read').exported()).not.toHaveProperty('codeTables');
  expect(JSON.stringify(await as('site.rules.read').exported())).not.toContain('"rules"');
  expect((await at.exported({ ...API_LIMITS, maxRows: 1 }))['codeTables']).toEqual([{ name: 'Laboratory' }]);
  expect(await places(at.plan(file, { maxRows: 1 }))).toEqual([
    expect.stringMatching(/^codeTables: have 2 rows, of at most 1 at once/),
  ]);
});
