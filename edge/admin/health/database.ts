/** Checks the database with the gateway's login: the schema, and rights that the login must not have. */
import { PLANS_OFF, STATEMENT_TIMEOUT } from '../../../shared/login-settings.ts';
import type { Database, Query } from '../../deps.ts';
import { schemaVersion } from '../../store/schema-version.ts';
import { SCHEMA_VERSION } from '../../store/schema.generated.ts';
import { instantOf, raw, read } from '../../store/sql.ts';
import { REQUEST_LIMITS } from '../../store/time-limits.ts';
import { bad, type Finding, good } from './finding.ts';

const SLOW_MS = 1_000;
/** The edge's clock counts for tokens, the database's for sessions and retention. */
const MAX_CLOCK_SECONDS = 30;

interface LoginRow {
  readonly name: string;
  readonly is_almighty: boolean;
  readonly owns: boolean;
  /** Tables with rows of sites but without a policy. */
  readonly unwalled: readonly string[];
  /** The limit of a statement whose transaction sets none, in milliseconds; 0: no limit. */
  readonly statement_ms: number;
  /** The settings of plans that `npm run migrate` switches off and that are on. */
  readonly plans_on: readonly string[];
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
      array(select s.name from pg_settings s where s.name = any (${PLANS_OFF}::text[]) and s.reset_val = 'on' order by 1) as plans_on,
      ${raw(instantOf('clock_timestamp()'))} as at
    from pg_roles r where r.rolname = current_user`;

/** A request of one statement has no other limit in the database. */
function timeLimit({ name, statement_ms: ms }: LoginRow): Finding {
  return ms > 0 && ms <= REQUEST_LIMITS.answerMs
    ? good('time limit', `a statement of ${name} ends after ${ms} ms`)
    : bad(
        'time limit',
        `a statement of ${name} ${ms === 0 ? 'has no limit' : `ends after ${ms} ms`}, longer than a request waits`,
        `alter role ${name} set statement_timeout = '${STATEMENT_TIMEOUT}'; it applies to new connections`,
      );
}

const plans = ({ name, plans_on: on }: LoginRow): Finding =>
  on.length === 0
    ? good('plans', `${name} reads no whole tables`)
    : bad(
        'plans',
        `${name} has ${on.join(' and ')} on, so a search may read the rows of all sites`,
        `npm run migrate with LOGIN_URL, or ${on.map((each) => `alter role ${name} set ${each} = off`).join('; ')}; it applies to new connections`,
      );

/** Neon's host names contain the region: ep-…[-pooler].eu-central-1.aws.neon.tech. */
function place(url: string): Finding[] {
  const [, region, cloud] = /\.([a-z0-9-]+)\.(aws|azure)\.neon\.tech$/.exec(new URL(url).hostname) ?? [];
  return region === undefined || cloud === undefined
    ? []
    : [good('region', `the database is in ${cloud}:${region}; placement in wrangler.toml should have the same region`)];
}

/**
 * @param url the connection string; the findings contain only its region
 * @param now milliseconds since the epoch
 */
export async function checkDatabase(database: Database, url: string, now: () => number): Promise<Finding[]> {
  const started = now();
  const [[state], [who]] = await database.batch([schemaVersion(), login()] as const);
  const ended = now();
  const { version, missing, is_writable: isWritable } = state ?? { version: 0, missing: [], is_writable: false };
  const isLogin = who !== undefined && !who.is_almighty && !who.owns;
  const off = Math.round(Math.abs(Date.parse(who?.at ?? '') - (started + ended) / 2) / 1000);
  return [
    version >= SCHEMA_VERSION && missing.length === 0
      ? good('migrations', `at ${version}, all functions exist`)
      : bad(
          'migrations',
          `at ${version}, ${SCHEMA_VERSION} is needed; missing: ${missing.join(', ') || 'nothing'}`,
          'npm run migrate',
        ),
    isWritable
      ? good('writes', 'the database accepts them')
      : bad(
          'writes',
          'the database is read-only, or a replica',
          'let DATABASE_URL point to the primary, and check its disk',
        ),
    isLogin
      ? good('role', `${who.name} owns nothing`)
      : bad(
          'role',
          `${who?.name ?? '?'} owns tables or bypasses row security`,
          'set DATABASE_URL to the connection string of the gateway’s login (edge/docs/deploy.md, step 1)',
        ),
    who?.unwalled.length === 0
      ? good('row security', 'every table with rows of sites has a policy')
      : bad('row security', `without a policy: ${who?.unwalled.join(', ') ?? '?'}`, 'npm run migrate, as the owner'),
    // The owner has neither: a limit would end its backups and migrations.
    ...(isLogin ? [timeLimit(who), plans(who)] : []),
    ended - started > SLOW_MS
      ? bad('database', `it took ${ended - started} ms to answer`, 'place the Worker near it, and switch off its sleep')
      : good('database', `it answered in ${ended - started} ms`),
    off > MAX_CLOCK_SECONDS
      ? bad('database clock', `it is ${off} s off`, 'set the clock of the database’s machine, or of the gateway’s')
      : good('database clock', 'it agrees with the gateway’s'),
    ...place(url),
  ];
}
