/** A client of bulk exports, written out from the guide (FHIR Bulk Data Access 2.0.0). */
import { expect } from 'vitest';

import { until } from '../../stack/services/until.ts';
import type { Body, Call, Reply, Subject } from './subject.ts';

export const ASYNC = { prefer: 'respond-async' };

export interface Manifest {
  readonly transactionTime: string;
  readonly request: string;
  readonly requiresAccessToken: boolean;
  readonly output: readonly { readonly type: string; readonly url: string; readonly count: number }[];
  readonly deleted: readonly unknown[];
  readonly error: readonly { readonly type: string; readonly url: string }[];
}

/** The status URL of an export that was begun. */
export async function begin(subject: Subject, path: string, call: Call = {}): Promise<string> {
  const reply = await subject.call('GET', path, { ...call, headers: { ...ASYNC, ...call.headers } });
  expect(reply.status, reply.text).toBe(202);
  return reply.headers.get('content-location') ?? '';
}

/** Asks until it is complete. */
export async function complete(subject: Subject, status: string, call: Call = {}): Promise<Reply & { body: Manifest }> {
  const reply = await until('the export is complete', async () => {
    const asked = await subject.call('GET', status, { ...call, headers: { accept: 'application/json' } });
    expect([200, 202], asked.text).toContain(asked.status);
    return asked.status === 200 ? asked : undefined;
  });
  return { ...reply, body: reply.body as Manifest };
}

export async function manifestOf(subject: Subject, path: string, call: Call = {}): Promise<Manifest> {
  const { headers: _, ...as } = call;
  return (await complete(subject, await begin(subject, path, call), as)).body;
}

/** The text of a file. */
export async function download(url: string, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/fhir+ndjson' };
  const response = await fetch(url, { headers });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/fhir+ndjson');
  return text;
}

/** The resources of a file: one a line, each line ended. */
export function linesOf(text: string): Body[] {
  const lines = text.split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line) as Body);
}

/** The resources of all files of an export, in their order. */
export async function exported(manifest: Manifest, token: string): Promise<Body[]> {
  const all: Body[] = [];
  for (const { type, url, count } of manifest.output) {
    const resources = linesOf(await download(url, token));
    expect([url, resources.length]).toEqual([url, count]);
    for (const resource of resources) expect(resource['resourceType']).toBe(type);
    all.push(...resources);
  }
  return all;
}
