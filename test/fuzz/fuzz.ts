/**
 * Random requests over all surfaces, the same for the same seed: valid requests of each surface, with parts changed. No
 * answer is a 5xx, nothing hangs, and nothing is logged as a bug. The bench of a key shows no fact of another key or patient.
 */
import fc from 'fast-check';

import { leaksIn } from './bench.ts';
import { type Came, sendFrame, sendHttp } from './attempt.ts';
import { admin, bench, bundle, document, type Draft, fhir, hl7, logout, mllp, page, token } from './surfaces.ts';
import type { World } from './world.ts';

export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface FuzzReport {
  /** The number of requests, by surface and by result. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Empty, or a rule was broken: each with the number of the request and what was sent, or the line of the log. */
  readonly problems: readonly string[];
}

/** After so many requests, the log is checked, and tokens and sessions are renewed. */
const ROUND = 500;
/** At a time. */
const SENDERS = 8;
const SHOWN_CHARACTERS = 1_500;

type Sent = (world: World) => Promise<{ readonly came: Came; readonly shown: string }>;

const overHttp =
  (draft: Draft): Sent =>
  async (world) => {
    const attempt = await draft(world);
    const came = await sendHttp(world.console.gateway.port, attempt);
    const { authorization: _, cookie: __, ...headers } = attempt.headers;
    const body = attempt.body === undefined ? '' : Buffer.from(attempt.body).toString('latin1');
    return { came, shown: `${attempt.method} ${attempt.path} ${JSON.stringify(headers)} ${JSON.stringify(body)}` };
  };

const overMllp =
  (draft: Draft<Uint8Array>): Sent =>
  async (world) => {
    const content = await draft(world);
    const came = await sendFrame(world.sidecar.port, content);
    return { came, shown: JSON.stringify(Buffer.from(content).toString('latin1')) };
  };

/** Each surface with its share of the requests. */
const SURFACES: readonly (readonly [name: string, weight: number, sent: fc.Arbitrary<Sent>])[] = [
  ['token', 3, token.map(overHttp)],
  ['fhir', 6, fhir.map(overHttp)],
  ['bundle', 2, bundle.map(overHttp)],
  ['hl7', 4, hl7.map(overHttp)],
  ['mllp', 2, mllp.map(overMllp)],
  ['admin', 3, admin.map(overHttp)],
  ['page', 2, page.map(overHttp)],
  ['logout', 1, logout.map(overHttp)],
  ['document', 2, document.map(overHttp)],
  ['bench', 2, bench.map(overHttp)],
];

const attempts = fc.oneof(
  ...SURFACES.map(([surface, weight, sent]) => ({ weight, arbitrary: sent.map((send) => ({ surface, send })) })),
);

const MAX_IDS = 300;

function remember(ids: Map<string, string[]>, what: string, id: string): void {
  const known = ids.get(what) ?? [];
  if (known.length < MAX_IDS) known.push(id);
  ids.set(what, known);
}

/** Keeps ids that later requests can use. */
function learn(world: World, { headers, text }: Came): void {
  const [, type, id] = /\/fhir\/(\w+)\/([0-9a-f-]{36})\/_history\/1$/.exec(String(headers['location'])) ?? [];
  if (type !== undefined && id !== undefined) remember(world.ids, type, id);
  if (String(headers['content-type']).startsWith('text/html')) {
    for (const [, path = ''] of text.matchAll(/(?:href|action)="(\/admin[^"#]*)"/g)) {
      if (!path.startsWith('/admin/sign-out') && world.pages.size < MAX_IDS)
        world.pages.add(path.replaceAll('&amp;', '&'));
    }
  }
  for (const [, message = ''] of text.matchAll(/"messageId":"([0-9a-f-]{36})"/g)) {
    remember(world.ids, 'messages', message);
  }
}

const isBroken = (status: string): boolean => /^5\d\d$|^hangs$|^no answer$/.test(status);

export async function runFuzz(
  world: World,
  { requests, seed, say = () => undefined }: FuzzOptions,
): Promise<FuzzReport> {
  const counts = new Map<string, Map<string, number>>();
  const problems = new Set<string>();

  const collectProblems = (): void => {
    for (const line of [...world.console.gateway.logs(), ...world.sidecar.logs()]) {
      if (line.includes('"event":"bug"')) problems.add(line);
    }
  };

  for (let done = 0; done < requests; done += ROUND) {
    await world.refresh();
    const numRuns = Math.min(ROUND, requests - done);
    const queue = fc.sample(attempts, { seed: seed + done, numRuns }).entries();
    const sender = async (): Promise<void> => {
      // One iterator for all senders: each takes the next.
      for (const [at, { surface, send }] of queue) {
        const { came, shown } = await send(world);
        learn(world, came);
        const ofSurface = counts.get(surface) ?? new Map<string, number>();
        ofSurface.set(came.status, (ofSurface.get(came.status) ?? 0) + 1);
        counts.set(surface, ofSurface);
        const leaks = surface === 'bench' ? leaksIn(world.bench, came.text) : [];
        if (leaks.length > 0) problems.add(`${done + at} ${leaks.join(', ')} in the answer to: ${shown}`);
        if (!isBroken(came.status)) continue;
        problems.add(`${done + at} ${surface} ${came.status}: ${shown.slice(0, SHOWN_CHARACTERS)}`);
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sender));
    collectProblems();
    say(`${done + numRuns} requests, ${problems.size} problems`);
  }
  return { counts, problems: [...problems] };
}

const sorted = <T>(by: ReadonlyMap<string, T>): [string, T][] => [...by].toSorted(([a], [b]) => (a < b ? -1 : 1));

/** A line for each surface: the count of each result. */
export function summaryOf({ counts }: FuzzReport): string[] {
  return sorted(counts).map(([surface, statuses]) => {
    const all = [...statuses.values()].reduce((sum, each) => sum + each, 0);
    const each = sorted(statuses).map(([status, count]) => `${status} × ${count}`);
    return `${surface.padEnd(10)}${String(all).padStart(7)}   ${each.join(', ')}`;
  });
}
