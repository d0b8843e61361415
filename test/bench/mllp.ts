/**
 * What an MLLP message costs the sidecar, beside a bare server, our framing alone and `@medplum/hl7`'s server; and the
 * whole way from a socket to a committed row, beside what the database commits. One run, one machine: ratios count.
 */
import { Pool } from 'pg';

import { makeSecrets } from '../stack/services/secrets.ts';
import { createApiKey } from '../stack/services/seed.ts';
import { startSidecar } from '../stack/services/sidecar.ts';
import { startBenchDatabase } from './database.ts';
import { type Forked, startForked } from './forked.ts';
import { measureMllp, type MllpMeasured } from './mllp-load.ts';
import type { ServerName } from './mllp-servers.ts';
import { serveWorker } from './workerd.ts';

export interface Row {
  readonly what: string;
  readonly connections: number;
  readonly 'per second': number;
  readonly 'p50 ms': string;
  readonly 'p99 ms': string;
  readonly 'CPU µs a message': string;
  readonly failed: number | string;
}

const CONNECTIONS = [1, 32];
const DATABASE_MS = 3_000;
/** All connections here are of one address. */
const UNPACED = { MLLP_MAX_MESSAGES_PER_SECOND_PER_ADDRESS: '1000000' };

let count = 0;
const adt = (): string => {
  const control = `BENCH-${count++}`;
  return (
    `MSH|^~\\&|BENCH|SITE|GW|GW|20261101083000+0100||ADT^A04^ADT_A01|${control}|P|2.5.1\rEVN|A04|20261101083000+0100\r` +
    `PID|1||${control}^^^SITE^MR||Bench^Person||19701231|F|||1 Street^^Town^^12345^DE\rPV1|1|O\r`
  );
};

/** A discharge letter or a panel of many results: 100 KB, which no socket reads in one piece. */
const RESULTS = 'OBX|1|NM|2951-2^Sodium^LN||140.10|mmol/L|135-145||||F|||20261101083000+0100\r'.repeat(1300);
const large = (): string => adt() + RESULTS;

interface Load {
  readonly connections: number;
  readonly message: () => string;
  readonly size: string;
}

const LOADS: readonly Load[] = [
  ...CONNECTIONS.map((connections) => ({ connections, message: adt, size: '' })),
  { connections: 1, message: large, size: ', 100 KB' },
];

const row = (what: string, connections: number, m: MllpMeasured): Row => ({
  what,
  connections,
  'per second': Math.round(m.perSecond),
  'p50 ms': m.p50Ms.toFixed(2),
  'p99 ms': m.p99Ms.toFixed(2),
  'CPU µs a message': m.cpuMicros.toFixed(0),
  failed: m.failed,
});

const server = (name: ServerName): Promise<Forked> => startForked('mllp-servers.ts', name);

async function besideOthers(): Promise<Row[]> {
  const { sidecarPrivateKey: privateKey } = await makeSecrets();
  const edge = await server('edge');
  const servers: [string, Pick<Forked, 'port' | 'pid' | 'stop'>][] = [
    ['limit: bare Node, finds FS CR', await server('bare')],
    ['our framing alone', await server('framing')],
    ['@medplum/hl7 server', await server('medplum')],
    [
      'sidecar: frame, sign, forward, answer',
      await startSidecar({ edgeUrl: `http://127.0.0.1:${edge.port}`, privateKey, env: UNPACED }),
    ],
  ];
  try {
    const rows: Row[] = [];
    for (const { connections, message, size } of LOADS) {
      for (const [what, { port, pid }] of servers) {
        rows.push(row(what + size, connections, await measureMllp({ port, pid, connections, message })));
      }
    }
    return rows;
  } finally {
    for (const [, started] of servers) await started.stop();
    await edge.stop();
  }
}

/** Commits of one row with a message's bytes, from the same number of connections: no way to the database is faster. */
async function commits(url: string, connections: number): Promise<Row> {
  const pool = new Pool({ connectionString: url, max: connections });
  await pool.query('create table if not exists bench_message (id bigint generated always as identity, raw bytea)');
  const end = performance.now() + DATABASE_MS;
  const times: number[] = [];
  const run = async (): Promise<void> => {
    while (performance.now() < end) {
      const started = performance.now();
      await pool.query('insert into bench_message (raw) values ($1)', [Buffer.from(adt())]);
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: connections }, run));
  await pool.end();
  times.sort((a, b) => a - b);
  const quantile = (q: number): string => (times[Math.floor(times.length * q)] ?? 0).toFixed(2);
  return {
    what: 'limit: PostgreSQL, one row committed',
    connections,
    'per second': Math.round((times.length * 1000) / DATABASE_MS),
    'p50 ms': quantile(0.5),
    'p99 ms': quantile(0.99),
    'CPU µs a message': '',
    failed: '',
  };
}

async function socketToRow(): Promise<Row[]> {
  const database = await startBenchDatabase();
  const { client, site, secrets } = database;
  await createApiKey(client, { site, protocols: ['hl7-mllp'], allowedIps: ['127.0.0.1'] });
  const worker = await serveWorker((url) => database.env(url));
  const sidecar = await startSidecar({
    edgeUrl: worker.url,
    privateKey: secrets.sidecarPrivateKey,
    env: UNPACED,
  });
  try {
    const rows: Row[] = [];
    for (const connections of CONNECTIONS) {
      rows.push(await commits(database.postgres.url, connections));
      const { port, pid } = sidecar;
      const measured = await measureMllp({ port, pid, connections, message: adt });
      rows.push(row('socket to committed row, ADT, a new patient each', connections, measured));
    }
    return rows;
  } finally {
    await sidecar.stop();
    await worker.stop();
    await database.stop();
  }
}

export async function bench(): Promise<Row[]> {
  return [...(await besideOthers()), ...(await socketToRow())];
}
