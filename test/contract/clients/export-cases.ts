/** Programs for bulk exports, unchanged: SMART's smart-fetch (Python) and CSIRO's bulk-export (Java). */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { beforeAll, describe, expect, test } from 'vitest';

import { getToken } from '../../stack/services/client.ts';
import { ALL_SCOPES, type ApiKey, createApiKey } from '../../stack/services/seed.ts';
import { type Body, observation, patient, type Subject } from '../fhir/subject.ts';

const run = promisify(execFile);
const OBSERVATION_CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';
const SCOPES = [...ALL_SCOPES, 'system/Group.read', 'system/Group.write'];

/** The program of the Python environment whose packages `requirements.txt` lists. */
const smartFetch = process.env['SMART_FETCH'] ?? 'smart-fetch';
const NO_SMART_FETCH = 'no smart-fetch: pip install -r test/contract/clients/requirements.txt, or set SMART_FETCH';
const isRequired = process.env['PYTHON_CLIENTS'] === 'required';
const withoutSmartFetch =
  !isRequired &&
  (await run(smartFetch, ['--version']).then(
    () => false,
    () => true,
  ));

const csiroJars = process.env['CSIRO_JARS'] ?? '';
const NO_CSIRO =
  'a JDK and CSIRO_JARS are needed: mvn -f test/contract/clients/csiro dependency:copy-dependencies -DoutputDirectory="$CSIRO_JARS"';

/** `Type/id` of each resource in the NDJSON files of a folder. */
async function idsIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) =>
    /^[A-Z].*\.ndjson$/.test(name.split('/').at(-1) ?? ''),
  );
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => line !== '');
  return lines
    .map((line) => JSON.parse(line) as Body)
    .map(({ resourceType, id }) => `${resourceType}/${id}`)
    .toSorted();
}

export function exportCases(subject: () => Subject): void {
  let key: ApiKey;
  const ids: Record<string, string> = {};
  const named = (...names: string[]): string[] => names.map((name) => ids[name] ?? name).toSorted();

  beforeAll(async () => {
    const { site } = await subject().newSite();
    key = await createApiKey(subject().client, { site, scopes: SCOPES });
    const token = await getToken(subject().gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
    const add = async (name: string, resource: Body): Promise<string> => {
      const id = await subject().create(resource, token);
      ids[name] = `${resource['resourceType']}/${id}`;
      return id;
    };
    const category = (code: string): Body => ({ category: [{ coding: [{ system: OBSERVATION_CATEGORY, code }] }] });
    const ann = await add('ann', patient('ann'));
    const bob = await add('bob', patient('bob'));
    await add('sodium', observation(ann, category('laboratory')));
    await add('pulse', observation(ann, category('vital-signs')));
    await add('untyped', observation(ann));
    await add('potassium', observation(bob, category('laboratory')));
    await add('group', {
      resourceType: 'Group',
      type: 'person',
      actual: true,
      member: [{ entity: { reference: `Patient/${ann}` } }],
    });
  });

  const inFolder = async (use: (folder: string) => Promise<void>): Promise<void> => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-exports-'));
    try {
      await use(folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  const idOf = (name: string): string => (ids[name] ?? '').split('/')[1] ?? '';

  test(
    'smart-fetch exports the system and a Group, with its default filters and its own',
    { timeout: 120_000 },
    async ({ skip }) => {
      skip(withoutSmartFetch, NO_SMART_FETCH);
      await inFolder(async (folder) => {
        const keys = join(folder, 'keys.jwks');
        // It uses a key that says so itself.
        await writeFile(keys, JSON.stringify({ keys: [{ alg: 'ES256', ...key.privateJwk, key_ops: ['sign'] }] }));
        const fetched = async (name: string, ...args: string[]): Promise<string[]> => {
          const out = join(folder, name);
          const where = ['--fhir-url', subject().root, '--smart-client-id', key.clientId, '--smart-key', keys];
          await run(smartFetch, ['bulk', out, ...where, '--no-compression', ...args]);
          return idsIn(out);
        };
        const types = ['--type', 'Patient,Observation'];
        expect(await fetched('system', ...types)).toEqual(named('ann', 'bob', 'sodium', 'pulse', 'potassium'));
        expect(await fetched('all', ...types, '--no-default-filters')).toEqual(
          named('ann', 'bob', 'sodium', 'pulse', 'untyped', 'potassium'),
        );
        expect(
          await fetched(
            'group',
            ...types,
            '--group',
            idOf('group'),
            '--type-filter',
            'Observation?category=laboratory',
          ),
        ).toEqual(named('ann', 'sodium'));
      });
    },
  );

  describe('CSIRO', () => {
    test('exports the system, patients and a Group', { timeout: 120_000 }, async ({ skip }) => {
      skip(csiroJars === '', NO_CSIRO);
      await inFolder(async (folder) => {
        const source = fileURLToPath(new URL('csiro/Exports.java', import.meta.url));
        const classpath = [folder, join(csiroJars, '*')].join(delimiter);
        await run('javac', ['-d', folder, '-cp', classpath, source]);
        const args = [subject().root, key.clientId, JSON.stringify(key.privateJwk), idOf('group'), idOf('ann'), folder];
        await run('java', ['-cp', classpath, 'Exports', ...args]);
        const ofAnn = ['ann', 'sodium', 'pulse', 'untyped'];
        expect(await idsIn(join(folder, 'system'))).toEqual(named(...ofAnn, 'bob', 'potassium', 'group'));
        expect(await idsIn(join(folder, 'patients'))).toEqual(named('ann', 'bob'));
        expect(await idsIn(join(folder, 'patient'))).toEqual(named(...ofAnn));
        expect(await idsIn(join(folder, 'group'))).toEqual(named('sodium'));
      });
    });
  });
}
