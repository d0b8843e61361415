/** Code tables over `/admin/api`: imports with their faults by line, exports, versions, permissions and the audit. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { signIn } from '../stack/tools/console.ts';
import { useConsole } from '../stack/tools/console-site.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

interface Table {
  readonly tableId: string;
  readonly name: string;
  readonly liveVersion: number | null;
  readonly draftVersion: number;
  readonly isDraftChanged: boolean;
  readonly draftRows: number;
  readonly edits: number;
  readonly releases: readonly { readonly version: number | null; readonly by: string; readonly comment: string }[];
}

const [READ, WRITE] = [['site.rules.read'], ['site.rules.read', 'site.rules.write']];
const SNOMED = 'http://snomed.info/sct';
/** A row for any sender. */
const ANY = { application: '', facility: '' };
const HEAD = 'system,code,application,facility,targetSystem,targetCode,display,equivalence';

describe.each(ONE_RUNTIME)('code tables on %s', (runtime) => {
  const at = useConsole(runtime, { site: { name: 'North' }, otherSite: { name: 'South' } });

  const call = async (path: string, body?: object, permissions: readonly string[] = WRITE, site = at.site) => {
    const token = await at.oidc.signToken({ site, permissions });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${at.baseUrl}/admin/api/code-tables${path}`, { headers, ...init });
    return { status: answer.status, body: (await answer.json()) as Table & Record<string, unknown> };
  };
  const create = async (name: string): Promise<string> => (await call('', { name })).body.tableId;
  const read = async (id: string): Promise<Table> => (await call(`/${id}`)).body;
  const rows = async (id: string, query = ''): Promise<string[]> => {
    const { items } = (await call(`/${id}/rows${query}`)).body as { items?: Record<string, string>[] };
    return (items ?? []).map(({ system, code, targetCode }) => `${system} ${code} ${targetCode}`).toSorted();
  };
  /** `line 3 code is empty` of each fault of a CSV, `rows[2].code code is empty` of others. */
  const faults = ({ status, body }: Awaited<ReturnType<typeof call>>): string[] => {
    expect(status).toBe(422);
    const { errors = [] } = body as { errors?: { detail: string; pointer?: string; line?: number }[] };
    return errors.map(({ detail, pointer, line }) => `${pointer ?? `line ${line}`} ${detail}`);
  };

  test('CSV may have semicolons and quotes, and is listed in the order of its codes', async () => {
    const id = await create('CSV');
    const csv =
      '\ufeffcode;system;targetSystem;targetCode;display;equivalence\r\n' +
      `" GLU ";loinc;${SNOMED};1;"Glucose; ""fasting""\nor not";\r\n` +
      `;;;;;\r\nUNK;hl7-0078;;;;unmatched\n`;
    // A line end in a text is a control character.
    expect(faults(await call(`/${id}/import`, { csv }))).toEqual(['line 2 display has a control character']);
    // Excel for the Macintosh ends lines with CR.
    const ofMacintosh = csv.replaceAll(/\r?\n/g, '\r');
    const faulty = `${ofMacintosh}X;L;no-uri;1;;\r`;
    expect(faults(await call(`/${id}/import`, { csv: faulty })).map((fault) => fault.slice(0, 20))).toEqual([
      'line 2 display has a',
      'line 6 targetSystem ',
    ]);
    expect((await call(`/${id}/import`, { csv: ofMacintosh.replace('\ror', ' or') })).status).toBe(200);
    expect(await call(`/${id}/import`, { csv: csv.replace('\nor', ' or') })).toMatchObject({
      status: 200,
      body: { isComplete: true },
    });
    const { body } = await call(`/${id}/rows`);
    expect(body['items']).toEqual([
      {
        ...ANY,
        system: 'HL70078',
        code: 'UNK',
        targetSystem: '',
        targetCode: '',
        display: '',
        equivalence: 'unmatched',
      },
      {
        ...ANY,
        system: 'LN',
        code: 'GLU',
        targetSystem: SNOMED,
        targetCode: '1',
        display: 'Glucose; "fasting" or not',
        equivalence: 'equivalent',
      },
    ]);
  });

  test.each([
    ['an unknown column', 'code,target\nA,1', [/^line 1 the column target is unknown: name system, code/]],
    ['a missing column', 'code,targetCode\nA,1', ['line 1 the column targetSystem is missing']],
    ['a missing cell', `${HEAD}\nL,A,,,${SNOMED},1,x`, ['line 2 must have 8 columns, and has 7']],
    ['an open quote', `${HEAD}\nL,"A,,,${SNOMED},1,x,`, ['line 2 a quote is not closed']],
    ['a text behind a quote', `${HEAD}\nL,"A"B,,,${SNOMED},1,x,`, ['line 2 a text follows a closed quote']],
    [
      'every wrong value',
      `${HEAD}\nL,,,,${SNOMED},1,,\nL,B,,,snomed,1 ,,\nL,C,,,${SNOMED},,,\nL,D,,,${SNOMED},4,,same\nL,E,,,${SNOMED},5,,unmatched`,
      [
        'line 2 code is empty',
        'line 3 targetSystem must be a URI, such as http://snomed.info/sct',
        'line 4 targetCode must be a code without white space around it',
        /^line 5 equivalence must be one of equivalent, /,
        'line 6 targetCode must be empty, because unmatched has no target',
      ],
    ],
    [
      'the same row twice, by two names of one system',
      `${HEAD}\nLN,A,,,${SNOMED},1,,\nL,A,,,${SNOMED},1,,\nLOINC, A,,,${SNOMED},1,other,equal`,
      ['line 4 line 2 has the same code, sender and target'],
    ],
  ])('%s is a fault at its line, and nothing is stored', async (name, csv, expected) => {
    const id = await create(name.slice(0, 40));
    await call(`/${id}/import`, { csv: `${HEAD}\nL,KEPT,,,${SNOMED},1,,` });
    const found = faults(await call(`/${id}/import`, { csv }));
    expect(found).toEqual(expected.map((each) => (typeof each === 'string' ? each : expect.stringMatching(each))));
    expect(await rows(id)).toEqual(['L KEPT 1']);
    expect(await read(id)).toMatchObject({ draftRows: 1, edits: 1 });
  });

  test('parts become the draft together; a fault, a missing part and another import leave the draft as it was', async () => {
    const id = await create('Parts');
    const part = (importId: string, n: number, codes: readonly string[], parts = 2) =>
      call(`/${id}/import`, {
        importId,
        part: n,
        parts,
        firstLine: (n - 1) * 10 + 1,
        csv: [HEAD, ...codes.map((code) => `L,${code},,,${SNOMED},1,,`)].join('\n'),
      });
    const [first, second] = [randomUUID(), randomUUID()];
    expect((await part(first, 1, ['A', 'B'])).body['isComplete']).toBe(false);
    const browser = await signIn(at);
    const page = async () => (await browser.go(`${at.baseUrl}/admin/code-tables/${id}`)).text();
    expect(await page()).toMatch(/data-refresh="2"[^]*An import stores its rows: 2 rows, part 1 of 2/);
    expect(await rows(id)).toEqual([]);
    expect(faults(await part(first, 2, ['C', 'B']))).toEqual([
      'line 13 an earlier part has the same code, sender and target',
    ]);
    expect((await part(first, 2, ['C'])).status, 'the fault has ended the import').toBe(409);
    await part(first, 1, ['A', 'B']);
    await part(second, 1, ['X']);
    expect((await part(first, 2, ['C'])).status, 'another import has begun').toBe(409);
    expect((await part(second, 1, ['X'])).status, 'the answer was lost').toBe(200);
    expect((await part(second, 2, ['Y'])).body['isComplete']).toBe(true);
    expect(await rows(id)).toEqual(['L X 1', 'L Y 1']);
    expect(await page(), 'the import is complete').not.toContain('data-refresh');
    expect((await call(`/${id}/import`, { csv: HEAD, part: 1, parts: 2 })).status, 'without an importId').toBe(422);
    expect((await part(second, 2, ['Y'])).status, 'the import is complete').toBe(409);
    expect((await part(second, 1, ['Z'], 1)).status, 'its id once more').toBe(409);
    expect(await rows(id)).toEqual(['L X 1', 'L Y 1']);
    const { rows: left } = await at.db.client.query(
      'select distinct content from code_table_row where site_id = $1 and table_id = $2',
      [at.site, id],
    );
    expect(left).toEqual([{ content: second }]);
  });

  test('a draft becomes live as its reader saw it, never changes again, and an earlier version can follow it', async () => {
    const id = await create('Versions');
    const release = (version: number | null, edits: number, comment = 'why') =>
      call(`/${id}/release`, { version, edits, comment });
    const imported = { importId: randomUUID(), csv: `${HEAD}\nL,A,,,${SNOMED},1,,\nL,B,,,${SNOMED},1,,` };
    await call(`/${id}/import`, imported);
    expect((await release(1, 0)).status).toBe(412);
    expect((await release(1, 1, ' ')).status).toBe(422);
    expect((await release(2, 1)).status).toBe(422);
    expect([(await release(3_000_000_000, 1)).status, (await release(1, 3_000_000_000)).status]).toEqual([422, 422]);
    expect((await release(1, 1)).body).toMatchObject({
      liveVersion: 1,
      draftVersion: 2,
      isDraftChanged: false,
      edits: 2,
    });
    expect((await release(1, 2)).status).toBe(409);
    const row = (code: string, targetCode: string) => ({ system: 'L', code, targetSystem: SNOMED, targetCode });
    const edit = (change: string, ...given: object[]) => call(`/${id}/rows`, { change, rows: given });
    expect((await edit('set', row('A', '2'), row('A', '3'))).body).toMatchObject({
      draftRows: 3,
      isDraftChanged: true,
    });
    await edit('remove', row('B', '9'));
    expect(await rows(id)).toEqual(['L A 2', 'L A 3']);
    expect(await rows(id, '?version=1')).toEqual(['L A 1', 'L B 1']);
    await release(2, 4);
    await call(`/${id}/import`, { csv: `${HEAD}\nL,C,,,${SNOMED},1,,` });
    expect(await read(id)).toMatchObject({ isDraftChanged: true, draftVersion: 3 });
    expect(await rows(id, '?version=2')).toEqual(['L A 2', 'L A 3']);
    for (const later of ['4', '3000000000']) {
      const none = await call(`/${id}/rows?version=${later}`);
      expect([none.status, none.body.detail]).toEqual([404, `the code table has no version ${later}`]);
    }
    expect((await call(`/${id}/import`, imported)).status, 'the rows of its import are those of a version').toBe(409);
    expect(await rows(id, '?version=1')).toEqual(['L A 1', 'L B 1']);
    await release(1, 6);
    const { releases, liveVersion } = (await release(null, 7, 'off')).body;
    expect(liveVersion).toBeNull();
    expect(releases.map(({ version, comment }) => `${version} ${comment}`)).toEqual([
      'null off',
      '1 why',
      '2 why',
      '1 why',
    ]);
    expect(releases[0]?.by).toContain('(');
    expect(faults(await edit('set', ...Array.from({ length: 51 }, (_, n) => row('D', `${n}`))))).toEqual([]);
    expect(await rows(id)).toEqual(['L C 1']);
  });

  test('a ConceptMap is read into rows; a member that would change its meaning is rejected', async () => {
    const id = await create('ConceptMap');
    const group = {
      source: `${at.baseUrl}/fhir/sites/${at.site}/code-systems/99LAB`,
      target: SNOMED,
      element: [
        {
          code: 'GLU',
          target: [{ code: '1', equivalence: 'equal', dependsOn: [{ property: 'MSH-3', value: 'LAB' }] }],
        },
        { code: 'NA' },
      ],
    };
    const table = {
      source: 'http://terminology.hl7.org/CodeSystem/v2-0078',
      target: SNOMED,
      element: [{ code: 'H', target: [{ code: '2', equivalence: 'wider' }] }],
    };
    const conceptMap = { resourceType: 'ConceptMap', status: 'active', url: 'urn:x', group: [group, table] };
    expect((await call(`/${id}/import`, { conceptMap })).status).toBe(200);
    expect((await call(`/${id}/rows`)).body['items']).toMatchObject([
      { system: '99LAB', code: 'GLU', application: 'LAB', targetCode: '1', equivalence: 'equal' },
      { system: '99LAB', code: 'NA', application: '', targetCode: '', equivalence: 'unmatched' },
      { system: 'HL70078', code: 'H', targetCode: '2', equivalence: 'wider' },
    ]);
    const faulty = {
      ...conceptMap,
      group: [
        { ...group, source: 'x'.repeat(101) },
        {
          ...table,
          element: [
            ...table.element,
            { code: 'N' },
            { code: 'N', target: [{ equivalence: 'unmatched' }] },
            {
              code: 'L',
              target: [
                { code: '1', equivalence: 'equal' },
                { code: ' ', equivalence: 'equal' },
              ],
            },
          ],
        },
      ],
    };
    expect(faults(await call(`/${id}/import`, { conceptMap: faulty }))).toEqual([
      '#/conceptMap/group/0/source system has more than 100 characters',
      '#/conceptMap/group/0/source system has more than 100 characters',
      '#/conceptMap/group/1/element/2/target/0 conceptMap.group[1].element[1] has the same code, sender and target',
      '#/conceptMap/group/1/element/3/target/1/code targetCode must be a code without white space around it',
    ]);
    const rowFaults = await call(`/${id}/rows`, {
      change: 'set',
      rows: [
        { code: 'A', targetSystem: SNOMED, targetCode: '1' },
        { code: '', targetSystem: 'x', targetCode: '1' },
      ],
    });
    expect(faults(rowFaults)).toEqual([
      '#/rows/1/code code is empty',
      '#/rows/1/targetSystem targetSystem must be a URI, such as http://snomed.info/sct',
    ]);
    for (const wrong of [
      { ...conceptMap, group: [{ ...table, unmapped: { mode: 'provided' } }] },
      { ...conceptMap, group: [{ ...table, element: [{ code: 'H', target: [{ code: '2', equivalence: 'exact' }] }] }] },
      {
        ...conceptMap,
        group: [{ ...table, element: [{ code: 'H', target: [{ code: '2', equivalence: 'equal', product: [] }] }] }],
      },
      { ...conceptMap, implicitRules: 'urn:x' },
    ])
      expect((await call(`/${id}/import`, { conceptMap: wrong })).status).toBe(422);
  });

  test('needs its permissions, is of one site, and each change is in the audit', async () => {
    const id = await create('Rights');
    const csv = `${HEAD}\nL,A,,,${SNOMED},1,,`;
    for (const [path, body] of [
      ['', { name: 'x' }],
      [`/${id}/import`, { csv }],
      [`/${id}/rows`, { csv, change: 'set' }],
      [`/${id}/release`, { version: 1, edits: 0, comment: 'x' }],
      [`/${id}/rename`, { name: 'Another' }],
      [`/${id}/delete`, { edits: 0 }],
    ] as const) {
      expect((await call(path, body, READ)).status, path).toBe(403);
      if (path !== '') expect((await call(path, body, WRITE, at.otherSite)).status, path).toBe(404);
    }
    expect((await call('', undefined, ['site.settings.read'])).status).toBe(403);
    expect((await call('', { name: 'Rights' })).status, 'a name twice').toBe(409);
    expect((await call(`/${id}/rows`, { change: 'set', csv })).status).toBe(200);
    expect((await call(`/${id}/release`, { version: 1, edits: 1, comment: 'x' })).status).toBe(200);
    expect((await call(`/${id}/rename`, { name: 'Renamed' })).body).toMatchObject({ name: 'Renamed', edits: 2 });
    await create('Second');
    expect((await call(`/${id}/rename`, { name: 'Second' })).status, 'a name twice').toBe(409);
    expect((await call(`/${randomUUID()}/rename`, { name: 'x' })).status).toBe(404);
    expect((await call(`/${id}/delete`, { edits: 2 })).status, 'it is live').toBe(409);
    expect((await call(`/${id}/release`, { version: null, edits: 2, comment: 'x' })).status).toBe(200);
    expect((await call(`/${id}/delete`, { edits: 2 })).status, 'changed meanwhile').toBe(412);
    expect((await call(`/${id}/delete`, { edits: 3 })).status).toBe(200);
    for (const path of ['', '/rows']) expect((await call(`/${id}${path}`)).status).toBe(404);
    expect((await call(`/${id}/import`, { csv })).status).toBe(404);
    const { rows: audit } = await at.db.client.query(
      'select action from audit where site_id = $1 and $2 = any (ids) order by at',
      [at.site, id],
    );
    expect(audit.map(({ action }: { action?: string }) => action)).toEqual([
      'code-table-changed',
      'code-table-changed',
      'code-table-live',
      'code-table-changed',
      'code-table-live',
      'code-table-deleted',
    ]);
  });

  test('in the console a table is created, imported, edited, made live and downloaded, and a missed code is mapped', async () => {
    const browser = await signIn(at);
    const post = async (path: string, fields: Readonly<Record<string, string>>) => {
      const headers = { origin: new URL(at.baseUrl).origin };
      const body = new URLSearchParams(fields);
      const answer = await browser.go(`${at.baseUrl}/admin/code-tables${path}`, { method: 'POST', headers, body });
      return { status: answer.status, text: await answer.text() };
    };
    const get = async (path: string) => (await browser.go(`${at.baseUrl}/admin/code-tables${path}`)).text();
    expect((await post('', { name: 'By hand' })).text).toContain('No rows.');
    const { items } = (await call('')).body as { items?: Table[] };
    const id = items?.find(({ name }) => name === 'By hand')?.tableId ?? '';
    const twice = await post('', { name: 'By hand' });
    expect(twice).toMatchObject({ status: 409, text: expect.stringContaining('value="By hand"') });

    const wrong = await post(`/${id}/import`, { file: `${HEAD}\nL,,,,${SNOMED},1,,` });
    expect(wrong).toMatchObject({ status: 422, text: expect.stringContaining('line 2: code is empty') });
    expect(wrong.text, 'what was pasted is still there').toContain(`L,,,,${SNOMED},1,,`);
    const broken = await post(`/${id}/import`, { file: '{"resourceType":"ConceptMap"' });
    expect(broken).toMatchObject({ status: 422, text: expect.stringContaining('not valid JSON') });
    expect(broken.text, 'what was pasted is still there').toContain('{&quot;resourceType&quot;:&quot;ConceptMap&quot;');
    await post(`/${id}/import`, { file: `${HEAD}\nL,A,,,${SNOMED},1,,\nL,B,LAB,,${SNOMED},2,,` });
    await post(`/${id}/remove`, { system: 'L', code: 'A', application: '', facility: '' });
    const set = { system: '99LAB', code: 'C', application: '', facility: '', targetSystem: SNOMED, targetCode: '3' };
    expect((await post(`/${id}/set`, { ...set, display: 'Third', equivalence: 'equal' })).text).toContain(
      'The draft is changed',
    );
    expect(await get(`/${id}/table.csv`)).toBe(
      `${HEAD}\r\n99LAB,C,,,${SNOMED},3,Third,equal\r\nL,B,LAB,,${SNOMED},2,,equivalent\r\n`,
    );
    const refused = await post(`/${id}/set`, {
      ...set,
      application: 'LAB',
      targetSystem: 'snomed',
      equivalence: 'equal',
    });
    expect(refused).toMatchObject({ status: 422, text: expect.stringContaining('nothing was changed') });
    for (const value of ['99LAB', 'C', 'LAB', 'snomed', '3'])
      expect(refused.text, 'what was typed is still there').toContain(`value="${value}"`);
    const map = await get(`/${id}/concept-map.json`);
    await call(`/${id}/import`, { conceptMap: JSON.parse(map) as unknown });
    expect(await get(`/${id}/concept-map.json`), 'the ConceptMap has every member').toBe(map);

    const { edits } = await read(id);
    const stale = await post(`/${id}/release`, { version: '1', edits: `${edits - 1}`, comment: 'the first codes' });
    expect(stale).toMatchObject({ status: 409, text: expect.stringContaining('value="the first codes"') });
    const live = await post(`/${id}/release`, { version: '1', edits: `${edits}`, comment: 'by hand' });
    expect(live.text).toContain('It applies from the next message on');
    await at.db.client.query(`select code_misses_note($1, $2, 5000)`, [
      at.site,
      JSON.stringify(
        ['MISSED', 'NO_TARGET'].map((code) => ({ system: 'L', code, text: `Text of ${code}`, ...ANY, messages: 7 })),
      ),
    ]);
    expect(await get('')).toContain('Text of MISSED');
    const missed = { table: id, system: 'L', code: 'MISSED', targetSystem: SNOMED, display: 'Typed' };
    const unsaved = await post('/map', { ...missed, targetCode: ' ' });
    expect(unsaved).toMatchObject({ status: 422, text: expect.stringContaining('value="Typed"') });
    // The form begins with a target system.
    const unmatched = { ...missed, code: 'NO_TARGET', targetCode: '', display: '', equivalence: 'unmatched' };
    expect((await post('/map', unmatched)).text).toContain('The row is in the draft');
    const mapped = await post('/map', { ...missed, targetCode: '9', display: '' });
    expect((await get(`/${id}`)).includes('Delete the table'), 'a live table').toBe(false);
    expect((await post(`/${id}/delete`, { edits: `${(await read(id)).edits}` })).text).toContain(
      'switch the table off',
    );
    expect((await post(`/${id}/rename`, { name: 'Another name' })).text).toContain('<h1>Another name');
    await post(`/${id}/release`, { version: '', edits: `${(await read(id)).edits}`, comment: 'off' });
    const { edits: last } = await read(id);
    expect(mapped.text).toContain('The row is in the draft');
    expect(mapped.text).not.toContain('Text of');
    expect(await rows(id)).toEqual(expect.arrayContaining(['L MISSED 9', 'L NO_TARGET ']));
    expect((await post(`/${id}/delete`, { edits: `${last}` })).text).toContain('The table is deleted');
    expect((await call(`/${id}`)).status).toBe(404);
  });
});
