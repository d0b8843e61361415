/**
 * A trial of 20 rules on 10,000 messages of one key (test/messages), by the runner of jobs. A deployment runs jobs for 20 s of each
 * minute, and a Worker may send some hundred requests to the database meanwhile. So the minutes of a trial follow from both.
 */
import { createSnapshotCache } from '../../edge/hl7/ingest/snapshot/cache.ts';
import { cutMessage } from '../../edge/hl7/ingest/cut-documents.ts';
import { ingest } from '../../edge/hl7/ingest/ingest.ts';
import { tryRules } from '../../edge/hl7/ingest/replay/rules-trial.ts';
import { startTrial, findTrial } from '../../edge/admin/rules/trial.ts';
import { tick } from '../../edge/jobs/tick.ts';
import { PERMISSIONS } from '../../edge/permissions.ts';
import { neonDatabase } from '../../edge/platform/neon.ts';
import { saveRulesDraft } from '../../edge/store/admin-rules.ts';
import { inSite } from '../../edge/store/in-site.ts';
import { MAX_TRIED } from '../../edge/store/rules-trial.ts';
import { forJobs } from '../../edge/store/time-limits.ts';
import { corpus } from '../inputs/hl7-corpus.ts';
import { TWENTY_RULES } from './twenty-rules.ts';
import { createApiKey } from '../stack/services/seed.ts';
import { callerOf } from '../stack/tools/caller.ts';
import { testDeps } from '../stack/tools/test-deps.ts';
import { cpuMicrosOf } from './cpu.ts';
import { startBenchDatabase } from './database.ts';

/** The time of jobs in each minute (edge/app.ts). */
const TICK_MS = 20_000;
const MAX_MINUTES = 10;
/** The limit of a Worker for one call. */
const MAX_REQUESTS = 1000;

export interface Row {
  readonly messages: number;
  readonly seconds: number;
  readonly 'messages a second': number;
  readonly 'CPU ms of the gateway': number;
  readonly 'CPU ms of PostgreSQL': number;
  readonly 'database requests': number;
  /** By the runner of a deployment. */
  readonly minutes: number;
  readonly 'at most 10 minutes': 'yes' | 'no';
}

export async function bench(): Promise<Row[]> {
  const base = await startBenchDatabase();
  const { client, site, endpoint, applicationUrl, pids } = base;
  try {
    const { clientId } = await createApiKey(client, { site });
    const database = neonDatabase({ DATABASE_URL: applicationUrl, DATABASE_FETCH_ENDPOINT: endpoint.url });
    const deps = { ...testDeps({ database, now: () => Date.now() }), snapshots: createSnapshotCache() };
    for (const { bytes } of corpus()) {
      const message = await cutMessage(bytes, Infinity);
      const source = { kind: 'http', address: '192.0.2.7' } as const;
      const sender = { kind: 'caller', caller: callerOf(site, clientId) } as const;
      await ingest(deps, { ...message, sender, source, requestId: 'bench' });
    }
    // Each message many times.
    await client.query(
      `insert into hl7_message
         select (jsonb_populate_record(m, jsonb_build_object('message_id', gen_random_uuid(), 'sha256', m.sha256 || n,
                   'received_at', m.received_at + n * interval '1 s'))).*
           from hl7_message m cross join generate_series(1, $2::int) n where m.site_id = $1
          limit $2::int - (select count(*) from hl7_message where site_id = $1)`,
      [site, MAX_TRIED],
    );
    await client.query('vacuum analyze');
    await inSite(database, site).run(saveRulesDraft(site, clientId, 0, TWENTY_RULES, 'bench'));
    const permissions = new Set(Object.keys(PERMISSIONS)) as unknown as ReadonlySet<keyof typeof PERMISSIONS>;
    await startTrial(database, { subject: '1', name: 'Bench', site, permissions }, clientId, { messages: MAX_TRIED });

    const spent = () => [process.cpuUsage().user + process.cpuUsage().system, cpuMicrosOf(pids())];
    const [began, before, requested] = [performance.now(), spent(), await endpoint.requests()];
    await tick({ ...deps, database: forJobs(database) }, [tryRules(deps)], Infinity);
    const seconds = (performance.now() - began) / 1000;
    const [gateway = 0, postgres = 0] = spent().map((micros, at) => Math.round((micros - (before[at] ?? 0)) / 1000));
    const requests = (await endpoint.requests()) - requested;
    const trial = await findTrial(database, site, clientId);
    if (trial?.state !== 'done' || trial.done !== MAX_TRIED) throw new Error(`the trial is ${trial?.state}`);
    const minutes = Math.ceil(Math.max((seconds * 1000) / TICK_MS, requests / MAX_REQUESTS));
    return [
      {
        messages: trial.done,
        seconds: Math.round(seconds),
        'messages a second': Math.round(trial.done / seconds),
        'CPU ms of the gateway': gateway,
        'CPU ms of PostgreSQL': postgres,
        'database requests': requests,
        minutes,
        'at most 10 minutes': minutes <= MAX_MINUTES ? 'yes' : 'no',
      },
    ];
  } finally {
    await base.stop();
  }
}
