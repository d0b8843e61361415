/** The options of commands that set members of a record: their names, usage, and the body that they make. */
import type { Flag, Members } from './member.ts';
import { type Input, numberOf, switchOf } from './input.ts';

/** An option for `parseArgs` of Node. */
export interface FlagOption {
  readonly type: 'string';
  readonly multiple: boolean;
}

const flagsOf = (members: Members): Flag[] =>
  Object.values(members).flatMap(({ flag }) => (flag === undefined ? [] : [flag]));

/** An option for each member that a command can set. */
export function optionsOf(members: Members): Record<string, FlagOption> {
  return Object.fromEntries(
    flagsOf(members).map(({ name, from }) => [name, { type: 'string', multiple: from === 'lines' }]),
  );
}

/**
 * The usage of the options: `--name NAME`, `[--ttl SECONDS]`.
 *
 * @param isNew for a command that creates a record: required options have no brackets
 */
export function usageOf(members: Members, isNew: boolean): string[] {
  return Object.values(members).flatMap(({ flag, initial, suggested }) => {
    if (flag === undefined) return [];
    const option = `--${flag.name} ${flag.value}`;
    if (isNew && initial === undefined && suggested === undefined) return [option];
    return [`[${option}]${flag.from === 'lines' ? ' …' : ''}`];
  });
}

/**
 * Converts the given options to a body of the JSON API.
 *
 * @param readFile reads a file that an option names
 */
export async function bodyOfFlags(
  members: Members,
  values: Readonly<Record<string, string | readonly string[] | undefined>>,
  readFile: (path: string) => Promise<string>,
): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for (const [name, { flag, input }] of Object.entries(members)) {
    const given = flag === undefined ? undefined : values[flag.name];
    if (flag === undefined || given === undefined) continue;
    const text = typeof given === 'string' ? given : given.join('\n');
    if (flag.from === 'file') body[name] = text === '' ? null : await readFile(text);
    else body[name] = valueOfOption(input, text);
  }
  return body;
}

function valueOfOption(input: Input | undefined, text: string): unknown {
  if (input?.kind === 'number') return numberOf(text);
  return input?.kind === 'switch' ? switchOf(text) : text;
}
