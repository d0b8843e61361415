/**
 * Assembles the gateway: every surface, its address, and the choice of the surface for a request. A surface without a base
 * URL answers that it is not configured, in its own error format (edge/docs/behaviour.md, Addresses and configuration).
 */
import { Fault } from '../shared/fault.ts';
import { adminOperations, createAdmin } from './admin/routes.ts';
import { plainAddresses, surfaceUrls } from './config.ts';
import type { Deps } from './deps.ts';
import { createFhir } from './fhir/routes.ts';
import { serveSite } from './fhir/subscriptions/serve-site.ts';
import { createMisses } from './hl7/ingest/code-misses.ts';
import type { Isolate } from './hl7/ingest/ingest.ts';
import { createSnapshotCache } from './hl7/ingest/snapshot/cache.ts';
import { createMllpIngest } from './hl7/mllp/routes.ts';
import { createHl7 } from './hl7/http/routes.ts';
import { pathOf } from './http/address.ts';
import { referenceBaseUrls } from './http/reference-address.ts';
import { metadataPathOf } from './http/smart-configuration.ts';
import { pathPrefix, type Surface } from './http/surface.ts';
import { createRefusals } from './http/refusals.ts';
import { createUsage } from './http/usage.ts';
import { jobKinds } from './job-kinds.ts';
import type { JobKind } from './jobs/kind.ts';
import { tick } from './jobs/tick.ts';
import { createClientKeyring } from './oauth/client-keys.ts';
import { createOauth } from './oauth/routes.ts';
import { createReference } from './openapi/routes.tsx';
import { placesOf } from './places.ts';
import { createProbes } from './probes.ts';
import { askForAlerts } from './store/alert.ts';
import { noteCodeMisses } from './store/code-table.ts';
import { inSite } from './store/in-site.ts';
import { noteRefusals } from './store/refusal.ts';
import { askForAlike } from './store/alike.ts';
import { askForChanges } from './store/change-feed.ts';
import { askForRetention } from './store/retention.ts';
import { forJobs } from './store/time-limits.ts';
import { LATENCY_BOUNDS_MS, noteUsage } from './store/usage.ts';
import { createWorkbench } from './workbench.ts';
import { viewCheck } from './admin/workbench/operations.ts';

interface Mount {
  readonly baseUrl: string | undefined;
  /** First path segments below the base URL's prefix. */
  readonly roots: readonly string[];
  readonly surface: Surface;
  /** Paths that are answered although they are not below the base URL. */
  readonly outside?: readonly string[];
}

/** A mount with its base URL parsed. */
interface Route {
  readonly surface: Surface;
  readonly isBelow: (path: string) => boolean;
  readonly isHostOf: (url: string) => boolean;
}

/**
 * If the surfaces have different hosts, each host serves only its own surfaces; if all have one host, any host name works.
 * A host that only the API reference uses serves no surface, and may belong to another service.
 *
 * @param hosts the hosts of all surfaces
 */
function routeOf({ baseUrl, roots, surface, outside = [] }: Mount, hosts: ReadonlySet<string>): Route {
  const own = baseUrl ? new URL(baseUrl).host : undefined;
  const isAnyHost = own === undefined || (hosts.size < 2 && hosts.has(own));
  const below = roots.map((root) => `${pathPrefix(baseUrl)}/${root}`);
  return {
    surface,
    isBelow: (path) => below.some((start) => path === start || path.startsWith(`${start}/`)) || outside.includes(path),
    isHostOf: (url) => isAnyHost || new URL(url).host === own,
  };
}

export interface App {
  fetch(request: Request): Promise<Response>;
  /** Runs background jobs for some seconds; each platform calls it once a minute. */
  tick(): Promise<void>;
  /** Serves the change feed of a site for some seconds. @returns true if something remains */
  serveChanges(site: string): Promise<boolean>;
}

/**
 * Well below the minute between two calls, and few enough steps for the subrequest limit of Workers: a step asks the
 * database about three times.
 */
const TICK_BUDGET_MS = 20_000;
const WAKE_UP_BUDGET_MS = 10_000;

/** The gateway as a function of a request, the same on every runtime. */
export function createApp(given: Deps): App {
  const { config } = given;
  const deps: Deps = { ...given, wake: config.FHIR_SUBSCRIPTIONS ? given.wake : undefined };
  // Shared, so that the workbench uses the same cached keys as the token endpoint.
  const clientKeys = createClientKeyring(deps);
  const snapshots = createSnapshotCache();
  const workbench = createWorkbench(deps, clientKeys);
  const countUse = createUsage({
    ...deps,
    boundsMs: LATENCY_BOUNDS_MS,
    write: (counted) => deps.database.run(noteUsage(counted)),
  });
  const noteRefusal = createRefusals(deps, deps.config.ADMIN_REFUSALS_SECONDS * 1000, (refusals) =>
    deps.database.run(noteRefusals(refusals)),
  );
  const noteMisses = createMisses(deps, (site, misses) =>
    inSite(deps.database, site).run(noteCodeMisses(site, misses)),
  );
  const isolate: Isolate = { snapshots, noteMisses };
  const mounts: readonly Mount[] = [
    {
      baseUrl: config.INTEGRATION_OAUTH_PUBLIC_BASE_URL,
      roots: ['.well-known', 'oauth2'],
      surface: createOauth(deps, clientKeys, countUse('token'), noteRefusal('token')),
      outside: [metadataPathOf(config.INTEGRATION_OAUTH_PUBLIC_BASE_URL)],
    },
    {
      baseUrl: config.INTEGRATION_FHIR_PUBLIC_BASE_URL,
      roots: ['fhir'],
      surface: createFhir(deps, countUse('fhir'), noteRefusal('fhir')),
    },
    {
      baseUrl: config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL,
      roots: ['hl7'],
      surface: createHl7(deps, isolate, viewCheck, countUse('hl7'), noteRefusal('hl7')),
    },
    { baseUrl: config.ADMIN_PUBLIC_BASE_URL, roots: ['admin'], surface: createAdmin(deps, workbench) },
    ...referenceBaseUrls(config).map((baseUrl) => ({
      baseUrl,
      roots: ['docs'],
      surface: createReference(deps, baseUrl, adminOperations(deps, workbench)),
    })),
    // The sidecars' path has no public address, so it is served on every host, without a prefix.
    {
      baseUrl: '',
      roots: ['internal'],
      surface: createMllpIngest(deps, isolate, countUse('mllp'), noteRefusal('mllp')),
    },
  ];
  const hosts = new Set(surfaceUrls(config).map((url) => new URL(url).host));
  const routes = mounts
    .toSorted((a, b) => pathPrefix(b.baseUrl).length - pathPrefix(a.baseUrl).length)
    .map((mount) => routeOf(mount, hosts));

  const probes = createProbes(
    deps,
    mounts.map(({ baseUrl }) => pathPrefix(baseUrl)),
    (host) => placesOf(config).filter(({ baseUrl }) => hosts.size < 2 || new URL(baseUrl).host === host),
  );
  const plain = plainAddresses(config);
  if (plain.length > 0) {
    deps.log({ level: 'warn', event: 'plain-http', detail: 'addresses without TLS', problems: plain });
  }

  return {
    async fetch(request: Request): Promise<Response> {
      const path = pathOf(request.url);
      const route = routes.find(({ isBelow, isHostOf }) => isBelow(path) && isHostOf(request.url));
      return (route?.surface ?? probes).fetch(request);
    },
    serveChanges(site): Promise<boolean> {
      const database = forJobs(deps.database);
      return serveSite({ ...deps, database }, site, deps.now() + WAKE_UP_BUDGET_MS).catch((error: unknown) => {
        deps.log({ level: 'warn', event: 'changes.failed', site, error });
        return false;
      });
    },
    async tick(): Promise<void> {
      snapshots.sweep(deps.now());
      try {
        const database = forJobs(deps.database);
        const changes = config.FHIR_SUBSCRIPTIONS ? [askForChanges()] : [];
        await database.batch([askForRetention(), askForAlerts(), askForAlike(), ...changes]);
        const kinds = jobKinds(deps).map(({ kind, step }): JobKind => ({
          kind,
          step: async (given, job) => (await deps.measured(() => step(given, job))).result,
        }));
        await tick({ ...deps, database }, kinds, TICK_BUDGET_MS);
      } catch (error) {
        // The database is unavailable. The next call tries again.
        deps.log({ level: error instanceof Fault ? 'warn' : 'error', event: 'job.tick', error });
      }
    },
  };
}
