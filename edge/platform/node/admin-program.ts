/**
 * `npm run admin`: the first steps of a deployment, without a browser and without SQL. Only this command creates sites. API
 * keys follow the rules and checks of the console.
 */
import { lookup } from 'node:dns/promises';

import * as z from 'zod';

import { Fault, printPlace } from '../../../shared/fault.ts';
import { isUuid, uuidv7 } from '../../../shared/uuid.ts';
import { changeKey, createKey, requireKey } from '../../admin/keys/keys.ts';
import { KEY_MEMBERS } from '../../members/api-key.ts';
import { listKeys } from '../../admin/keys/statements.ts';
import { viewFindings, viewKey } from '../../admin/keys/view.ts';
import { findMessages, messageQuery } from '../../admin/messages/listing.ts';
import { viewMessageRow } from '../../admin/messages/view.ts';
import { findRequests, requestQuery } from '../../admin/requests/listing.ts';
import { viewRequest } from '../../admin/requests/view.ts';
import { bodyOfFlags, optionsOf, usageOf } from '../../members/flags.ts';
import { YES } from '../../members/input.ts';
import { SITE_MEMBERS } from '../../admin/settings/record.ts';
import { assignAddress, type GivenAddress, listAddresses, withdrawAddress } from '../../admin/settings/addresses.ts';
import { requireWebhook, saveSettings } from '../../admin/settings/save.ts';
import { createSite, requireSite, viewSite } from '../../admin/settings/site.ts';
import { authorOf } from '../../admin/staff/actor.ts';
import { readCommandConfig } from '../../config.ts';
import { listSites } from '../../store/site.ts';
import { fetchAt } from './fetch-at.ts';
import {
  asOperator,
  CLIENT_ID,
  type Command,
  type CommandDeps,
  isSwitch,
  need,
  NEWEST,
  operandCount,
  operator,
  operatorAsks,
  optionsIn,
  type Options,
  SITE,
  textOf,
  readText,
} from './admin-command.ts';
import { ALERT_COMMANDS } from './admin-alert.ts';
import { CODE_TABLE_COMMANDS } from './admin-code-table.ts';
import { LINK_COMMANDS } from './admin-link.ts';
import { REPLAY_COMMANDS } from './admin-replay.ts';
import { RULES_COMMANDS } from './admin-rules.ts';
import { SITE_FILE_COMMANDS } from './admin-site-file.ts';
import { SUBSCRIPTION_COMMANDS } from './admin-subscription.ts';
import { type CommandDatabase, connectOwner } from './database.ts';
import { erase, questionsOn } from './erase-patient.ts';
import { parseOptions, runOn, type Terminal, UsageError } from './program.ts';
import { chooseSites } from './site-jobs.ts';

async function connect(terminal: Terminal): Promise<CommandDeps> {
  const config = readCommandConfig(terminal.env);
  return {
    config,
    terminal,
    database: await connectOwner(config.DATABASE_URL),
    fetch,
    fetchAt,
    resolveHost: async (hostname) =>
      (await lookup(hostname, { all: true }).catch(() => [])).map(({ address }) => address),
  };
}

const setStatus = (status: 'active' | 'disabled'): Command => ({
  usage: [SITE, CLIENT_ID],
  async run(deps, options) {
    const on = asOperator(deps, need(options, 'site'));
    const { key } = await changeKey(on, on.actor, need(options, 'client-id'), [], { status });
    return viewKey(key);
  },
});

/** The columns that identify a range: the addresses, and the senders at them. */
const ADDRESS = [
  '--range ADDRESS|CIDR|*',
  '[--sender-application MSH-3]',
  '[--sender-facility MSH-4]',
  '[--tls-subject SUBJECT]',
] as const;

function addressOf(options: Options): GivenAddress {
  const text = (name: string): string | undefined => {
    const given = options[name];
    return typeof given === 'string' ? given : undefined;
  };
  return {
    range: need(options, 'range'),
    application: text('sender-application'),
    facility: text('sender-facility'),
    tlsSubject: text('tls-subject'),
  };
}

const COMMANDS: Readonly<Record<string, Command>> = {
  'site create': {
    next:
      'npm run -s keys -- client FOLDER; then npm run -s admin -- key create with --site, this id, and --jwks ' +
      'FOLDER/jwks.json. For MLLP: the first site has every source address (*). A further site has none until ' +
      'npm run -s admin -- site address add assigns some',
    usage: [...usageOf(SITE_MEMBERS, true), '[--id UUID]'],
    async run(deps, options) {
      need(options, 'name');
      const { database } = deps;
      const body = await bodyOfFlags(SITE_MEMBERS, options, readText);
      await requireWebhook(deps, body);
      const sites = await database.run(listSites());
      const known = sites.find(({ name }) => name === need(options, 'name').trim());
      if (known !== undefined) throw new Fault('conflict', `a site with this name already exists: ${known.site_id}`);
      const site = textOf(options, 'id') || uuidv7(Date.now());
      if (!isUuid(site)) throw new UsageError(`--id ${site} is not a UUID, such as ${uuidv7(Date.now())}`);
      if (sites.some(({ site_id: id }) => id === site)) throw new Fault('conflict', `the site ${site} already exists`);
      const on = asOperator(deps, site);
      return viewSite(await createSite(on.database, site, authorOf(on.actor), body));
    },
  },
  'site show': {
    usage: [SITE],
    run: async ({ database }, options) => viewSite(await requireSite(database, need(options, 'site'))),
  },
  'site update': {
    usage: [SITE, ...usageOf(SITE_MEMBERS, false)],
    async run(deps, options) {
      const on = asOperator(deps, need(options, 'site'));
      const body = await bodyOfFlags(SITE_MEMBERS, options, readText);
      return viewSite(await saveSettings(on, on.actor, [], body));
    },
  },
  'site list': {
    usage: [],
    async run({ database }) {
      const sites = await database.run(listSites());
      return sites.map(({ site_id: site, name, time_zone: timeZone }) => ({ site, name, timeZone }));
    },
  },
  'site address add': {
    next: 'API keys of the site for hl7-mllp may now allow these addresses; sidecars use them within 15 s',
    usage: [SITE, ...ADDRESS],
    async run({ database }, options) {
      const actor = operator(need(options, 'site'));
      return assignAddress(database, actor.site, authorOf(actor), addressOf(options));
    },
  },
  'site address remove': {
    usage: [SITE, ...ADDRESS],
    async run({ database }, options) {
      return withdrawAddress(database, need(options, 'site'), addressOf(options));
    },
  },
  'site address list': {
    usage: [`[${SITE}]`],
    async run({ database }, options) {
      return listAddresses(database, options['site'] === undefined ? null : need(options, 'site'));
    },
  },
  'key create': {
    next: 'the Client ID is `iss` and `sub` of the client’s assertions (edge/docs/quickstart.md)',
    usage: [SITE, ...usageOf(KEY_MEMBERS, true)],
    async run(deps, options) {
      const on = asOperator(deps, need(options, 'site'));
      need(options, 'name');
      const suggested = { tokenTtlSeconds: KEY_MEMBERS.tokenTtlSeconds.suggested };
      const body = { ...suggested, ...(await bodyOfFlags(KEY_MEMBERS, options, readText)) };
      const { key, findings } = await createKey(on, on.actor, body);
      return { ...viewKey(key), jwksFindings: viewFindings(findings) };
    },
  },
  'key update': {
    usage: [SITE, CLIENT_ID, ...usageOf(KEY_MEMBERS, false)],
    async run(deps, options) {
      const on = asOperator(deps, need(options, 'site'));
      const body = await bodyOfFlags(KEY_MEMBERS, options, readText);
      const { key, findings } = await changeKey(on, on.actor, need(options, 'client-id'), [], body);
      return { ...viewKey(key), jwksFindings: viewFindings(findings) };
    },
  },
  'key list': {
    usage: [SITE],
    async run({ database }, options) {
      const site = need(options, 'site');
      const rows = await database.run(listKeys(site, { text: '', status: '', protocol: '' }, null, 10_000));
      return rows.map(({ client_id: clientId, name, status, protocols }) => ({ clientId, name, status, protocols }));
    },
  },
  'refusal list': {
    usage: [SITE, `[${CLIENT_ID}]`, '[--text TEXT]'],
    async run({ database }, options) {
      const site = need(options, 'site');
      const given = { q: textOf(options, 'text'), clientId: textOf(options, 'client-id'), limit: NEWEST };
      const { data } = requestQuery.safeParse(given);
      if (data === undefined) throw new UsageError('--text may have at most 200 characters');
      const { items } = await findRequests(database, site, Date.now(), data);
      return items.map(viewRequest);
    },
  },
  'message list': {
    usage: [SITE, `[${CLIENT_ID}]`, '[--outcome AA|AE|AR]', '[--text TEXT]'],
    async run({ database }, options) {
      const actor = operator(need(options, 'site'));
      const given = { clientId: textOf(options, 'client-id'), outcome: textOf(options, 'outcome') };
      const { data } = messageQuery.safeParse({ ...given, q: textOf(options, 'text'), limit: NEWEST });
      if (data === undefined)
        throw new UsageError('--outcome must be AA, AE or AR; --text may have at most 200 characters');
      const { items } = await findMessages({ actor, database, auditActor: operatorAsks() }, data);
      return items.map(viewMessageRow);
    },
  },
  'patient erase': {
    usage: ['SITE', 'ID'],
    async run(deps, _, [site = '', patient = '']) {
      const person = questionsOn(deps.terminal);
      try {
        return await erase(asOperator(deps, site).database, site, patient.toLowerCase(), person.ask);
      } finally {
        person.close();
      }
    },
  },
  ...SITE_FILE_COMMANDS,
  ...LINK_COMMANDS,
  ...REPLAY_COMMANDS,
  ...ALERT_COMMANDS,
  ...SUBSCRIPTION_COMMANDS,
  ...CODE_TABLE_COMMANDS,
  ...RULES_COMMANDS,
  'key disable': setStatus('disabled'),
  'key enable': setStatus('active'),
};

/** Every option of a command, for `parseArgs`. */
const OPTIONS = {
  ...Object.fromEntries(
    Object.values(COMMANDS)
      .flatMap(optionsIn)
      .map((name) => [name, { type: 'string', multiple: false } as const]),
  ),
  ...Object.fromEntries(
    Object.values(COMMANDS)
      .flatMap(({ usage }) => usage.filter(isSwitch))
      .map((usage) => [usage.slice(3, -1), { type: 'boolean', multiple: false } as const]),
  ),
  ...optionsOf(SITE_MEMBERS),
  ...optionsOf(KEY_MEMBERS),
};

const MAX_COLUMNS = 110;

/** The usage of a command, wrapped for a terminal. */
function lines(start: string, options: readonly string[]): string {
  const rows = [start];
  for (const option of options) {
    const row = rows.at(-1) ?? '';
    if (row.length + 1 + option.length <= MAX_COLUMNS) rows.splice(-1, 1, `${row} ${option}`);
    else rows.push(`${' '.repeat(24)}${option}`);
  }
  return rows.join('\n');
}

/** @param start the beginning of the names of the commands to explain */
function usageFor(start: string): string {
  const named = Object.entries(COMMANDS).filter(([name]) => name.startsWith(start));
  return `Usage, with the connection string of the database's owner in DATABASE_URL:

${named.map(([name, { usage }]) => lines(`  npm run -s admin -- ${name}`, usage)).join('\n')}

SITE is the id or the name of a site. Separate lists by commas. An option with an empty value ("") clears its setting.
With \`--console\` and ADMIN_PUBLIC_BASE_URL of the gateway, a command needs no DATABASE_URL, but an access token of the OpenID
provider in ADMIN_TOKEN. SITE is then the id, and may be left out for a token of one site.
The output is JSON, except that of export, plan and code-table export. \`--print MEMBER\` prints one member of it as text.
\`--help\` after a command explains that command.
`;
}

/** The text of a failure: one line for each issue, with the field's name. */
function explain(error: unknown): string {
  if (error instanceof Fault) {
    const issues = error.issues.map((issue) => `  ${printPlace(issue)}: ${issue.message}\n`);
    return `${error.message}\n${issues.join('')}`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Finds the command whose name of one to three words begins the arguments; the rest are its operands. */
function findCommand(words: readonly string[]): { name: string; command: Command; operands: readonly string[] } {
  for (const count of [3, 2, 1]) {
    const name = words.slice(0, count).join(' ');
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (command !== undefined) return { name, command, operands: words.slice(count) };
  }
  throw new UsageError(
    words.length === 0 ? 'name a command' : `the command ${words.slice(0, 3).join(' ')} does not exist`,
  );
}

/** A member of an answer as text, of a list on a line for each item. */
function printed(answer: unknown, member: string): string {
  if (Array.isArray(answer)) return answer.map((item) => printed(item, member)).join('\n');
  const { data } = z.record(z.string(), z.unknown()).safeParse(answer);
  if (data === undefined || !Object.hasOwn(data, member))
    throw new Error(`done, but the output has no member ${member}:\n${JSON.stringify(answer, null, 2)}`);
  const value = data[member];
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** @throws UsageError for an API key that the site does not have: a list of its messages would be empty, as if it had none */
async function requireClient(database: CommandDatabase, site: string, options: Options): Promise<void> {
  if (options['client-id'] === undefined) return;
  const clientId = need(options, 'client-id');
  await requireKey(database, site, clientId).catch((error: unknown) => {
    if (!(error instanceof Fault && error.kind === 'not-found')) throw error;
    throw new UsageError(`the site has no API key ${clientId}: \`npm run -s admin -- key list\` lists its API keys`);
  });
}

/**
 * The options and operands with the id of the site that they name.
 *
 * @throws UsageError if there is no such site, or no such API key in it
 */
async function withSite(
  database: CommandDatabase,
  command: Command,
  options: Options,
  operands: readonly string[],
): Promise<readonly [Options, readonly string[]]> {
  const idOf = async (given: string): Promise<string> => (await chooseSites(database, given))[0]?.site_id ?? '';
  if (typeof options['site'] === 'string') {
    const site = await idOf(need(options, 'site'));
    await requireClient(database, site, options);
    return [{ ...options, site }, operands];
  }
  const [first = '', ...rest] = operands;
  return command.usage[0] === 'SITE' ? [options, [await idOf(first), ...rest]] : [options, operands];
}

const textOfAnswer = ({ print }: Command, answer: unknown): string =>
  print === undefined ? `${JSON.stringify(answer, null, 2)}\n` : print(answer);

async function runOnDatabase(
  terminal: Terminal,
  command: Command,
  options: Options,
  operands: readonly string[],
): Promise<unknown> {
  const deps = await connect(terminal);
  try {
    return await command.run(deps, ...(await withSite(deps.database, command, options, operands)));
  } finally {
    await deps.database.close();
  }
}

async function main(terminal: Terminal): Promise<void> {
  const {
    values: { print, ...given },
    positionals,
  } = parseOptions({ args: terminal.args, options: { ...OPTIONS, print: { type: 'string' } }, allowPositionals: true });
  const values: Options = Object.fromEntries(
    Object.entries<Options[string] | boolean>(given).map(([option, value]) => [
      option,
      typeof value === 'boolean' ? YES : value,
    ]),
  );
  const { name, command, operands } = findCommand(positionals);
  if (operands.length !== operandCount(command))
    throw new UsageError(`expected: npm run -s admin -- ${name} ${command.usage.join(' ')}`);
  const foreign = Object.keys(values).find((option) => !optionsIn(command).includes(option));
  if (foreign !== undefined) throw new UsageError(`${name} does not have the option --${foreign}`);
  const answer = await (command.withoutDatabase?.(values, terminal) ??
    runOnDatabase(terminal, command, values, operands));
  terminal.output.write(print === undefined ? textOfAnswer(command, answer) : `${printed(answer, print)}\n`);
  // Only for people: scripts that read standard error do not get it.
  if (command.next !== undefined && terminal.errors.isTTY) terminal.errors.write(`next: ${command.next}\n`);
}

/** @returns the exit code */
export function runAdmin(terminal: Terminal): Promise<0 | 1> {
  // The arguments before the first option name a command.
  const [named = ''] = terminal.args.join(' ').split(' -');
  const known = Object.keys(COMMANDS).find((name) => named.startsWith(name)) ?? '';
  const help = `npm run -s admin -- ${known} --help`.replace('  ', ' ');
  return runOn(terminal, usageFor(known), () => main(terminal), explain, help);
}
