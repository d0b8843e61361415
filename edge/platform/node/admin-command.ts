/** The parts of every command of `npm run admin`: its options, the operator, and the site. */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';

import { type Actor, toActor } from '../../admin/staff/actor.ts';
import { PERMISSIONS } from '../../permissions.ts';
import type { CommandConfig } from '../../config.ts';
import type { Database } from '../../deps.ts';
import { audited, type AuditActor } from '../../store/audit.ts';
import type { CommandDatabase } from './database.ts';
import type { fetchAt } from './fetch-at.ts';
import { type Terminal, UsageError } from './program.ts';

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

/** @throws UsageError: in any other encoding than UTF-8, names and codes would be stored with other characters */
export async function readText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new UsageError(isMissing ? `the file ${path} does not exist` : `the file ${path} is not readable`, {
      cause: error,
    });
  });
  if (!isUtf8(bytes)) throw new UsageError(`the file ${path} is not UTF-8: save it as UTF-8`);
  // Without a byte order mark.
  return new TextDecoder().decode(bytes);
}

/** An id or a name. */
export const SITE = '--site SITE';
export const CLIENT_ID = '--client-id svc-…';

/** The number of log entries to print, newest first. */
export const NEWEST = '50';

/** The runtime of a command. */
export interface CommandDeps {
  readonly config: CommandConfig;
  readonly terminal: Terminal;
  readonly database: CommandDatabase;
  readonly fetch: typeof fetch;
  readonly fetchAt: typeof fetchAt;
  readonly resolveHost: (hostname: string) => Promise<readonly string[]>;
}

export interface Command {
  /** The usage of each operand and option, such as `SITE` and `[--text TEXT]`. */
  readonly usage: readonly string[];
  /** The next step for the operator. */
  readonly next?: string;
  /** The text of its answer, instead of JSON. */
  readonly print?: (answer: unknown) => string;
  /** Answers without a database; undefined if these options need it. */
  readonly withoutDatabase?: (options: Options, terminal: Terminal) => Promise<unknown> | undefined;
  readonly run: (deps: CommandDeps, options: Options, operands: readonly string[]) => Promise<unknown>;
}

const isOption = (usage: string): boolean => usage.includes('--');

/** The names of a command's options. */
export const optionsIn = ({ usage }: Command): string[] =>
  usage.filter(isOption).map((each) => /--([\w-]+)/.exec(each)?.[1] ?? '');

/** True for an option without a value, such as `[--prune]`. */
export const isSwitch = (usage: string): boolean => /^\[--[\w-]+\]$/.test(usage);

/** The number of words after a command's name. */
export const operandCount = ({ usage }: Command): number => usage.filter((each) => !isOption(each)).length;

/** The operator has every permission; the history records the account on this machine. */
export function operator(site: string): Actor {
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

/** The same dependencies, with the operator as the actor and a row of the audit for each change. */
export function asOperator<D extends { readonly database: Database }>(deps: D, site: string) {
  return { ...deps, actor: operator(site), database: audited(deps.database, site, operatorAsks()) };
}
