/**
 * A site's tables from local names in messages to URIs. The API has a list; a form and a command have one line each:
 * `HOSP = urn:oid:…`.
 */
import * as z from 'zod';

const MAX_ENTRIES = 1000;
/** HD is 227 characters (HL7 v2.5.1 §2.A.33); the name of a coding system is shorter. */
const MAX_NAME_CHARACTERS = 227;
const MAX_SYSTEM_CHARACTERS = 1000;
/** A scheme and the characters of a URI (RFC 3986 §2 and §3). */
const ABSOLUTE_URI = /^[a-z][a-z0-9+.-]*:[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/i;
/** The start of an absolute URI. */
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const EQUALS_SCHEME = /=[a-z][a-z0-9+.-]*:/i;

const text = z.string({ error: 'must be a text' }).trim();
const stored = z.record(z.string(), z.string());

/**
 * Splits a line into name and URI. A name may contain `=`: the line is split at the first `=` before an absolute URI.
 *
 * @param line trimmed
 */
function parseLine(line: string): [string, string] {
  const last = line.slice(line.search(/\s\S*$/) + 1);
  const before = line.slice(0, line.length - last.length).trimEnd();
  if (before.endsWith('=') && SCHEME.test(last)) return [before.slice(0, -1).trimEnd(), last];
  const within = last.search(EQUALS_SCHEME);
  if (within !== -1) {
    const at = line.length - last.length + within;
    return [line.slice(0, at).trimEnd(), line.slice(at + 1)];
  }
  const at = line.indexOf('=');
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}

const linesOf = (given: string): string[] =>
  given
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/**
 * Declares a table.
 *
 * @param member the entry's member for the name, such as `namespace`
 * @param description the description of that member in the API reference
 */
export function uriTable(member: string, description: string) {
  const entry = z
    .strictObject({
      [member]: text.meta({ description }),
      system: text.meta({ description: 'The URI.' }),
    })
    .superRefine((given, context) => {
      const { [member]: name = '', system = '' } = given;
      const issue = (at: string, message: string) => context.addIssue({ code: 'custom', path: [at], message });
      if (name === '') issue(member, `${JSON.stringify(system)} has no ${member} before it`);
      if (name.length > MAX_NAME_CHARACTERS) issue(member, `at most ${MAX_NAME_CHARACTERS} characters`);
      if (!ABSOLUTE_URI.test(system) || system.length > MAX_SYSTEM_CHARACTERS) {
        const instead = system === '' ? 'nothing' : JSON.stringify(system);
        issue(
          'system',
          `${JSON.stringify(name)} needs an absolute URI, such as urn:oid:2.16.840.1.113883.3.1, not ${instead}`,
        );
      }
    });

  /** Parses a list or lines of text to the stored object from name to URI. */
  const schema = z
    .preprocess(
      (given) =>
        typeof given === 'string'
          ? linesOf(given).map((line) => {
              const [name, system] = parseLine(line);
              return { [member]: name, system };
            })
          : given,
      z.array(entry, { error: `must be a list of { ${member}, system }` }).max(MAX_ENTRIES, `at most ${MAX_ENTRIES}`),
    )
    .superRefine((entries, context) => {
      const seen = new Set<string>();
      for (const [at, { [member]: name = '' }] of entries.entries()) {
        const folded = name.toLowerCase();
        const message = `${JSON.stringify(name)} is given twice; case does not matter`;
        if (seen.has(folded)) context.addIssue({ code: 'custom', path: [at, member], message });
        seen.add(folded);
      }
    })
    .transform((entries): Readonly<Record<string, string>> =>
      Object.fromEntries(entries.map(({ [member]: name = '', system = '' }) => [name, system])),
    );

  const answer = z.array(z.object({ [member]: z.string(), system: z.string() }));

  return {
    schema,
    answer,
    /** Converts the stored object to the answered list, by name. */
    view: (column: unknown): Record<string, string>[] => {
      const { data = {} } = stored.safeParse(typeof column === 'string' ? JSON.parse(column) : column);
      return Object.entries(data)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, system]) => ({ [member]: name, system }));
    },
    /** The lines of a form. @param answered the output of `view` */
    print: (answered: unknown): string =>
      (answer.safeParse(answered).data ?? [])
        .map(({ [member]: name, system }) => `${name ?? ''} = ${system ?? ''}`)
        .join('\n'),
  };
}
