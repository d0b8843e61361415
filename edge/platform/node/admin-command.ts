/** What every command of `npm run admin` is made of: its options, who does it, and at which site. */
import { userInfo } from 'node:os';

import { isUuid } from '../../../shared/uuid.ts';
import { type Actor, toActor } from '../../admin/staff/actor.ts';
import { PERMISSIONS } from '../../permissions.ts';
import type { CommandConfig } from '../../config.ts';
import type { Database } from '../../deps.ts';
import { audited, type AuditActor } from '../../store/audit.ts';
import { listSites } from '../../store/site.ts';
import type { CommandDatabase } from './database.ts';
import type { fetchAt } from './fetch-at.ts';
import { UsageError } from './program.ts';

/** What was given, by option. */
export type Options = Readonly<Record<string, string | readonly string[] | undefined>>;

export function need(options: Options, name: string): string {
  const value = options[name];
  if (typeof value !== 'string' || value.trim() === '') throw new UsageError(`--${name} is needed`);
  return value;
}

export const textOf = (options: Options, name: string): string => {
  const value = options[name];
  return typeof value === 'string' ? value : '';
};

export const SITE = '--site ID';

/** How many of a log are answered, the newest first. */
export const NEWEST = '50';

/** The runtime of a command. */
export interface CommandDeps {
  readonly config: CommandConfig;
  readonly database: CommandDatabase;
  readonly fetch: typeof fetch;
  readonly fetchAt: typeof fetchAt;
  readonly resolveHost: (hostname: string) => Promise<readonly string[]>;
}

export interface Command {
  /** How its options are told, each. */
  readonly usage: readonly string[];
  /** What to do with what it answers. */
  readonly next?: string;
  /** The names of its options. */
  readonly options: readonly string[];
  /** How many words follow its name. */
  readonly operands?: number;
  readonly run: (deps: CommandDeps, options: Options, operands: readonly string[]) => Promise<unknown>;
}

const noSite = (site: string) =>
  new UsageError(`there is no site ${site}: \`npm run -s admin -- site list\` shows those there are`);

/** Whoever runs this may do everything; the history names the account of the machine. */
export function operator(site: string): Actor {
  if (!isUuid(site)) throw noSite(site);
  return toActor({ sub: 'npm run admin', name: userInfo().username, site, permissions: Object.keys(PERMISSIONS) });
}

/** The operator, for the audit. */
export const operatorAsks = (): AuditActor => ({
  kind: 'operator',
  name: userInfo().username,
  clientId: null,
  address: null,
  requestId: crypto.randomUUID(),
});

/** The same runtime, with a row of the audit for what the operator changes. */
export function asOperator<D extends { readonly database: Database }>(deps: D, { site }: Actor): D {
  return { ...deps, database: audited(deps.database, site, operatorAsks()) };
}

/** @throws UsageError for a site that is not there */
export async function knownSite(database: CommandDatabase, id: string): Promise<void> {
  const sites = await database.run(listSites());
  if (!sites.some(({ site_id }) => site_id === id)) throw noSite(id);
}
