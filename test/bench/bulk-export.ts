/**
 * Exporting a million Observations through workerd, beside `copy … to` of the same rows by PostgreSQL: resources and
 * megabytes a second, and what a resource costs workerd in CPU and memory, since a Worker has limits of both.
 */
import { readFileSync } from 'node:fs';

import type { Client, Connection } from 'pg';

import { getToken } from '../stack/services/client.ts';
import { createApiKey } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { cpuMicros } from './cpu.ts';
import { startBenchDatabase } from './database.ts';
import { serveWorker } from './workerd.ts';

const OBSERVATIONS = 1_000_000;
const PATIENTS = 10_000;

export interface Row {
  readonly what: string;
  readonly seconds: string;
  readonly 'resources a second': number;
  readonly 'MB a second': string;
  readonly 'CPU µs of workerd for one': string;
  /** The most that workerd has ever had, MB. */
  readonly 'RSS of workerd, MB': string;
}

interface Export {
  readonly output: readonly { readonly type: string; readonly url: string; readonly count: number }[];
}

/** Observations as a laboratory's interface makes them, a little more than half a kilobyte each. */
async function fill(client: Client, site: string): Promise<void> {
  await client.query(
    `insert into resource (site_id, type, id, version, last_updated, meta, body)
     select $1, 'Patient', ('01900000-0000-7000-8001-' || lpad(to_hex(i), 12, '0'))::uuid, 1, '2026-01-01', '', '"active":true'
       from generate_series(1, $2::integer) i`,
    [site, PATIENTS],
  );
  await client.query(
    `insert into resource (site_id, type, id, version, last_updated, meta, body, patient_id)
     select $1, 'Observation', ('01900000-0000-7000-8002-' || lpad(to_hex(i), 12, '0'))::uuid, 1, '2026-01-01', '"source":"urn:uuid:' || p || '"',
            '"status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory"}]}],'
            || '"code":{"coding":[{"system":"http://loinc.org","code":"2345-7","display":"Glucose [Mass/volume] in Serum or Plasma"}],"text":"Glucose"},'
            || '"subject":{"reference":"Patient/' || p || '"},"effectiveDateTime":"2026-01-01T08:00:00+01:00",'
            || '"valueQuantity":{"value":' || 70 + i % 90 || '.50,"unit":"mg/dL","system":"http://unitsofmeasure.org","code":"mg/dL"}',
            p::uuid
       from generate_series(1, $2::integer) i
      cross join lateral (select '01900000-0000-7000-8001-' || lpad(to_hex(1 + i % $3::integer), 12, '0') as p) x`,
    [site, OBSERVATIONS, PATIENTS],
  );
  await client.query('vacuum analyze resource');
}

/** @returns bytes */
async function read(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(url, { headers });
  if (response.status !== 200 || response.body === null) throw new Error(`${url}: ${response.status}`);
  let bytes = 0;
  for await (const chunk of response.body as ReadableStream<Uint8Array>) bytes += chunk.byteLength;
  return bytes;
}

/** COPY as PostgreSQL's protocol has it (Frontend/Backend Protocol, COPY Operations). @returns bytes */
function copyOut(client: Client, statement: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const copying = {
      submit: (connection: Connection) => connection.query(statement),
      handleCopyData: ({ chunk }: { readonly chunk: Buffer }) => void (bytes += chunk.byteLength),
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => resolve(bytes),
      handleError: reject,
    };
    client.query(copying);
  });
}

/** Several at once, each beginning the next when it is done. */
async function readAll(
  urls: readonly string[],
  headers: Readonly<Record<string, string>>,
  at: number,
): Promise<number> {
  const left = [...urls];
  const reader = async (): Promise<number> => {
    let bytes = 0;
    for (let url = left.shift(); url !== undefined; url = left.shift()) bytes += await read(url, headers);
    return bytes;
  };
  const each = await Promise.all(Array.from({ length: at }, reader));
  return each.reduce((sum, bytes) => sum + bytes, 0);
}

const peakMegabytes = (pid: number): string => {
  const [, kilobytes = '0'] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) / 1024).toFixed(0);
};

export async function bench(): Promise<Row[]> {
  const database = await startBenchDatabase();
  const { client, site } = database;
  const key = await createApiKey(client, { site, tokenTtlSeconds: 3600 });
  await fill(client, site);
  const worker = await serveWorker(
    (url) => database.env(url),
    // Half of what a Worker has: what needs more ends here. Without it V8 lets garbage lie as long as there is room.
    ['--max-old-space-size=64'],
  );
  const rows: Row[] = [];
  const measure = async (what: string, isWorkerd: boolean, work: () => Promise<number>): Promise<void> => {
    const before = cpuMicros(worker.pid);
    const started = performance.now();
    const bytes = await work();
    const seconds = (performance.now() - started) / 1000;
    const cpu = (cpuMicros(worker.pid) - before) / OBSERVATIONS;
    rows.push({
      what,
      seconds: seconds.toFixed(1),
      'resources a second': Math.round(OBSERVATIONS / seconds),
      'MB a second': bytes === 0 ? '' : (bytes / 1_000_000 / seconds).toFixed(0),
      'CPU µs of workerd for one': isWorkerd ? cpu.toFixed(1) : '',
      'RSS of workerd, MB': isWorkerd ? peakMegabytes(worker.pid) : '',
    });
  };

  try {
    const headers = { Authorization: `Bearer ${await getToken(worker.url, key, { audience: 'svc-fhir' })}` };
    const columns = 'id, version, last_updated, meta, body';
    await measure('limit: copy … to stdout, read by Node', false, () =>
      copyOut(client, `copy (select ${columns} from resource where type = 'Observation' order by id) to stdout`),
    );
    let output: Export['output'] = [];
    await measure('which resources are in which file', true, async () => {
      const begun = await fetch(`${worker.url}/fhir/$export?_type=Observation`, {
        headers: { ...headers, Prefer: 'respond-async' },
      });
      const status = begun.headers.get('content-location') ?? '';
      output = await until('the export is complete', async () => {
        const asked = await fetch(status, { headers });
        if (asked.status === 202) return undefined;
        return ((await asked.json()) as Export).output;
      });
      return 0;
    });
    const urls = output.map(({ url }) => url);
    for (const at of [1, 4]) {
      await measure(`export, ${urls.length} files, ${at} at once`, true, () => readAll(urls, headers, at));
    }
    return rows;
  } finally {
    await worker.stop();
    await database.stop();
  }
}
