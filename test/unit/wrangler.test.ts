/** The Worker's two configurations: what is deployed, and what `npm start` runs. */
import { expect, test } from 'vitest';
import { unstable_readConfig } from 'wrangler';

const read = (config: string) => unstable_readConfig({ config }, { hideWarnings: true });
const production = read('wrangler.toml');
const local = read('test/stack/start/wrangler.toml');

test('a deployment keeps the variables that were set in the dashboard', () => {
  expect(production.keep_vars).toBe(true);
  expect(production.vars).toEqual({});
});

test('the production file has no other environment, of which Wrangler would warn each time, and no preview', () => {
  expect(production.definedEnvironments ?? []).toEqual([]);
  expect(production.preview_urls).toBe(false);
});

test('npm start runs what is deployed, but for its limits', () => {
  const { main, compatibility_date, durable_objects, migrations, assets, ratelimits, triggers } = production;
  const FAR_ABOVE_ANY_ENGINEER = { limit: 1_000_000, period: 60 };
  expect(local).toMatchObject({
    main,
    compatibility_date,
    durable_objects,
    migrations,
    triggers,
    // The one path that Wrangler leaves relative to the file it stands in.
    assets: { ...assets, directory: `../../../${assets?.directory}` },
    ratelimits: ratelimits.map((each: object) => ({ ...each, simple: FAR_ABOVE_ANY_ENGINEER })),
  });
});
