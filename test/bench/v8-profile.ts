/**
 * V8's sampling profiler in another process, over the Chrome DevTools protocol (Profiler domain), which workerd and Deno both
 * speak. It sees one isolate: JavaScript, the natives that it calls, and garbage collection. What the process does outside V8
 * (sockets, HTTP, TLS) is `(program)` here, as is waiting.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

import * as z from 'zod';

const SAMPLING_MICROS = 100;
/** A sample that came much later was not the program's doing: the machine was busy with something else. */
const LATE_MICROS = 4 * SAMPLING_MICROS;

const profileOf = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({
        functionName: z.string(),
        url: z.string(),
        lineNumber: z.number(),
        columnNumber: z.number(),
      }),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});
type Profile = z.infer<typeof profileOf>;
type CallFrame = Profile['nodes'][number]['callFrame'];

const targets = z.array(z.object({ webSocketDebuggerUrl: z.string() }));
/** Where there is nothing to tell workerd leaves the result out. */
const answer = z.object({ id: z.number(), result: z.unknown().optional() });

/** Where time was spent itself, not in what it called. */
export interface Spent {
  /** A file below the repository's root, a package, `native`, or `(program)`, `(garbage collector)`. */
  readonly where: string;
  readonly name: string;
  readonly micros: number;
}

/** The profiler of the process whose inspector listens at a port. */
export async function connectProfiler(port: number): Promise<{
  readonly profile: (work: () => Promise<void>) => Promise<Profile>;
  readonly close: () => void;
}> {
  const [target] = targets.parse(await (await fetch(`http://127.0.0.1:${port}/json`)).json());
  if (target === undefined) throw new Error('the inspector has nothing to look at');
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await once(socket, 'open');
  let last = 0;
  const ask = (method: string, params: object = {}): Promise<unknown> => {
    const id = (last += 1);
    return new Promise((resolve) => {
      const listen = ({ data }: MessageEvent): void => {
        const { data: found } = answer.safeParse(JSON.parse(String(data)));
        if (found?.id !== id) return;
        socket.removeEventListener('message', listen);
        resolve(found.result);
      };
      socket.addEventListener('message', listen);
      socket.send(JSON.stringify({ id, method, params }));
    });
  };
  await ask('Profiler.enable');
  await ask('Profiler.setSamplingInterval', { interval: SAMPLING_MICROS });
  return {
    async profile(work) {
      await ask('Profiler.start');
      await work();
      return z.object({ profile: profileOf }).parse(await ask('Profiler.stop')).profile;
    },
    close: () => socket.close(),
  };
}

/** @param bundle the one script that there is, with its source map beside it; undefined: modules are run as they are */
function placer(bundle: string | undefined): (frame: CallFrame) => Pick<Spent, 'where' | 'name'> {
  const map = bundle === undefined ? undefined : new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, 'utf8')));
  const placeOf = (source: string): string => {
    const inPackage = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1];
    return inPackage ?? /(?:^|\/)((?:edge|shared)\/.*)$/.exec(source)?.[1] ?? source;
  };
  return ({ functionName, url, lineNumber, columnNumber }) => {
    const name = functionName === '' ? '(anonymous)' : functionName;
    if (/^\(.*\)$/.test(functionName)) return { where: functionName, name: '' };
    if (url === '') return { where: 'native', name };
    const found = map?.findOrigin(lineNumber + 1, columnNumber + 1);
    if (found !== undefined && 'fileName' in found)
      return { where: placeOf(found.fileName), name: `${found.name ?? ''}:${found.lineNumber}` };
    return { where: placeOf(url.startsWith('file:') ? fileURLToPath(url) : url), name: `${name}:${lineNumber + 1}` };
  };
}

/** Self time by function, the longest first. @param bundle as the Worker has it, with its source map beside it */
export function spentIn({ nodes, samples, timeDeltas }: Profile, bundle: string | undefined): Spent[] {
  const place = placer(bundle);
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, place(callFrame)]));
  const all = new Map<string, { where: string; name: string; micros: number }>();
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id);
    if (frame === undefined) continue;
    const key = `${frame.where} ${frame.name}`;
    const sum = all.get(key) ?? { ...frame, micros: 0 };
    // The time behind a sample is what passes until the next.
    sum.micros += Math.min(timeDeltas[index + 1] ?? 0, LATE_MICROS);
    all.set(key, sum);
  }
  return [...all.values()].toSorted((a, b) => b.micros - a.micros);
}
