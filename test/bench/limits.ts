/** The upper limits of this machine, measured in the same rounds as the gateway. */
import { build } from 'esbuild';
import { Pool } from 'pg';

import { measure, measureHttp, type Measured, type Spell } from './load.ts';
import type { SiteRequests } from './operations.ts';
import { LIMITS } from './report.ts';
import type { Stack } from './stack.ts';
import { startWorkerd } from './workerd.ts';

/** PostgreSQL's least work for a read: one row by its primary key, with a prepared statement. */
const pointReadOf = ({ site, read }: SiteRequests) => ({
  name: 'point read',
  text: 'select body from resource where site_id = $1::uuid and type = $2 and id = $3::uuid',
  values: [site, 'Patient', read.patient],
});

export async function measurePointRead(
  { databaseUrl, watched: { cpu } }: Stack,
  requests: SiteRequests,
  spell: Spell,
): Promise<Measured> {
  const pool = new Pool({ connectionString: databaseUrl, max: spell.connections });
  const query = pointReadOf(requests);
  const send = async (): Promise<number | undefined> => ((await pool.query(query)).rowCount === 1 ? undefined : 0);
  try {
    return await measure(() => undefined, send, spell, { cpu: { postgres: cpu['postgres'] ?? (() => []) } });
  } finally {
    await pool.end();
  }
}

/** A Worker with a constant answer, and a Worker with the least work of a read (bare-worker.ts), in a separate workerd. */
async function startWorkers(stack: Stack, requests: SiteRequests) {
  const { outputFiles } = await build({
    entryPoints: [`${import.meta.dirname}/bare-worker.ts`],
    write: false,
    bundle: true,
    format: 'esm',
    target: 'es2024',
  });
  const { keys } = JSON.parse(stack.secrets.env.TOKEN_SIGNING_KEYS) as { keys: Record<string, string>[] };
  const { d: _private, ...publicJwk } = keys[0] ?? {};
  const { text, values } = pointReadOf(requests);
  const env = {
    KEY: JSON.stringify(publicJwk),
    ISSUER: stack.url,
    ENDPOINT: stack.endpointUrl,
    DATABASE_URL: stack.databaseUrl,
    QUERY: JSON.stringify({ query: text, params: values }),
  };
  return startWorkerd([
    { name: 'hello', script: `export default { fetch: () => new Response('{"ok":true}') };` },
    { name: 'bare', script: outputFiles[0]?.text ?? '', env: () => env },
  ]);
}

/** @param stack on workerd; the limits use its endpoint and its database */
export async function startLimits(stack: Stack, requests: SiteRequests) {
  const workerd = await startWorkers(stack, requests);
  const get = (url: string, headers = {}, watched: Partial<Stack['watched']> = {}) => {
    const operation = { expected: 200, next: () => ({ path: '/', headers }) };
    const cpu = { ...watched.cpu, gateway: () => [workerd.pid] };
    return (spell: Spell) => measureHttp(url, operation, spell, { ...watched, cpu });
  };
  const [hello = '', bare = ''] = workerd.urls;
  return {
    limits: [
      { what: LIMITS.hello, measure: get(hello) },
      { what: LIMITS.bare, measure: get(bare, requests.read.headers, stack.watched) },
      { what: LIMITS.pointRead, measure: (spell: Spell) => measurePointRead(stack, requests, spell) },
    ],
    stop: workerd.stop,
  };
}
