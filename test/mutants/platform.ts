/** Seeded defects of edge/platform and edge/http: single use, limits, what is fetched, what is logged. */
import type { Mutant } from './mutant.ts';

const CLAIM = ['test/unit/platform/claim.test.ts'];
const LIMITER = ['test/unit/platform/rate-limiter.test.ts'];
const JTI = ['test/integration/platform/jti-store.test.ts'];
const KEYS = ['test/unit/oauth/client-keys.test.ts'];
const STORE = ['test/integration/store/fhir-store.test.ts'];
const OAUTH = ['test/contract/oauth.test.ts'];
const SURFACES = ['test/contract/surfaces.test.ts'];
const FHIR_LIMITS = ['test/contract/fhir-limits.test.ts'];

export const PLATFORM: readonly Mutant[] = [
  {
    name: 'a claim that fails is a first use',
    file: 'edge/platform/claim.ts',
    find: "if (attempt === ATTEMPTS) throw new Fault('unavailable', 'single use cannot be checked at the moment', { cause });",
    replace: 'if (attempt === ATTEMPTS) return true || cause;',
    tests: CLAIM,
  },
  {
    name: 'a claim waits for ever',
    file: 'edge/platform/claim.ts',
    find: 'return await Promise.race([claim(), deadline(DEADLINE_MS).passed]);',
    replace: 'return await claim();',
    tests: CLAIM,
  },
  {
    name: 'a claim is not tried again',
    file: 'edge/platform/claim.ts',
    find: 'const ATTEMPTS = 2;',
    replace: 'const ATTEMPTS = 1;',
    tests: CLAIM,
  },
  {
    name: 'a store without an answer says first',
    file: 'edge/platform/postgres-jti-store.ts',
    find: 'return row?.first ?? false;',
    replace: 'return row?.first !== undefined;',
    tests: OAUTH,
    only: 'on deno.*(used|use|replay|once)',
  },
  {
    name: 'a second use on Workers is a first',
    file: 'edge/platform/cloudflare/jti-store.ts',
    find: 'return found?.attempt === attempt;',
    replace: 'return found !== undefined;',
    tests: JTI,
  },
  {
    name: 'our own retry is a replay on Workers',
    file: 'edge/platform/cloudflare/jti-store.ts',
    find: 'return found?.attempt === attempt;',
    replace: 'return false;',
    tests: JTI,
  },
  {
    name: 'claims are forgotten before they expire',
    file: 'edge/platform/cloudflare/jti-store.ts',
    find: "'delete from claim where expires <= ?', Math.floor(Date.now() / 1000)",
    replace: "'delete from claim where expires <= ?', Math.floor(Date.now() / 1000) + 3600",
    tests: JTI,
  },
  {
    name: 'claims are never forgotten',
    file: 'edge/platform/cloudflare/jti-store.ts',
    find: 'void this.ctx.storage.setAlarm(expires * 1000);',
    replace: '',
    tests: JTI,
  },
  {
    name: 'a limit lets one more through',
    file: 'edge/platform/memory-rate-limiter.ts',
    find: 'return current.count <= limitOf[bucket];',
    replace: 'return current.count <= limitOf[bucket] + 1;',
    tests: LIMITER,
  },
  {
    name: 'two buckets are one',
    file: 'edge/platform/memory-rate-limiter.ts',
    find: 'const name = `${bucket} ${key}`;',
    replace: 'const name = key;',
    tests: LIMITER,
  },
  {
    name: 'a window never ends',
    file: 'edge/platform/memory-rate-limiter.ts',
    find: 'current.ends > time',
    replace: 'current.ends > 0',
    tests: LIMITER,
  },
  {
    name: 'an array parameter is not quoted',
    file: 'edge/platform/neon.ts',
    find: `item.replace(/["\\\\]/g, '\\\\$&')`,
    replace: 'item',
    tests: STORE,
  },
  {
    name: 'a write is asked again whatever became of it',
    file: 'edge/platform/neon.ts',
    find: "return isHarmless && (state === ''",
    replace: "return (state === ''",
    tests: ['test/integration/platform/passing-fault.test.ts'],
  },
  {
    name: 'what says that it reads may write',
    file: 'edge/platform/neon.ts',
    find: 'readOnly: readsOnly(queries)',
    replace: 'readOnly: false',
    tests: ['test/integration/platform/passing-fault.test.ts'],
  },
  {
    name: 'one request is told the database requests of another',
    file: 'edge/platform/database-meter.ts',
    find: 'const spent = { requests: 0, ms: 0 };',
    replace: 'const spent = (context.shared ??= { requests: 0, ms: 0 });',
    tests: ['test/unit/platform/database-meter.test.ts'],
  },
  {
    name: 'a deadline is told by our own clock',
    file: 'edge/platform/neon.ts',
    find: 'limitTime(deadline + clock.aheadMs(), limits)',
    replace: 'limitTime(deadline, limits)',
    tests: ['test/integration/platform/wrong-clock.test.ts'],
  },
  {
    name: 'a transaction that began too late is done',
    file: 'migrations/functions/limit_time.sql',
    find: 'if at >= p_deadline then',
    replace: 'if false then',
    tests: ['test/contract/database-away.test.ts'],
  },
  {
    name: 'time that has really passed is taken for a wrong clock',
    file: 'edge/platform/database-clock.ts',
    find: 'if (atLeast <= aheadMs + TOLERATED_MS) return false;',
    replace: '',
    tests: ['test/unit/platform/database-clock.test.ts'],
  },
  {
    name: 'a database that is away is a bug',
    file: 'edge/platform/neon.ts',
    find: "if (state === '') return unreachable(error);",
    replace: "if (state === '') return error;",
    tests: FHIR_LIMITS,
  },
  {
    name: 'a private address is fetched',
    file: 'edge/http/fetch-jwks.ts',
    find: "if (!addresses.every(isPublicAddress)) return refused('its host name leads to a private address');",
    replace: '',
    tests: KEYS,
  },
  {
    name: 'one public address of several is enough',
    file: 'edge/http/fetch-jwks.ts',
    find: '!addresses.every(isPublicAddress)',
    replace: '!addresses.some(isPublicAddress)',
    tests: KEYS,
  },
  {
    name: 'redirects are followed',
    file: 'edge/http/fetch-jwks.ts',
    find: "redirect: 'manual'",
    replace: "redirect: 'follow'",
    tests: KEYS,
  },
  {
    name: 'any status will do',
    file: 'edge/http/fetch-jwks.ts',
    find: 'if (response.status !== 200) {',
    replace: 'if (response.status >= 500) {',
    tests: KEYS,
  },
  {
    name: 'a JWKS without end',
    file: 'edge/http/fetch-jwks.ts',
    find: 'if (length > MAX_JWKS_BYTES)',
    replace: 'if (length < 0)',
    tests: KEYS,
  },
  {
    name: 'a JWKS may be kept for ever',
    file: 'edge/http/fetch-jwks.ts',
    find: 'return Math.min(Math.max(maxAge, 0), LONGEST_MAX_AGE_SECONDS);',
    replace: 'return Math.max(maxAge, 0);',
    tests: KEYS,
  },
  {
    name: 'no-store is kept',
    file: 'edge/http/fetch-jwks.ts',
    find: 'if (/(?:^|[\\s,])no-(?:store|cache)\\b/.test(control)) return 0;',
    replace: '',
    tests: KEYS,
  },
  {
    name: 'a body is read whatever its length',
    file: 'edge/http/body.ts',
    find: '      if (length > maxBytes) throw tooLarge();\n',
    replace: '',
    tests: OAUTH,
    only: 'on deno.* 3:',
  },
  {
    name: 'a request id is taken as it comes',
    file: 'edge/http/surface.ts',
    find: 'REQUEST_ID.test(given) ? given : crypto.randomUUID()',
    replace: "given !== '' ? given : crypto.randomUUID()",
    tests: SURFACES,
  },
];
