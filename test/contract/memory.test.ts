/**
 * Sixteen of the largest requests of each kind at once: the memory of the process above rest, measured outside it. A
 * request without room is 503. It runs at full size only (vitest.config.ts), because each kind takes some ten seconds.
 *
 * V8 collects garbage late if it may use much memory, and its allocator returns little to the system. So the heap is limited
 * (test/fuzz/crowd-shapes.ts), and each kind has a new process.
 */
import { describe, expect, test } from 'vitest';

import { type Came, sendFrame, sendHttp } from '../fuzz/attempt.ts';
import { CROWDS, SPARING, storeForCrowds } from '../fuzz/crowd-shapes.ts';
import { RUNTIMES } from '../stack/tools/gateway.ts';
import { forgetPeak, memoryOf, peakOf } from '../stack/tools/process-cost.ts';
import { startFuzzWorld } from './fuzz-world.ts';

const REQUESTS = 16;

/** Deno's modules and the sources of the gateway, in MiB. */
const DENO_HEAP = 64;
/** Deno has no limit of 128 MB, and its sockets and allocator keep more memory beside the heap. */
const DENO_ABOVE_REST = 256;

const isDone = ({ status }: Came): boolean => /^2\d\d$|^AA$/.test(status);
/** Over MLLP the sidecar closes the connection, and the sender sends the message again. */
const isSentAgain = ({ status, headers }: Came): boolean =>
  status === 'closed' || (status === '503' && headers['retry-after'] === '5');

describe.each(RUNTIMES)('on %s', (runtime) => {
  test.each(CROWDS)(
    'sixteen at once: $what',
    async ({ draft, memory = SPARING }) => {
      const heap = memory.heap + (runtime === 'workerd' ? 0 : DENO_HEAP);
      for (const name of ['MINIFLARE_WORKERD_V8_FLAGS', 'DENO_V8_FLAGS']) process.env[name] = `--max-heap-size=${heap}`;
      // A process keeps memory that is free, so each kind has a new one.
      const subject = await startFuzzWorld(runtime);
      const { world, client } = subject;
      try {
        const { pid, port } = world.console.gateway;
        const rest = memoryOf(pid);
        await storeForCrowds(world, client);
        const crowd = Array.from({ length: REQUESTS }, () => draft(world));
        forgetPeak(pid);
        const came = await Promise.all(
          crowd.map((grown) =>
            grown.over === 'http' ? sendHttp(port, grown.attempt) : sendFrame(world.sidecar.port, grown.content),
          ),
        );
        const mebibytes = Math.round(peakOf(pid) - rest);
        const statuses = [...Map.groupBy(came, ({ status }) => status)].map(
          ([code, { length }]) => `${length} × ${code}`,
        );
        console.log(`${mebibytes} MiB, ${statuses.join(', ')}`);

        expect(came.filter((each) => !isDone(each) && !isSentAgain(each))).toEqual([]);
        expect(came.filter(isDone).length).toBeGreaterThan(0);
        expect(mebibytes).toBeLessThan(runtime === 'workerd' ? memory.aboveRest : DENO_ABOVE_REST);
      } finally {
        await subject.stop();
      }
    },
    180_000,
  );
});
