/**
 * A free TCP port on the loopback interface, for programs that cannot let the system choose one. The port stays free until
 * the program listens, because it is below the range that systems assign (32768 on Linux).
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const LOWEST = 10_000;
/** The local stack's own ports begin at 28080 (local.ts). */
const HIGHEST = 28_000;
const given = new Set<number>();

/** As many as a test run has workers, or more. */
const SHARES = 8;

/**
 * Between finding a port and listening on it, another program may find it too. Each worker of a test run uses a
 * different part of the ports, and each run divides them differently, so that concurrent runs seldom collide.
 */
function isOfThisWorker(port: number): boolean {
  const { VITEST_POOL_ID: worker, TEST_RUN: run = '0' } = process.env;
  if (worker === undefined) return true;
  const mixed = Math.imul(port, 2 * Number(run) + 1) ^ (port << 7);
  return ((Math.imul(mixed, 0x9e3779b1) >>> 16) - Number(worker)) % SHARES === 0;
}

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (given.has(port) || !isOfThisWorker(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

/** True if the port of the loopback interface is free. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  // `once` rejects on the event `error`: the port is in use.
  const listening = once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.listen(port, '127.0.0.1');
  if (!(await listening)) return false;
  server.close();
  await once(server, 'close');
  return true;
}
