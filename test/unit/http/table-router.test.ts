import { viewCheck } from '../../../edge/admin/workbench/operations.ts';
import fc from 'fast-check';
import type { Router } from 'hono/router';
import { TrieRouter } from 'hono/router/trie-router';
import { expect, test } from 'vitest';

import { createAdmin } from '../../../edge/admin/routes.ts';
import { createFhir } from '../../../edge/fhir/routes.ts';
import { createTableRouter } from '../../../edge/http/table-router.ts';
import { createHl7 } from '../../../edge/hl7/http/routes.ts';
import { createMllpIngest } from '../../../edge/hl7/mllp/routes.ts';
import type { Surface } from '../../../edge/http/surface.ts';
import { createClientKeyring } from '../../../edge/oauth/client-keys.ts';
import { createOauth } from '../../../edge/oauth/routes.ts';
import { createWorkbench } from '../../../edge/workbench.ts';
import { testDeps } from '../../stack/tools/test-deps.ts';

const deps = testDeps({ now: () => 0 });
const keyring = createClientKeyring(deps);
const routesOf = ({ routes }: Pick<Surface, 'routes'>) => routes.map(({ method, path }) => ({ method, path }));
type Routes = ReturnType<typeof routesOf>;
const SURFACES: Readonly<Record<string, Routes>> = {
  fhir: routesOf(createFhir(deps)),
  oauth: routesOf(createOauth(deps, keyring)),
  hl7: routesOf(createHl7(deps, {}, viewCheck)),
  mllp: routesOf(createMllpIngest(deps, {})),
  admin: routesOf(createAdmin(deps, createWorkbench(deps, keyring))),
};

/** The routes that a router finds, by number, and the parameters of each. */
function finder(router: Router<number>, routes: Routes) {
  for (const [index, { method, path }] of routes.entries()) router.add(method, path, index);
  return (method: string, path: string) => {
    const [found, stash] = router.match(method, path);
    return found.map(([index, params]) => [
      index,
      Object.fromEntries(
        Object.entries(params).map(([name, value]) => [name, stash === undefined ? value : stash[Number(value)]]),
      ),
    ]);
  };
}

/** To Hono's tree a segment that reads as one of a route is that of the route. */
const isPlain = (segment: string): boolean => !/[:*]/.test(segment);

const SEGMENTS = [
  '',
  'Patient',
  'Observation',
  'Group',
  '0199',
  '_history',
  '_search',
  '$validate',
  '$everything',
  '$export',
];

test.each(Object.entries(SURFACES))('finds the same handlers as the router of Hono in %s', (_, routes) => {
  const [ours, theirs] = [finder(createTableRouter(), routes), finder(new TrieRouter<number>(), routes)];
  const segments = [...new Set([...SEGMENTS, ...routes.flatMap(({ path }) => path.split('/'))])].filter(isPlain);
  const segment = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...segments) },
    fc.webPath().map((text) => text.replaceAll(/[/:*]/g, '')),
  );
  const below = fc.constantFrom(...routes.map(({ path }) => path.replace(/[:*].*$/, '').replace(/\/$/, '')));
  const path = fc
    .tuple(below, fc.array(segment, { maxLength: 4 }))
    .map(([start, rest]) => [start, ...rest].join('/') || '/');
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE');
  fc.assert(
    fc.property(method, path, (asked, at) => {
      expect(ours(asked, at)).toEqual(theirs(asked, at));
    }),
    { numRuns: 3_000 },
  );
});
