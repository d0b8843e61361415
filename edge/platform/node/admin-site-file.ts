/** `npm run admin -- export | plan | apply`: a site as a YAML file, like `/admin/api/export`, `/plan` and `/apply`. */
import { isNode, LineCounter, parseDocument, stringify } from 'yaml';
import * as z from 'zod';

import { Fault, type Issue } from '../../../shared/fault.ts';
import { applyFile } from '../../admin/site-file/apply.ts';
import { exportFile } from '../../admin/site-file/export.ts';
import { fileSchema, MAX_FILE_BYTES } from '../../admin/site-file/file.ts';
import { viewApplied, viewPlan } from '../../admin/site-file/operations.ts';
import type { PlanOptions } from '../../admin/site-file/part.ts';
import { planFile } from '../../admin/site-file/plan.ts';
import { readState } from '../../admin/site-file/state.ts';
import { type Command, need, operator, operatorAsks, type Options, readText, SITE } from './admin-command.ts';

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

/** The same fault with the line of each issue. */
function withLines(error: unknown, lineOf: ReadYaml['lineOf']): unknown {
  if (!(error instanceof Fault) || error.issues.length === 0) return error;
  const issues = error.issues.map((issue): Issue => {
    const { at = '' } = issue;
    return { ...issue, at: `line ${lineOf(at)}${at === '' ? '' : `: ${at}`}` };
  });
  return error.with({ issues });
}

async function withFile<T>(options: Options, use: (content: unknown) => Promise<T>): Promise<T> {
  const { content, lineOf } = readYaml(await readText(need(options, 'file')));
  try {
    return await use(content);
  } catch (error) {
    throw withLines(error, lineOf);
  }
}

const optionsOf = (options: Options): PlanOptions => ({
  prune: options['prune'] !== undefined,
  copy: options['copy'] !== undefined,
  maxFetches: Infinity,
});

const FILE = [SITE, '--file FILE', '[--prune]', '[--copy]'] as const;

const planned = z.object({ diff: z.string(), fingerprint: z.string() });

/** The YAML of an exported file. */
export const printYaml = (content: unknown): string =>
  `# A site of the integration gateway. npm run -s admin -- schema prints its JSON Schema.\n${stringify(content, { lineWidth: 0 })}`;

export const SITE_FILE_COMMANDS: Readonly<Record<string, Command>> = {
  export: {
    usage: [SITE],
    print: printYaml,
    run: async ({ database }, options) => exportFile(await readState(database, operator(need(options, 'site')))),
  },
  plan: {
    next: 'npm run -s admin -- apply with the same options and --plan FINGERPRINT',
    usage: FILE,
    print(answer) {
      const { diff, fingerprint } = planned.parse(answer);
      return `${diff}fingerprint: ${fingerprint}\n`;
    },
    run: (deps, options) =>
      withFile(options, async (content) =>
        viewPlan(await planFile(deps, operator(need(options, 'site')), content, optionsOf(options))),
      ),
  },
  apply: {
    usage: [...FILE, '--plan FINGERPRINT'],
    run: (deps, options) =>
      withFile(options, async (content) => {
        const given = { ...optionsOf(options), fingerprint: need(options, 'plan').trim(), isOperator: true };
        const actor = operator(need(options, 'site'));
        return viewApplied(await applyFile(deps, actor, operatorAsks(), content, given));
      }),
  },
  schema: {
    usage: [],
    run: async () => fileSchema(),
  },
};
