/**
 * The fault test of MLLP: senders that resend, bad networks before and behind the sidecar, and kills of sidecar, edge and
 * PostgreSQL under traffic. It ends with the invariants.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from 'pg';

import { prepareDatabase } from '../services/application-login.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { freePort } from '../services/free-port.ts';
import { startGateway, type Runtime } from './gateway.ts';
import { startDatabaseEndpoints } from '../services/database-endpoints.ts';
import { startPostgres } from '../services/postgres.ts';
import { randomFrom } from './random.ts';
import { runSender, type SenderReport } from './resending-sender.ts';
import { makeSecrets } from '../services/secrets.ts';
import { createApiKey, createSite } from '../services/seed.ts';
import { startSidecar } from '../services/sidecar.ts';
import { until } from '../services/until.ts';

export interface FaultOptions {
  readonly runtime: Runtime;
  readonly senders: number;
  /** Each kills every part once. */
  readonly rounds: number;
  /** Acknowledged messages between two kills. */
  readonly messagesBetween: number;
  readonly seed: number;
}

export interface FaultReport {
  readonly messages: number;
  readonly repeats: number;
  readonly connections: number;
  readonly cuts: number;
  readonly kills: number;
  /** Empty, or the rule was broken. */
  readonly problems: readonly string[];
}

/** So long may a system take to acknowledge again after a kill: several times the sidecar's longest wait. */
const RECOVERY_MS = 60_000;

const SHARED_MRN = 'SHARED';

/** Odd messages rename the sender's patient, even ones bring a result; every tenth is about a patient all share. */
function messageOf(sender: number, n: number): { controlId: string; text: string } {
  const controlId = `S${sender}-${n}`;
  const header = (type: string) =>
    `MSH|^~\\&|SENDER${sender}|FAULTS|GW|GW|20261101083000+0100||${type}|${controlId}|P|2.5.1\r`;
  const pid = (mrn: string, given: string) => `PID|1||${mrn}^^^FAULTS^MR||Fault^${given}||19701231|F\r`;
  if (n % 2 === 1) {
    const text = `${header('ADT^A08^ADT_A01')}EVN|A08|20261101083000+0100\r${pid(`MRN-${sender}`, controlId)}PV1|1|O\r`;
    return { controlId, text };
  }
  const patient = n % 10 === 0 ? pid(SHARED_MRN, 'Shared') : `PID|1||MRN-${sender}^^^FAULTS^MR\r`;
  const text =
    `${header('ORU^R01^ORU_R01')}${patient}OBR|1|P-${controlId}|F-${controlId}|24326-1^Electrolytes^LN|||20261101\r` +
    `OBX|1|NM|2951-2^Sodium^LN||${100 + (n % 50)}.10|mmol/L|||||F\r`;
  return { controlId, text };
}

/** Runs it all on free ports; nothing is left behind. @throws when the system does not recover from a kill */
export async function runFaults(options: FaultOptions): Promise<FaultReport> {
  const { runtime } = options;
  const random = randomFrom(options.seed);
  const folder = await mkdtemp(join(tmpdir(), 'gateway-faults-'));
  const secrets = await makeSecrets();

  const startDatabase = (port?: number) =>
    startPostgres({ dataDir: `${folder}/postgres`, ...(port === undefined ? {} : { port }) });
  let postgres = await startDatabase();
  const endpoint = await startDatabaseEndpoints({ databaseUrl: postgres.url });
  const url = await prepareDatabase(postgres.url);
  const seeded = await seed(postgres.url);

  const startEdge = (port: number) => {
    const database = { url, endpoint };
    return startGateway({ runtime, database, port, secrets, persistDir: `${folder}/edge` });
  };
  let edge = await startEdge(await freePort());
  const behind = await startCuttingProxy({ targetPort: edge.port, random, meanBytesToCut: 60_000, maxDelayMs: 20 });
  const startListener = (port: number) =>
    startSidecar({
      edgeUrl: `http://127.0.0.1:${behind.port}`,
      privateKey: secrets.sidecarPrivateKey,
      port,
      env: { FORWARD_ATTEMPT_TIMEOUT_SECONDS: '5' },
    });
  let sidecar = await startListener(await freePort());
  const before = await startCuttingProxy({ targetPort: sidecar.port, random, meanBytesToCut: 10_000, maxDelayMs: 20 });

  let acknowledged = 0;
  let isOver = false;
  const senders = Array.from({ length: options.senders }, (_, sender) =>
    runSender({
      port: before.port,
      message: (n) => messageOf(sender, n),
      isOver: () => isOver,
      window: 1 + (sender % 4),
      repeatProbability: 0.05,
      random,
      onAck: () => {
        acknowledged += 1;
      },
    }),
  );

  const victims: Readonly<Record<string, () => Promise<void>>> = {
    async sidecar() {
      await sidecar.kill();
      sidecar = await startListener(sidecar.port);
    },
    async edge() {
      await edge.kill();
      edge = await startEdge(edge.port);
    },
    async postgres() {
      await postgres.kill();
      postgres = await startDatabase(postgres.port);
    },
  };
  const progress = async (what: string): Promise<void> => {
    const goal = acknowledged + options.messagesBetween;
    await until(`messages are acknowledged ${what}`, () => acknowledged >= goal, RECOVERY_MS);
  };

  let kills = 0;
  try {
    await progress('at first');
    for (let round = 0; round < options.rounds; round += 1) {
      for (const [name, kill] of Object.entries(victims)) {
        await kill();
        kills += 1;
        await progress(`after ${name} was killed`);
      }
    }
    isOver = true;
    before.calm();
    behind.calm();
    const reports = await Promise.all(senders);
    const found = await problemsOf(postgres.url, seeded, reports);
    const sum = (count: (report: SenderReport) => number): number =>
      reports.reduce((total, report) => total + count(report), 0);
    return {
      messages: sum((report) => report.count),
      repeats: sum((report) => report.repeats),
      connections: sum((report) => report.connections),
      cuts: before.cuts() + behind.cuts(),
      kills,
      problems: [...reports.flatMap((report) => report.problems), ...found],
    };
  } finally {
    isOver = true;
    await before.close();
    await sidecar.kill();
    await behind.close();
    await edge.stop();
    await endpoint.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

const seed = (url: string): Promise<string> =>
  withClient(url, async (client) => {
    const site = await createSite(client);
    await createApiKey(client, { site, protocols: ['hl7-mllp'], allowedIps: ['127.0.0.1'] });
    return site;
  });

interface StoredRow {
  readonly control_id: string;
  readonly sha256: string;
  readonly ack: string;
}

/** Every message stored once, as it was sent, with the ACK its sender was given, in its sender's order, with its effects once. */
function problemsOf(url: string, site: string, reports: readonly SenderReport[]): Promise<string[]> {
  return withClient(url, async (client) => {
    const problems: string[] = [];
    const { rows } = await client.query<StoredRow>(
      `select m.control_id, encode(sha256(m.raw), 'hex') as sha256,
              (select convert_from(a.ack, 'utf8') from hl7_attempt a
                where a.site_id = m.site_id and a.message_id = m.message_id order by a.number desc limit 1) as ack
         from hl7_message m where m.site_id = $1 order by m.message_id`,
      [site],
    );
    const stored = new Map(rows.map((row) => [row.control_id, row]));
    if (stored.size !== rows.length) problems.push(`${rows.length - stored.size} messages are stored more than once`);
    const order = new Map(rows.map(({ control_id: controlId }, index) => [controlId, index]));

    for (const [sender, { count, acks }] of reports.entries()) {
      let last = -1;
      for (let n = 0; n < count; n += 1) {
        const { controlId, text } = messageOf(sender, n);
        const row = stored.get(controlId);
        if (row === undefined) {
          problems.push(`${controlId} was acknowledged and is not stored`);
          continue;
        }
        if (row.sha256 !== createHash('sha256').update(text).digest('hex')) problems.push(`${controlId} was altered`);
        if (row.ack !== acks.get(controlId)) problems.push(`${controlId} has another ACK than was sent`);
        const place = order.get(controlId) ?? -1;
        if (place < last) problems.push(`${controlId} was stored before the message before it`);
        last = place;
      }
    }
    const sent = reports.reduce((total, { count }) => total + count, 0);
    if (rows.length !== sent) problems.push(`${sent} messages were sent, ${rows.length} are stored`);
    return [...problems, ...(await effectProblems(client, site, reports))];
  });
}

async function effectProblems(client: Client, site: string, reports: readonly SenderReport[]): Promise<string[]> {
  const problems: string[] = [];
  const { rows } = await client.query<{ type: string; count: number }>(
    'select type, count(*)::int as count from resource where site_id = $1 group by type',
    [site],
  );
  const counts = new Map(rows.map(({ type, count }) => [type, count]));
  const results = reports.reduce((total, { count }) => total + Math.ceil(count / 2), 0);
  // The first message of a sender is about the shared patient. On a slow machine it may be the only one.
  const patientsOfOne = reports.filter(({ count }) => count > 1).length;
  const wanted = { Patient: patientsOfOne + 1, Observation: results, DiagnosticReport: results };
  for (const [type, count] of Object.entries(wanted)) {
    if (counts.get(type) !== count) problems.push(`${counts.get(type)} of ${type} where ${count} were sent`);
  }

  const { rows: patients } = await client.query<{ body: string }>(
    `select body from resource where site_id = $1 and type = 'Patient'`,
    [site],
  );
  for (const [sender, { count }] of reports.entries()) {
    const lastRename = messageOf(sender, count - 1 - (count % 2)).controlId;
    if (count > 1 && !patients.some(({ body }) => body.includes(`"${lastRename}"`))) {
      problems.push(`the patient of sender ${sender} is not what its last message ${lastRename} made of it`);
    }
  }
  return problems;
}
