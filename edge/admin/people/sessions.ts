/** The open sessions, for the JSON API and the page. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Database, Query } from '../../deps.ts';
import { endSession, endSessions, listSessions, type SessionRow } from '../../store/console-session.ts';
import { inSite } from '../../store/in-site.ts';
import { fromCursor, INSTANT_PART, type List, toList, UUID_PART, viewList } from '../api/cursor.ts';
import { paging } from '../api/operation.ts';

export const sessionQuery = z.strictObject(paging);

export const sessionItem = z.object({
  sessionId: z.uuid(),
  subject: z.string().meta({ description: 'The `sub` of the OpenID provider.' }),
  name: z.string(),
  startedAt: z.iso.datetime(),
  seenAt: z.iso.datetime().meta({ description: 'The last request, to the minute.' }),
  sourceAddress: z.string(),
  userAgent: z.string().meta({ description: 'The User-Agent header of the sign-in.' }),
});
export type SessionView = z.infer<typeof sessionItem>;

const view = (row: SessionRow): SessionView => ({
  sessionId: row.session_id,
  subject: row.subject,
  name: row.name,
  startedAt: row.started_at,
  seenAt: row.seen_at,
  sourceAddress: row.source_address,
  userAgent: row.user_agent,
});

interface SessionPage {
  readonly query: Query<SessionRow>;
  readonly list: (rows: readonly SessionRow[]) => List<SessionView>;
}

/** A page of the site's sessions, the newest first. @throws Fault `malformed` for a cursor that is not valid */
export function sessionPage(site: string, { limit, cursor }: z.infer<typeof sessionQuery>): SessionPage {
  const after = fromCursor(cursor, INSTANT_PART, UUID_PART);
  return {
    query: listSessions(site, after, limit + 1),
    list: (rows) =>
      viewList(
        toList(rows, limit, (row) => [row.started_at, row.session_id]),
        view,
      ),
  };
}

/** Ends all sessions of the site. @returns their number */
export async function endAll(database: Database, site: string): Promise<number> {
  return (await inSite(database, site).run(endSessions(site))).length;
}

/** Ends a session of the site. @throws Fault `not-found` if the site has no such open session */
export async function endOne(database: Database, site: string, session: string): Promise<void> {
  const [ended] = isUuid(session) ? await inSite(database, site).run(endSession({ site, session })) : [];
  if (ended === undefined) throw new Fault('not-found', 'there is no such session');
}
