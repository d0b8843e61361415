/** The subject of fuzz.test.ts and cost.test.ts: a fuzz world with a separate database. */
import { startWorld, type World } from '../fuzz/world.ts';
import { createTestDatabase, type TestDatabase } from '../stack/tools/database.ts';
import type { Runtime } from '../stack/tools/gateway.ts';

export interface FuzzSubject {
  readonly world: World;
  readonly client: TestDatabase['client'];
  stop(): Promise<void>;
}

/** Starts it on a runtime. */
export async function startFuzzWorld(runtime: Runtime): Promise<FuzzSubject> {
  const database = await createTestDatabase();
  const world = await startWorld(runtime, database);
  const stop = async (): Promise<void> => {
    await world.stop();
    await database.drop();
  };
  return { world, client: database.client, stop };
}
