/** The database as the gateway's own login sees it: schema, and what the login could do that it must not. */
import type { Database, Query } from '../../deps.ts';
import { schemaVersion } from '../../store/schema-version.ts';
import { SCHEMA_VERSION } from '../../store/schema.generated.ts';
import { instantOf, raw, read } from '../../store/sql.ts';
import { REQUEST_LIMITS } from '../../store/time-limits.ts';
import { bad, type Finding, good } from './finding.ts';

const SLOW_MS = 1_000;
/** Tokens are judged by the edge's clock, sessions and retention by the database's. */
const MAX_CLOCK_SECONDS = 30;

interface LoginRow {
  readonly name: string;
  readonly is_almighty: boolean;
  readonly owns: boolean;
  /** Tables with rows of sites that no policy holds back. */
  readonly unwalled: readonly string[];
  /** What a statement may take where its transaction says nothing, in milliseconds; 0: without end. */
  readonly statement_ms: number;
  readonly at: string;
}

const login = (): Query<LoginRow> =>
  read<LoginRow>`select current_user as name, r.rolsuper or r.rolbypassrls as is_almighty,
      exists (select from pg_class c where c.relowner = r.oid and c.relnamespace = 'public'::regnamespace) as owns,
      array(select c.relname::text from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'site_id'
             where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
               and not (c.relrowsecurity and exists (select from pg_policy p where p.polrelid = c.oid))
             order by 1) as unwalled,
      (select s.reset_val::integer from pg_settings s where s.name = 'statement_timeout') as statement_ms,
      ${raw(instantOf('clock_timestamp()'))} as at
    from pg_roles r where r.rolname = current_user`;

/** A request that is one statement has no other limit in the database, which would work on for nobody. */
function timeLimit({ name, statement_ms: ms }: LoginRow): Finding {
  return ms > 0 && ms <= REQUEST_LIMITS.answerMs
    ? good('time limit', `a statement of ${name} ends after ${ms} ms`)
    : bad(
        'time limit',
        `a statement of ${name} ${ms === 0 ? 'has no end' : `ends after ${ms} ms`}, when nobody waits any more`,
        `alter role ${name} set statement_timeout = '8s'; new connections have it`,
      );
}

/** Neon's host names tell the region: ep-…[-pooler].eu-central-1.aws.neon.tech. */
function place(url: string): Finding[] {
  const [, region, cloud] = /\.([a-z0-9-]+)\.(aws|azure)\.neon\.tech$/.exec(new URL(url).hostname) ?? [];
  return region === undefined || cloud === undefined
    ? []
    : [good('region', `the database is in ${cloud}:${region}, which is what placement in wrangler.toml should say`)];
}

/**
 * @param url the connection string that it was reached by; nothing of it is told but the region
 * @param now milliseconds since the epoch
 */
export async function checkDatabase(database: Database, url: string, now: () => number): Promise<Finding[]> {
  const started = now();
  const [[state], [who]] = await database.batch([schemaVersion(), login()] as const);
  const ended = now();
  const { version, missing, is_writable: isWritable } = state ?? { version: 0, missing: [], is_writable: false };
  const off = Math.round(Math.abs(Date.parse(who?.at ?? '') - (started + ended) / 2) / 1000);
  return [
    version >= SCHEMA_VERSION && missing.length === 0
      ? good('migrations', `at ${version}, all functions are there`)
      : bad(
          'migrations',
          `at ${version}, ${SCHEMA_VERSION} is needed; missing: ${missing.join(', ') || 'nothing'}`,
          'npm run migrate',
        ),
    isWritable
      ? good('writes', 'the database takes them')
      : bad('writes', 'the database is read-only, or a replica', 'DATABASE_URL: the primary; is its disk full?'),
    who !== undefined && !who.is_almighty && !who.owns
      ? good('role', `${who.name} owns nothing`)
      : bad(
          'role',
          `${who?.name ?? '?'} owns tables or passes over row security`,
          'edge/docs/deploy.md, step 1: a login of its own',
        ),
    who?.unwalled.length === 0
      ? good('row security', 'every table with rows of sites has a policy')
      : bad('row security', `without a policy: ${who?.unwalled.join(', ') ?? '?'}`, 'npm run migrate, as the owner'),
    ...(who === undefined ? [] : [timeLimit(who)]),
    ended - started > SLOW_MS
      ? bad('database', `it took ${ended - started} ms to answer`, 'put the Worker near it; let it not sleep')
      : good('database', `it answered in ${ended - started} ms`),
    off > MAX_CLOCK_SECONDS
      ? bad('database clock', `it differs by ${off} s`, 'set the clock of the database’s machine, or of the gateway’s')
      : good('database clock', 'as the gateway’s'),
    ...place(url),
  ];
}
