/** The Worker's configurations: what is deployed, as production and as staging, and what `npm start` runs. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';
import { unstable_readConfig } from 'wrangler';

import { ROOT } from '../stack/services/build.ts';

const read = (config: string) => unstable_readConfig({ config }, { hideWarnings: true });
const production = read('wrangler.toml');
const staging = read('edge/platform/cloudflare/staging.toml');
const local = read('test/stack/start/wrangler.toml');

test('a deployment keeps the variables that were set in the dashboard', () => {
  expect(production.keep_vars).toBe(true);
  expect(production.vars).toEqual({});
});

test('the production file has one environment, without a warning of Wrangler, and no preview', () => {
  expect(production.definedEnvironments ?? []).toEqual([]);
  expect(production.preview_urls).toBe(false);
});

const SHARED = [
  'compatibility_date',
  'minify',
  'keep_names',
  'upload_source_maps',
  'keep_vars',
  'workers_dev',
  'preview_urls',
] as const;
const ALSO = [
  'limits',
  'version_metadata',
  'observability',
  'triggers',
  'durable_objects',
  'migrations',
  'build',
] as const;

test('the Worker is reachable only at its hosts, and Cloudflare logs no address with its query', () => {
  expect([production.workers_dev, production.preview_urls, production.routes]).toEqual([false, false, undefined]);
  expect(production.observability).toMatchObject({
    enabled: true,
    redact_query_string: true,
    logs: { invocation_logs: false },
  });
  expect(production.limits?.cpu_ms).toBeGreaterThan(10);
});

test('staging is as production, apart from its name, and counts by itself', () => {
  for (const name of [...SHARED, ...ALSO]) expect([name, staging[name]]).toEqual([name, production[name]]);
  expect(staging.name).not.toBe(production.name);
  type Limit = { namespace_id: string };
  const limits: readonly Limit[] = [...production.ratelimits, ...staging.ratelimits];
  expect(new Set(limits.map(({ namespace_id: counter }) => counter)).size).toBe(limits.length);
  const uncounted = (all: readonly Limit[]) => all.map((limit) => ({ ...limit, namespace_id: '' }));
  expect(uncounted(staging.ratelimits)).toEqual(uncounted(production.ratelimits));
});

test.each([
  ['one host', /^# routes = \[\{.*\}\]$/m, { routes: [{ custom_domain: true }] }],
  [
    'a host for each surface',
    /^# routes = \[\n(?:#.*\n)*?# \]$/m,
    { routes: Array.from({ length: 4 }, () => ({ custom_domain: true })) },
  ],
  ['a region', /^# placement = .*$/m, { placement: { region: 'aws:eu-central-1' } }],
])('Wrangler accepts %s as the file shows it', async (_, shown, expected) => {
  const text = await readFile(`${ROOT}wrangler.toml`, 'utf8');
  const folder = await mkdtemp(join(tmpdir(), 'wrangler-'));
  await writeFile(
    `${folder}/wrangler.toml`,
    text.replace(shown, (lines) => lines.replaceAll(/^# /gm, '')),
  );
  const config = read(`${folder}/wrangler.toml`);
  expect({ routes: config.routes, placement: config.placement }).toMatchObject(expected);
  await rm(folder, { recursive: true });
});

test('npm start runs the deployed configuration except for the limits', () => {
  const { main, compatibility_date, durable_objects, migrations, assets, ratelimits, triggers, version_metadata } =
    production;
  const FAR_ABOVE_ANY_ENGINEER = { limit: 1_000_000, period: 60 };
  expect(local).toMatchObject({
    main,
    compatibility_date,
    durable_objects,
    migrations,
    triggers,
    version_metadata,
    // The only path that Wrangler leaves relative to its file.
    assets: { ...assets, directory: `../../../${assets?.directory}` },
    ratelimits: ratelimits.map((each: object) => ({ ...each, simple: FAR_ABOVE_ANY_ENGINEER })),
  });
});
