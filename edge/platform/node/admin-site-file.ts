/** `npm run admin -- export | plan | apply`: a site as a YAML file, like `/admin/api/export`, `/plan` and `/apply`. */
import { open, rm } from 'node:fs/promises';

import { isNode, LineCounter, parseDocument, stringify } from 'yaml';
import * as z from 'zod';

import { Fault, type Issue, printPlace } from '../../../shared/fault.ts';
import { applyFile } from '../../admin/site-file/apply.ts';
import { exportSite } from '../../admin/site-file/export.ts';
import { fileSchema, MAX_FILE_BYTES } from '../../admin/site-file/file.ts';
import { viewApplied, viewPlan } from '../../admin/site-file/operations.ts';
import type { PlanOptions } from '../../admin/site-file/part.ts';
import { planFile } from '../../admin/site-file/plan.ts';
import { type AdminApi, connectAdminApi } from './admin-api.ts';
import {
  type Command,
  type CommandDeps,
  need,
  operator,
  operatorAsks,
  type Options,
  readText,
  SITE,
  textOf,
} from './admin-command.ts';
import { UsageError } from './program.ts';
import { type FileWithTables, readTables, writeTables } from './site-file-tables.ts';

/** The steps to a place such as `apiKeys[0].name`. */
const stepsOf = (at: string): (string | number)[] =>
  [...at.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name = '']) => (index === undefined ? name : Number(index)));

export interface ReadYaml {
  readonly content: unknown;
  /** The line of a place, or of the nearest place around it; from 1. */
  readonly lineOf: (at: string) => number;
}

/** Reads YAML 1.2. @throws Fault `malformed` with the lines of its errors */
export function readYaml(text: string): ReadYaml {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    throw new Fault('too-large', `the file is larger than ${MAX_FILE_BYTES} bytes`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    const issues = document.errors.map(({ message, pos: [from] }) => ({
      code: 'malformed',
      message,
      at: `line ${lines.linePos(from).line}`,
    }));
    throw new Fault('malformed', 'the file is not YAML', { issues });
  }
  const lineOf = (at: string): number => {
    for (let steps = stepsOf(at); steps.length > 0; steps = steps.slice(0, -1)) {
      const node = document.getIn(steps, true);
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
    }
    return 1;
  };
  // The default bound of aliases keeps a small file small.
  return { content: document.toJS(), lineOf };
}

/** The same fault with the line of each issue, in the file or in a CSV file. */
function withLines(error: unknown, lineOf: ReadYaml['lineOf'], names: FileWithTables['names']): unknown {
  if (!(error instanceof Fault) || error.issues.length === 0) return error;
  const issues = error.issues.map((issue): Issue => {
    const { at = '', code, message } = issue;
    const csvFile = names.get(at);
    if (csvFile !== undefined) return { ...issue, at: csvFile };
    return { code, message, at: `line ${lineOf(at)}${at === '' ? '' : `: ${printPlace(issue)}`}` };
  });
  return error.with({ issues });
}

/** Reads a YAML file with its CSV files, and uses its content; issues get its lines. */
export async function withFile<T>(path: string, use: (content: unknown) => Promise<T>): Promise<T> {
  const { content: yaml, lineOf } = readYaml(await readText(path));
  const { content, names } = await readTables(path, yaml);
  try {
    return await use(content);
  } catch (error) {
    throw withLines(error, lineOf, names);
  }
}

/** The steps of a site's file, by the database or by `/admin/api`. */
interface SiteFiles {
  readonly exported: () => Promise<unknown>;
  readonly planned: (file: unknown, options: Options) => Promise<unknown>;
  readonly applied: (file: unknown, options: Options, fingerprint: string) => Promise<unknown>;
}

/** With the owner's rights, and the time of the command. */
const NO_LIMITS = { maxFetches: Infinity, maxChanges: Infinity, maxRows: Infinity } as const;

const commentOf = (options: Options): { readonly comment?: string } => {
  const comment = textOf(options, 'comment').trim();
  return comment === '' ? {} : { comment };
};

const choices = (options: Options): Pick<PlanOptions, 'prune' | 'copy'> => ({
  prune: options['prune'] !== undefined,
  copy: options['copy'] !== undefined,
});

function filesOfDatabase(deps: CommandDeps, options: Options): SiteFiles {
  const actor = operator(need(options, 'site'));
  const all = (given: Options): PlanOptions => ({ ...choices(given), ...NO_LIMITS });
  return {
    exported: () => exportSite(deps.database, actor, NO_LIMITS),
    planned: async (file, given) => viewPlan(await planFile(deps, actor, file, all(given))),
    async applied(file, given, fingerprint) {
      const how = { ...all(given), ...commentOf(given), fingerprint, isOperator: true };
      return viewApplied(await applyFile(deps, actor, operatorAsks(), file, how));
    },
  };
}

const filesOfApi = (api: AdminApi): SiteFiles => ({
  exported: () => api('/export'),
  planned: (file, options) => api('/plan', { file, ...choices(options) }),
  applied: (file, options, fingerprint) =>
    api('/apply', { file, ...choices(options), ...commentOf(options), fingerprint }),
});

const withChanges = z.object({ changes: z.array(z.object({ kind: z.string(), action: z.string() })) });
const withSecrets = z.looseObject({ subscriptions: z.array(z.looseObject({ secret: z.string() })) });

const withoutSecret = (created: object): object =>
  Object.fromEntries(Object.entries(created).filter(([member]) => member !== 'secret'));

/** Applies a file. The secrets of new subscriptions go to a new file, because a CI job keeps its output. */
async function apply(files: SiteFiles, content: unknown, options: Options, fingerprint: string): Promise<unknown> {
  const path = textOf(options, 'secrets');
  if (path === '') {
    const { changes } = withChanges.parse(await files.planned(content, options));
    if (changes.some(({ kind, action }) => kind === 'subscription' && action === 'create'))
      throw new UsageError(
        'the file creates subscriptions: add --secrets NEW_FILE for the secrets of their signatures',
      );
    return files.applied(content, options, fingerprint);
  }
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    throw new UsageError(`--secrets ${path} must be a new file that can be written`, { cause: error });
  });
  try {
    const answer = withSecrets.parse(await files.applied(content, options, fingerprint));
    await file.writeFile(`${JSON.stringify(answer.subscriptions, null, 2)}\n`);
    return { ...answer, subscriptions: answer.subscriptions.map(withoutSecret) };
  } catch (error) {
    await rm(path);
    throw error;
  } finally {
    await file.close();
  }
}

/** A command by the database, or by `/admin/api` with `--console`. */
const onSite = (
  described: Omit<Command, 'run' | 'withoutDatabase'>,
  use: (files: SiteFiles, options: Options) => Promise<unknown>,
): Command => ({
  ...described,
  usage: [SITE, '[--console URL]', ...described.usage],
  withoutDatabase: (options, { env }) =>
    options['console'] === undefined
      ? undefined
      : use(
          filesOfApi(connectAdminApi(need(options, 'console'), env['ADMIN_TOKEN'], textOf(options, 'site'))),
          options,
        ),
  run: (deps, options) => use(filesOfDatabase(deps, options), options),
});

const tablesWithoutRows = z.looseObject({
  codeTables: z.array(
    z.looseObject({ name: z.string(), csv: z.unknown().optional(), csvFile: z.unknown().optional() }),
  ),
});

const FILE = ['--file FILE', '[--prune]', '[--copy]'] as const;

const planned = z.object({ diff: z.string(), fingerprint: z.string() });

/** The YAML of an exported file. */
export const printYaml = (content: unknown): string => {
  const lacks = typeof content === 'object' && content !== null && !('subscriptions' in content);
  const without = (tablesWithoutRows.safeParse(content).data?.codeTables ?? [])
    .filter(({ csv, csvFile }) => csv === undefined && csvFile === undefined)
    .map(({ name }) => name);
  return (
    '# A site of the integration gateway. npm run -s admin -- schema prints its JSON Schema.\n' +
    (without.length === 0
      ? ''
      : `# Too many rows to export over /admin/api, so they are left out and stay: ${without.join(', ')}. Export with DATABASE_URL.\n`) +
    (lacks ? '# Subscriptions are left out: this needs site.api_keys.update and site.messages.read.\n' : '') +
    stringify(content, { lineWidth: 0 })
  );
};

export const SITE_FILE_COMMANDS: Readonly<Record<string, Command>> = {
  export: onSite({ usage: ['[--tables FOLDER]'], print: printYaml }, async ({ exported }, options) => {
    const folder = textOf(options, 'tables');
    return folder === '' ? exported() : writeTables(folder, await exported());
  }),
  plan: onSite(
    {
      next: 'npm run -s admin -- apply with the same options and --plan FINGERPRINT',
      usage: FILE,
      print(answer) {
        const { diff, fingerprint } = planned.parse(answer);
        return `${diff}fingerprint: ${fingerprint}\n`;
      },
    },
    (files, options) => withFile(need(options, 'file'), (content) => files.planned(content, options)),
  ),
  apply: onSite(
    { usage: [...FILE, '--plan FINGERPRINT', '[--comment TEXT]', '[--secrets NEW_FILE]'] },
    (files, options) => {
      const fingerprint = need(options, 'plan').trim();
      return withFile(need(options, 'file'), (content) => apply(files, content, options, fingerprint));
    },
  ),
  schema: { usage: [], withoutDatabase: async () => fileSchema(), run: async () => fileSchema() },
};
