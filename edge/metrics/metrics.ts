/**
 * `/metrics` for Prometheus, the same from whichever process answers: it reads what all of them have counted into the
 * database (edge/docs/behaviour.md, Metrics). For whoever has METRICS_TOKEN; without one configured it is not there.
 */
import type { Config } from '../config.ts';
import type { Deps } from '../deps.ts';
import { sha256Of } from '../http/crypto.ts';
import { readMetrics } from '../store/metrics.ts';
import { SCHEMA_VERSION } from '../store/schema.generated.ts';
import { PROBE_LIMITS } from '../store/time-limits.ts';
import { exposition, EXPOSITION_TYPE } from './exposition.ts';
import { familiesOf } from './families.ts';

/** Some megabytes at most, of which a Prometheus takes a hundred. */
const MAX_ROWS = 10_000;

/** By its digest, so that how long comparing takes tells nothing of the token. */
async function isToken(given: string, tokens: readonly string[]): Promise<boolean> {
  const [digest, ...known] = await Promise.all([given, ...tokens].map(sha256Of));
  return digest !== undefined && known.includes(digest);
}

/** @returns undefined where no token is configured */
export async function metrics(
  {
    config,
    database,
    version,
  }: Pick<Deps, 'database' | 'version'> & {
    readonly config: Partial<Pick<Config, 'METRICS_TOKEN' | 'TOKEN_SIGNING_KEYS'>>;
  },
  authorization: string | undefined,
): Promise<Response | undefined> {
  if (config.METRICS_TOKEN === undefined) return undefined;
  const [, given] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (given === undefined || !(await isToken(given, config.METRICS_TOKEN))) {
    return new Response('METRICS_TOKEN is needed, as a Bearer token\n', {
      status: 401,
      headers: { 'WWW-Authenticate': 'Bearer realm="metrics"', 'Cache-Control': 'no-store' },
    });
  }
  const kids = (config.TOKEN_SIGNING_KEYS?.keys ?? []).map(({ kid }) => kid);
  const [row] = await database.run(readMetrics(MAX_ROWS, kids), PROBE_LIMITS);
  if (row === undefined) throw new TypeError('this query has one row');
  const text = exposition(familiesOf(row, { schema: SCHEMA_VERSION, version, kids }));
  return new Response(text, { headers: { 'Content-Type': EXPOSITION_TYPE, 'Cache-Control': 'no-store' } });
}
