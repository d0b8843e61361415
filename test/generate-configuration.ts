/**
 * Writes what follows from the tables of variables (edge/config.ts, sidecar/config.ts): `edge/docs/configuration.md`, the
 * variables in `edge/platform/compose.yaml`, and `edge/platform/gateway-deno.sh`. The script starts the program with no more
 * permissions than it needs. It also writes the limits (edge/limits.ts) into the chapter behaviour. `npm run generate` runs it.
 */
import { readFile, writeFile } from 'node:fs/promises';

import * as z from 'zod';

import { VARIABLES } from '../edge/config.ts';
import { LIMITS } from '../edge/limits.ts';
import { DENO_PERMISSIONS } from '../edge/platform/deno-permissions.ts';
import { SIDECAR_VARIABLES } from '../sidecar/config.ts';

const ROOT = new URL('../', import.meta.url);

/** The default as it is written in the environment: before a transform. */
function defaultOf(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodPipe) return defaultOf(schema.in);
  if (schema instanceof z.ZodOptional) return '';
  if (!(schema instanceof z.ZodDefault)) return 'required';
  const value = String(schema.def.defaultValue);
  return value === '' ? '' : `\`${value}\``;
}

const row = ([name, schema]: readonly [string, z.ZodType]): string =>
  `| \`${name}\` | ${defaultOf(schema)} | ${(schema.description ?? '').replaceAll('|', '\\|')} |`;

/** A Markdown table of variables. @throws an Error for a variable without a description */
export function configurationTable(variables: Readonly<Record<string, z.ZodType>>): string {
  const silent = Object.entries(variables).filter(([, { description }]) => description === undefined);
  if (silent.length > 0) throw new Error(`without a description: ${silent.map(([name]) => name).join(', ')}`);
  return ['| Variable | Default | Meaning |', '| --- | --- | --- |', ...Object.entries(variables).map(row)].join('\n');
}

const chapter = (name: string): string => `edge/docs/${name}.md`;

/** A Markdown table of the limits of one FHIR request, with columns as the formatter aligns them. */
function limitsTable(): string {
  const rows = Object.entries(LIMITS).map(([name, { most, of }]) => [`\`${name}\``, most.toLocaleString('en'), of]);
  const titles = ['Limit', 'At most', 'Work'];
  const widths = titles.map((title, n) =>
    Math.max(...[title, ...rows.map((row) => row[n] ?? '')].map((cell) => cell.length)),
  );
  const line = (cells: readonly string[], filler = ' '): string =>
    `| ${cells.map((cell, n) => cell.padEnd(widths[n] ?? 0, filler)).join(' | ')} |`;
  const rule = line(
    titles.map(() => ''),
    '-',
  );
  return [line(titles), rule, ...rows.map((row) => line(row))].join('\n');
}

const quoted = (flag: string): string => (/^[\w=-]+$/.test(flag) ? flag : `'${flag}'`);

/** A shell script that starts the program on Deno; its arguments are further flags of `deno run`. */
export const DENO_SCRIPT = `#!/bin/sh
# Made by npm run generate from edge/config.ts. Arguments are further flags of deno run, such as --allow-read=dist,/etc/gateway.
cd "$(dirname "$0")/../.." || exit 1
exec deno run ${DENO_PERMISSIONS.map(quoted).join(' ')} "$@" edge/platform/deno.ts
`;

/** The text between two lines replaced. @throws an Error where the page has no such part */
function between(page: string, begin: string, end: string, part: string): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`no part ${begin} in the page`);
  return `${before}${begin}\n${part}${end}${after}`;
}

/** The page with its generated part made again. @throws an Error where the page has no such part */
export const withPart = (page: string, name: string, part: string): string =>
  between(page, `<!-- ${name}: made by npm run generate -->`, `<!-- end of ${name} -->`, `\n${part}\n\n`);

const COMPOSE = 'edge/platform/compose.yaml';

/** The variables that compose.yaml itself sets: by the image, or for its network. */
const OF_COMPOSE = new Set(['DATABASE_URL', 'HOST', 'PORT', 'EDGE_URL', 'HEALTH_HOST', 'HEALTH_PORT', 'MLLP_PORT']);

/** The names of the variables of a service in compose.yaml, as the items of its list or map of variables. */
function composeVariables(variables: Readonly<Record<string, z.ZodType>>, indent: string): string {
  const names = Object.keys(variables).filter((name) => !OF_COMPOSE.has(name));
  return `${names.map((name) => `${indent}${name}:\n`).join('')}${indent}`;
}

const ofService = (page: string, name: string, part: string): string =>
  between(page, `# settings of the ${name}: made by npm run generate`, `# end of settings of the ${name}`, part);

export async function generatedConfiguration(): Promise<Record<string, string>> {
  const [page, behaviour, compose] = await Promise.all(
    [chapter('configuration'), chapter('behaviour'), COMPOSE].map((path) => readFile(new URL(path, ROOT), 'utf8')),
  );
  return {
    'edge/docs/configuration.md': withPart(
      withPart(page ?? '', 'edge', configurationTable(VARIABLES)),
      'sidecar',
      configurationTable(SIDECAR_VARIABLES),
    ),
    [chapter('behaviour')]: withPart(behaviour ?? '', 'limits', limitsTable()),
    'edge/platform/gateway-deno.sh': DENO_SCRIPT,
    [COMPOSE]: ofService(
      ofService(compose ?? '', 'gateway', composeVariables(VARIABLES, '    ')),
      'sidecar',
      composeVariables(SIDECAR_VARIABLES, '      '),
    ),
  };
}

if (import.meta.main)
  for (const [path, text] of Object.entries(await generatedConfiguration()))
    await writeFile(new URL(path, ROOT), text, { mode: path.endsWith('.sh') ? 0o755 : 0o644 });
