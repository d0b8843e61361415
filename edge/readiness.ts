/** `/readyz`: the database answers and its migrations are those this build was made for, or newer. */
import { Fault } from '../shared/fault.ts';
import type { Deps } from './deps.ts';
import { SCHEMA_VERSION, schemaVersion } from './store/schema-version.ts';

/** 200 when ready; 503 with what is missing, in words, when not. */
export async function readiness(deps: Deps): Promise<Response> {
  const notReady = (detail: string): Response => {
    deps.log({ level: 'warn', event: 'not-ready', detail });
    return Response.json({ status: 'not ready', detail }, { status: 503 });
  };
  try {
    const rows = await deps.database.run(schemaVersion());
    const version = rows[0]?.version ?? 0;
    if (version >= SCHEMA_VERSION) return Response.json({ status: 'ready', schemaVersion: version });
    return notReady(`the database is at migration ${version}, this build needs ${SCHEMA_VERSION}`);
  } catch (error) {
    if (error instanceof Fault) return notReady('the database cannot be reached');
    return notReady('the database has no migrations');
  }
}
