/**
 * What is not a surface's: `/healthz` (the process answers), `/readyz` (the database answers, takes writes, and its
 * migrations are those this build was made for, or newer) and `/metrics` on every surface's host, what is there at its
 * root, and 404 for everything else.
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

/** The body of the answer: what is missing, in words, or what there is. */
type Readiness =
  | { readonly status: 'not ready'; readonly detail: string }
  | { readonly status: 'ready'; readonly schemaVersion: number; readonly version: string | undefined };

/** However many ask, the database is asked once in this time: nobody can keep it from its work by asking whether it works. */
const REMEMBERED_MS = 1000;

function createReadiness(deps: Probed): () => Promise<Readiness> {
  let last: { readonly at: number; readonly found: Promise<Readiness> } | undefined;
  return () => {
    const now = deps.now();
    if (last === undefined || Math.abs(now - last.at) >= REMEMBERED_MS) {
      last = { at: now, found: askReadiness(deps) };
      // Others may wait for it when the request that began it is gone.
      deps.background(last.found);
    }
    return last.found;
  };
}

/** 200 when ready, 503 when not. */
const readinessAnswer = (found: Readiness): Response =>
  found.status === 'ready' ? Response.json(found) : Response.json(found, { status: 503, headers: WHILE_AWAY });

async function askReadiness({ database, log, version: deployed }: Probed): Promise<Readiness> {
  const notReady = (detail: string): Readiness => {
    log({ level: 'warn', event: 'not-ready', detail });
    return { status: 'not ready', detail };
  };
  try {
    const [row] = await database.run(schemaVersion(), PROBE_LIMITS);
    if (row === undefined) throw new TypeError('this query has one row');
    const { version, missing, is_writable: isWritable, is_walled: isWalled } = row;
    if (version < SCHEMA_VERSION) {
      return notReady(`the database is at migration ${version}, this build needs ${SCHEMA_VERSION}`);
    }
    if (missing.length > 0) return notReady(`the database does not have the functions ${missing.join(', ')}`);
    // Each access leaves a row of the audit: where nothing can be written nothing can be read either.
    if (!isWritable) return notReady('the database takes no writes: it is read-only, or a replica');
    // A gateway that reaches every site's rows works as well as any: nobody would notice.
    if (!isWalled) return notReady('DATABASE_URL is of a login for which row-level security does not hold');
    return { status: 'ready', schemaVersion: version, version: deployed };
  } catch (error) {
    if (error instanceof Fault) return notReady(error.message);
    return notReady('the database has no migrations');
  }
}

/**
 * @param prefixes the path prefixes of the surfaces, below each of which the probes answer
 * @param placesAt the surfaces of a host
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
    const detail = 'there is nothing at this address: the root of each base URL says where its surfaces begin';
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
