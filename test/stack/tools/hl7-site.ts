/** A site whose key sends messages straight into `ingest`, through the real driver, and what is then in the database. */

import { createSnapshotCache, type SnapshotCache } from '../../../edge/hl7/ingest/snapshot/cache.ts';
import { cutMessage } from '../../../edge/hl7/ingest/cut-documents.ts';
import { ingest, type IngestDeps, type Ingested } from '../../../edge/hl7/ingest/ingest.ts';
import type { Database, Deps } from '../../../edge/deps.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { neonDatabase } from '../../../edge/platform/neon.ts';
import { isJsonObject, parseJson, type JsonObject } from '../../../shared/json.ts';
import { type TestDatabase, useTestDatabase } from './database.ts';
import { createApiKey, createSite, type ApiKeyOptions, type SiteOptions } from '../services/seed.ts';
import { bytesOf, errorsOf } from './hl7-text.ts';
import { testDeps } from './test-deps.ts';
import { callerOf } from './caller.ts';

/** The person who requests a replay. */
export const ADA = { kind: 'person', name: '1', address: '192.0.2.7' } as const;

export interface Hl7Site {
  readonly db: TestDatabase;
  /** As of one isolate, which caches snapshots. */
  readonly deps: Deps & { readonly snapshots: SnapshotCache };
  /** For what is asked about the site past the gateway's own requests. */
  readonly database: Database;
  readonly site: string;
  readonly clientId: string;
  /** Sends a message: segments one a line. @param by what is put over `deps` */
  readonly send: (message: string | Uint8Array, by?: Partial<IngestDeps>) => Promise<Sent>;
  /** Sends a message by another key of the site, one for each name. */
  readonly sendByOther: (message: string, by?: Partial<IngestDeps>, name?: string) => Promise<Sent>;
  /** The current resources of a type, in the order they were made. */
  resources(type: string): Promise<(JsonObject & { id: string; version: number })[]>;
  messages(): Promise<readonly StoredMessage[]>;
}

interface StoredMessage {
  readonly outcome: string;
  readonly control_id: string;
  readonly message_type: string;
  readonly raw: Buffer;
  readonly ack: Buffer | null;
  readonly errors: readonly { readonly code: string; readonly at?: string }[];
}

export interface Sent extends Ingested {
  readonly text: string;
  /** `E 101 PID^1^3` of each ERR. */
  readonly errors: readonly string[];
}

export async function createHl7Site(
  options: SiteOptions & {
    readonly key?: Partial<ApiKeyOptions>;
    readonly database?: TestDatabase;
    /** The owner sees the rows of every site: what then is of one site is so by the statement's own condition. */
    readonly asOwner?: true;
  } = {},
): Promise<Hl7Site> {
  const db = options.database ?? (await useTestDatabase());
  const site = await createSite(db.client, options);
  const { clientId } = await createApiKey(db.client, { site, ...options.key });
  const database = neonDatabase({
    DATABASE_URL: options.asOwner ? db.ownerUrl : db.url,
    DATABASE_FETCH_ENDPOINT: db.endpoint.url,
  });
  const deps = {
    ...testDeps({ database, now: () => Date.now() }),
    snapshots: createSnapshotCache(),
  };
  const caller = callerOf(site, clientId);
  const others = new Map<string, Promise<string>>();
  const send = async (message: string | Uint8Array, of = caller, by?: Partial<IngestDeps>): Promise<Sent> => {
    const ingested = await ingest(
      { ...deps, ...by },
      {
        sender: { kind: 'caller', caller: of },
        ...(await cutMessage(bytesOf(message), Infinity)),
        source: { kind: 'http', address: '192.0.2.7' },
        requestId: 'request-1',
      },
    );
    if (ingested.status === 'no-sender') throw new Error('no key was found');
    const text = ingested.ack === null ? '' : new TextDecoder('latin1').decode(ingested.ack);
    return { ...ingested, text, errors: errorsOf(text) };
  };

  return {
    db,
    deps,
    database: inSite(database, site),
    site,
    clientId,
    send: (message, by) => send(message, caller, by),
    async sendByOther(message, by, name = '') {
      const other = others.get(name) ?? createApiKey(db.client, { site, ...options.key }).then((key) => key.clientId);
      others.set(name, other);
      return send(message, callerOf(site, await other), by);
    },
    async resources(type) {
      const { rows } = await db.client.query<{ id: string; version: number; meta: string; body: string }>(
        'select id, version, meta, body from resource where site_id = $1 and type = $2 order by id',
        [site, type],
      );
      return rows.map(({ id, version, meta, body }) => {
        const content = parseJson(`{${body}}`);
        const metaContent = parseJson(`{${meta}}`);
        if (!isJsonObject(content)) throw new Error('not an object');
        return { ...content, id, version, meta: metaContent };
      });
    },
    async messages() {
      const { rows } = await db.client.query<StoredMessage>(
        `select m.outcome, m.control_id, m.message_type, m.raw, a.ack, m.errors
           from hl7_message m
           left join lateral (
             select a.ack from hl7_attempt a
              where a.site_id = m.site_id and a.message_id = m.message_id order by a.number desc limit 1) a on true
          where m.site_id = $1 order by m.message_id`,
        [site],
      );
      return rows;
    },
  };
}
