/** The database as the gateway's own login sees it: schema, and what the login could do that it must not. */
import { SCHEMA_VERSION, schemaVersion } from '../../../store/schema-version.ts';
import { read } from '../../../store/sql.ts';
import { connectDatabase } from '../database.ts';
import { bad, type Finding, findingsOf, good, unknown } from './finding.ts';

interface LoginRow {
  readonly name: string;
  readonly is_almighty: boolean;
  readonly owns: boolean;
}

const login = () =>
  read<LoginRow>`select current_user as name, r.rolsuper or r.rolbypassrls as is_almighty,
      exists (select from pg_class c where c.relowner = r.oid and c.relnamespace = 'public'::regnamespace) as owns
    from pg_roles r where r.rolname = current_user`;

/** Neon's host names tell the region: ep-…[-pooler].eu-central-1.aws.neon.tech. */
function place(url: string): Finding[] {
  const [, region, cloud] = /\.([a-z0-9-]+)\.(aws|azure)\.neon\.tech$/.exec(new URL(url).hostname) ?? [];
  return region === undefined || cloud === undefined
    ? []
    : [good('region', `the database is in ${cloud}:${region}, which is what placement in wrangler.toml should say`)];
}

async function look(url: string): Promise<Finding[]> {
  const database = await connectDatabase(url);
  try {
    const [state] = await database.run(schemaVersion());
    const [who] = await database.run(login());
    const { version, missing } = state ?? { version: 0, missing: [] };
    return [
      version >= SCHEMA_VERSION && missing.length === 0
        ? good('migrations', `at ${version}, all functions are there`)
        : bad(
            'migrations',
            `at ${version}, ${SCHEMA_VERSION} is needed; missing: ${missing.join(', ') || 'nothing'}`,
            'npm run migrate',
          ),
      who !== undefined && !who.is_almighty && !who.owns
        ? good('role', `${who.name} owns nothing`)
        : bad(
            'role',
            `${who?.name ?? '?'} owns tables or passes over row security`,
            'README.md, Deploy, step 1: a login of its own',
          ),
      ...place(url),
    ];
  } finally {
    await database.close();
  }
}

/** @param url the gateway's own DATABASE_URL, where it is at hand */
export const checkDatabase = (url: string | undefined): Promise<readonly Finding[]> =>
  url === undefined
    ? Promise.resolve([unknown('database role', 'DATABASE_URL: the connection string that the gateway has')])
    : findingsOf('database', () => look(url));
