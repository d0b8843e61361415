/** Bytes and CPU of the gateway for answers without and with gzip: a read, pages of a search, and a file of an export. */
import { setTimeout as sleep } from 'node:timers/promises';

import { rawGet } from '../stack/tools/raw-get.ts';
import { cpuMicros } from './cpu.ts';
import { startGatewayStack } from './gateway-stack.ts';

const OBSERVATIONS = 500;
const CONNECTIONS = 4;
/** Answers of a kind, by its size, so that each kind takes seconds of CPU. */
const ANSWERS = { small: 2_000, page: 400, large: 100, file: 10 } as const;

export interface Row {
  readonly runtime: string;
  readonly what: string;
  readonly coding: string;
  readonly bytes: number;
  readonly 'CPU µs of the gateway': number;
}

async function times(count: number, ask: () => Promise<unknown>): Promise<void> {
  let left = count;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await ask();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

/** The largest file of an export of all patients. */
async function exportedFile(root: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const begun = await rawGet(`${root}/$export?_type=Patient`, { ...headers, prefer: 'respond-async' });
  const status = String(begun.headers['content-location']);
  for (;;) {
    const answer = await rawGet(status, headers);
    if (answer.status === 200) {
      const { output } = JSON.parse(answer.bytes.toString()) as { output: { url: string; count: number }[] };
      return output.toSorted((a, b) => b.count - a.count)[0]?.url ?? '';
    }
    if (answer.status !== 202) throw new Error(`${status}: ${answer.status}`);
    await sleep(1000);
  }
}

async function measure(runtime: 'workerd' | 'Deno'): Promise<Row[]> {
  const { gateway, operations, stop } = await startGatewayStack({ runtime });
  try {
    const named = (what: string) => {
      const found = operations.find((one) => one.what === what);
      if (found === undefined) throw new Error(`no operation ${what}`);
      return found;
    };
    const read = await named('Patient read').next();
    const { headers = {} } = read;
    await times(OBSERVATIONS, async () => {
      const { path, method = 'POST', headers: own = {}, body } = await named('Observation create').next();
      await fetch(`${gateway.url}${path}`, { method, headers: own, body: String(body) });
    });
    const root = `${gateway.url}/fhir`;
    const asked = [
      ['Patient read', `${gateway.url}${read.path}`, ANSWERS.small],
      ['page of 50 Observations', `${root}/Observation?_count=50`, ANSWERS.page],
      ['page of 500 Observations', `${root}/Observation?_count=500`, ANSWERS.large],
      ['file of an export, Patients', await exportedFile(root, headers), ANSWERS.file],
    ] as const;
    const rows: Row[] = [];
    for (const [what, url, answers] of asked) {
      for (const coding of ['identity', 'gzip']) {
        const ask = () => rawGet(url, { ...headers, 'accept-encoding': coding });
        const { bytes, status } = await ask();
        if (status !== 200) throw new Error(`${url}: ${status}`);
        const before = cpuMicros(gateway.pid);
        await times(answers, ask);
        const micros = Math.round((cpuMicros(gateway.pid) - before) / answers);
        rows.push({ runtime, what, coding, bytes: bytes.byteLength, 'CPU µs of the gateway': micros });
      }
    }
    return rows;
  } finally {
    await stop();
  }
}

export const bench = async (): Promise<Row[]> => [...(await measure('workerd')), ...(await measure('Deno'))];
