/**
 * Serves the addresses that belong to no surface, on every host:
 *
 * - `/healthz`: the process answers.
 * - `/readyz`: the database answers, accepts writes, and has the migrations of this build or newer.
 * - `/metrics`, and at the root the list of the host's surfaces. Any other path is 404.
 */
import type { Context } from 'hono';

import { Fault } from '../shared/fault.ts';
import type { Addresses, Config } from './config.ts';
import type { Deps } from './deps.ts';
import { FAULT_STATUS, faultOf, WHILE_AWAY } from './http/fault-status.ts';
import { metrics } from './metrics/metrics.ts';
import type { Place } from './places.ts';
import { createSurface, type Surface } from './http/surface.ts';
import { schemaVersion } from './store/schema-version.ts';
import { SCHEMA_VERSION } from './store/schema.generated.ts';
import { PROBE_LIMITS } from './store/time-limits.ts';

type Probed = Pick<Deps, 'background' | 'database' | 'log' | 'now' | 'measured' | 'version'> & {
  readonly config: Addresses & Partial<Pick<Config, 'METRICS_TOKEN' | 'TOKEN_SIGNING_KEYS'>>;
};

/** The body of the answer: the missing condition as a sentence, or the versions. */
type Readiness =
  | { readonly status: 'not ready'; readonly detail: string }
  | { readonly status: 'ready'; readonly schemaVersion: number; readonly version: string | undefined };

/** The database is asked at most once in this time, so that readiness checks cannot overload it. */
const REMEMBERED_MS = 1000;

function createReadiness(deps: Probed): () => Promise<Readiness> {
  let last: { readonly at: number; readonly found: Promise<Readiness> } | undefined;
  return () => {
    const now = deps.now();
    if (last === undefined || Math.abs(now - last.at) >= REMEMBERED_MS) {
      last = { at: now, found: askReadiness(deps) };
      // Later requests may wait for the result after this request has ended.
      deps.background(last.found);
    }
    return last.found;
  };
}

/** Status 200 if ready, otherwise 503. */
const readinessAnswer = (found: Readiness): Response =>
  found.status === 'ready' ? Response.json(found) : Response.json(found, { status: 503, headers: WHILE_AWAY });

async function askReadiness({ database, log, version: deployed }: Probed): Promise<Readiness> {
  const notReady = (detail: string): Readiness => {
    log({ level: 'warn', event: 'not-ready', detail });
    return { status: 'not ready', detail };
  };
  try {
    const [row] = await database.run(schemaVersion(), PROBE_LIMITS);
    if (row === undefined) throw new TypeError('the readiness query must return one row');
    const { version, missing, is_writable: isWritable, is_walled: isWalled } = row;
    if (version < SCHEMA_VERSION) {
      return notReady(
        `the database is at migration ${version}, this build needs ${SCHEMA_VERSION}: run npm run migrate`,
      );
    }
    if (missing.length > 0)
      return notReady(`the database lacks the functions ${missing.join(', ')}: run npm run migrate`);
    // Each access writes a row of the audit, so reads need a writable database too.
    if (!isWritable) return notReady('the database does not accept writes: it is read-only or a replica');
    // Without this check, a login that bypasses row-level security would go unnoticed.
    if (!isWalled) return notReady("the login in DATABASE_URL bypasses row-level security: use the gateway's login");
    return { status: 'ready', schemaVersion: version, version: deployed };
  } catch (error) {
    if (error instanceof Fault) return notReady(error.message);
    return notReady('the database has no schema: run npm run migrate');
  }
}

/**
 * @param prefixes the path prefixes of the surfaces, below each of which the probes answer
 * @param placesAt returns the surfaces of a host
 */
export function createProbes(
  deps: Probed,
  prefixes: readonly string[],
  placesAt: (host: string) => readonly Place[],
): Surface {
  const app = createSurface(deps, 'gateway', '');
  const readiness = createReadiness(deps);
  for (const prefix of new Set(prefixes)) {
    app.get(`${prefix}/healthz`, () => Response.json({ status: 'ok' }));
    app.get(`${prefix}/readyz`, async () => readinessAnswer(await readiness()));
    app.get(`${prefix}/metrics`, async (c) => (await metrics(deps, c.req.header('authorization'))) ?? c.notFound());
    const root = (c: Context): Response => {
      const surfaces = placesAt(new URL(c.req.url).host).map(({ name, start }) => ({ name, start }));
      const docs = deps.config.INTEGRATION_DOCS_URL;
      return Response.json({ title: 'Integration gateway', surfaces, ...(docs === undefined ? {} : { docs }) });
    };
    app.get(`${prefix}/`, root);
    if (prefix !== '') app.get(prefix, root);
  }
  app.notFound(() => {
    const detail = 'this address does not exist: the root of each base URL lists its surfaces';
    return Response.json({ title: 'Not found', status: 404, detail }, { status: 404 });
  });
  app.onError((error, c) => {
    const fault = faultOf(error, deps.log, 'gateway', c.get('requestId'));
    if (fault === undefined) return Response.json({ title: 'Internal error', status: 500 }, { status: 500 });
    const status = FAULT_STATUS[fault.kind];
    return Response.json({ title: fault.message, status }, { status, headers: fault.headers });
  });
  return app;
}
