/** Neon's endpoint in a separate process, as the external service is, so that its CPU time is counted separately. It ends with this one. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';

import { startNeonEndpoint } from '../stack/services/neon-endpoint.ts';

export interface BenchEndpoint {
  readonly port: number;
  readonly pid: number;
  /** Requests for the database so far. */
  readonly requests: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

export async function startEndpoint(databaseUrl: string): Promise<BenchEndpoint> {
  const child = fork(import.meta.filename, [databaseUrl]);
  const ended = once(child, 'exit').then(() => {
    throw new Error('the endpoint ended');
  });
  const nextMessage = async (): Promise<number> => Number((await Promise.race([once(child, 'message'), ended]))[0]);
  return {
    port: await nextMessage(),
    pid: child.pid ?? 0,
    requests() {
      const answer = nextMessage();
      child.send('requests');
      return answer;
    },
    async stop() {
      child.kill();
      await ended.catch(() => undefined);
    },
  };
}

if (import.meta.main) {
  const endpoint = await startNeonEndpoint({ databaseUrl: process.argv[2] ?? '' });
  process.on('message', () => process.send?.(endpoint.requests()));
  process.once('disconnect', () => process.exit());
  process.send?.(endpoint.port);
}
