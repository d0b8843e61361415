/** A database with a world, and the gateway. */
import { totalmem } from 'node:os';

import { Client } from 'pg';

import type { ProgressLine } from '../../../edge/platform/node/progress-line.ts';
import { prepareDatabase } from '../../stack/services/application-login.ts';
import { UNSAFE_BUT_FAST } from '../../stack/services/postgres.ts';
import { type LargeGateway, type SiteKeys, startLargeGateway } from './gateway.ts';
import { loadWorld } from './load.ts';
import { createSiteKeys, recordTemplates } from './scenarios.ts';
import { tablesOf } from './template.ts';
import { SITES, type World, worldOf } from './world.ts';

const MB = 1024 ** 2;

/**
 * PostgreSQL's cache has a quarter of the memory, as its manual recommends. The load is not logged (copy.ts), and no
 * background work runs during the measurement.
 */
export const SETTINGS: Readonly<Record<string, string>> = {
  ...UNSAFE_BUT_FAST,
  shared_buffers: `${Math.floor(totalmem() / 4 / MB)}MB`,
  effective_cache_size: `${Math.floor((totalmem() * 3) / 4 / MB)}MB`,
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '16GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
};

export interface Settled {
  readonly world: World;
  readonly keys: readonly SiteKeys[];
  readonly gateway: LargeGateway;
  /** The owner's connection. */
  readonly owner: Client;
  readonly close: () => Promise<void>;
}

/** @param server the owner's connection string @param name the name of the new database */
export async function settle(
  server: string,
  name: string,
  patients: number,
  progress: ProgressLine,
  say: (what: string) => void,
): Promise<Settled> {
  const administrator = new Client({ connectionString: server });
  await administrator.connect();
  await administrator.query(`create database ${name}`);
  await administrator.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  const application = await prepareDatabase(url.href);
  const owner = new Client({ connectionString: url.href });
  await owner.connect();
  const gateway = await startLargeGateway(application, owner);
  const columns = await tablesOf(owner);
  const templates = await recordTemplates(owner, gateway, columns);
  const keys: SiteKeys[] = [];
  for (let n = 0; n < SITES; n += 1) keys.push(await createSiteKeys(owner, `Site ${n}`));
  const world = worldOf(patients, Date.now());
  await loadWorld({ url: url.href, owner, world, keys, columns, templates, progress, say });
  await owner.query('checkpoint').catch(() => undefined);
  return {
    world,
    keys,
    gateway,
    owner,
    async close() {
      await gateway.close();
      await owner.end();
    },
  };
}
