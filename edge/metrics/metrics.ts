/**
 * `/metrics` for Prometheus. Every process answers with the same counts, since all of them count in the database
 * (edge/docs/behaviour.md, Metrics). It requires METRICS_TOKEN, and answers 404 if none is configured.
 */
import type { Config } from '../config.ts';
import type { Deps } from '../deps.ts';
import { Fault } from '../../shared/fault.ts';
import { sha256Of } from '../http/crypto.ts';
import { readMetrics } from '../store/metrics.ts';
import { SCHEMA_VERSION } from '../store/schema.generated.ts';
import { PROBE_LIMITS } from '../store/time-limits.ts';
import { exposition, EXPOSITION_TYPE } from './exposition.ts';
import { familiesOf, familiesOfProcess } from './families.ts';

/** Some megabytes at most; Prometheus accepts a hundred. */
const MAX_ROWS = 10_000;

/** Compares digests, so that the time of the comparison reveals nothing about the token. */
async function isToken(given: string, tokens: readonly string[]): Promise<boolean> {
  const [digest, ...known] = await Promise.all([given, ...tokens].map(sha256Of));
  return digest !== undefined && known.includes(digest);
}

/** The scrape succeeds without a database, so that its absence differs from that of the gateway. */
function whileAway(error: unknown): undefined {
  if (!(error instanceof Fault) || error.kind !== 'unavailable') throw error;
}

/** @returns undefined if no token is configured */
export async function metrics(
  {
    config,
    database,
    version,
    processUse,
  }: Pick<Deps, 'database' | 'version' | 'processUse'> & {
    readonly config: Partial<Pick<Config, 'METRICS_TOKEN' | 'TOKEN_SIGNING_KEYS'>>;
  },
  authorization: string | undefined,
): Promise<Response | undefined> {
  if (config.METRICS_TOKEN === undefined) return undefined;
  const [, given] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (given === undefined || !(await isToken(given, config.METRICS_TOKEN))) {
    return new Response('Send METRICS_TOKEN as a Bearer token.\n', {
      status: 401,
      headers: { 'WWW-Authenticate': 'Bearer realm="metrics"', 'Cache-Control': 'no-store' },
    });
  }
  const kids = (config.TOKEN_SIGNING_KEYS?.keys ?? []).map(({ kid }) => kid);
  const rows = await database.run(readMetrics(MAX_ROWS, kids), PROBE_LIMITS).catch(whileAway);
  if (rows?.length === 0) throw new TypeError('the metrics query must return one row');
  const row = rows?.[0];
  const deployment = { schema: SCHEMA_VERSION, version, kids };
  const ofDatabase = row === undefined ? [] : familiesOf(row, deployment);
  const text = exposition([...familiesOfProcess(deployment, row !== undefined, processUse?.()), ...ofDatabase]);
  return new Response(text, { headers: { 'Content-Type': EXPOSITION_TYPE, 'Cache-Control': 'no-store' } });
}
