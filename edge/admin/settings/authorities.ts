/**
 * Assigning authorities: which URI a short name of the site stands for, where messages say no more than the name (HD.1 of
 * an identifier, CWE.3 of a code). Sent and answered as a list, in a form and by a command a line each, `HOSP = urn:oid:…`.
 */
import { z } from 'zod';

const MAX_ENTRIES = 1000;
/** HD is 227 characters (HL7 v2.5.1 §2.A.33). */
const MAX_NAMESPACE_CHARACTERS = 227;
const MAX_SYSTEM_CHARACTERS = 1000;
/** A scheme, and the characters of a URI behind it (RFC 3986 §2 and §3). */
const ABSOLUTE_URI = /^[a-z][a-z0-9+.-]*:[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/i;
/** A name may hold `=` itself: the last one that an absolute URI stands behind divides. */
const LINE = /^(.*?)\s*=\s*([a-z][a-z0-9+.-]*:\S*)$/i;

export interface Authority {
  readonly namespace: string;
  readonly system: string;
}

const entry = z
  .strictObject({
    namespace: z
      .string({ error: 'must be a text' })
      .trim()
      .meta({ description: 'As the messages have it: HD.1, such as PID-3.4, or a coding system, such as OBX-3.3.' }),
    system: z.string({ error: 'must be a text' }).trim().meta({ description: 'The URI that it stands for.' }),
  })
  .superRefine(({ namespace, system }, context) => {
    const issue = (member: string, message: string) => context.addIssue({ code: 'custom', path: [member], message });
    if (namespace === '') issue('namespace', `${JSON.stringify(system)} has no namespace before it`);
    if (namespace.length > MAX_NAMESPACE_CHARACTERS)
      issue('namespace', `at most ${MAX_NAMESPACE_CHARACTERS} characters`);
    if (!ABSOLUTE_URI.test(system) || system.length > MAX_SYSTEM_CHARACTERS) {
      const given = system === '' ? 'nothing' : JSON.stringify(system);
      issue(
        'system',
        `${JSON.stringify(namespace)} needs an absolute URI, such as urn:oid:2.16.840.1.113883.3.1, not ${given}`,
      );
    }
  });

function parseLine(line: string): Authority {
  const [, namespace, system] = LINE.exec(line) ?? [];
  if (namespace !== undefined && system !== undefined) return { namespace, system };
  const at = line.indexOf('=');
  return at === -1 ? { namespace: line, system: '' } : { namespace: line.slice(0, at), system: line.slice(at + 1) };
}

const parseLines = (text: string): Authority[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map(parseLine);

/** From a list, or from lines of text, to what the column holds: an object from namespace to system. */
export const authorities = z
  .preprocess(
    (given) => (typeof given === 'string' ? parseLines(given) : given),
    z.array(entry, { error: 'must be a list of { namespace, system }' }).max(MAX_ENTRIES, `at most ${MAX_ENTRIES}`),
  )
  .superRefine((entries, context) => {
    const seen = new Set<string>();
    for (const [at, { namespace }] of entries.entries()) {
      const folded = namespace.toLowerCase();
      const message = `${JSON.stringify(namespace)} is given twice; capital and small letters count as the same`;
      if (seen.has(folded)) context.addIssue({ code: 'custom', path: [at, 'namespace'], message });
      seen.add(folded);
    }
  })
  .transform((entries): Readonly<Record<string, string>> =>
    Object.fromEntries(entries.map(({ namespace, system }) => [namespace, system])),
  );

export const authoritiesAnswer = z.array(z.object({ namespace: z.string(), system: z.string() }));

const stored = z.record(z.string(), z.string());

/** From the column, or the history of it, to what is answered: by namespace. */
export function viewAuthorities(column: unknown): Authority[] {
  const { data = {} } = stored.safeParse(typeof column === 'string' ? JSON.parse(column) : column);
  return Object.entries(data)
    .map(([namespace, system]) => ({ namespace, system }))
    .sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
}

/** The lines of a form. @param answered as `viewAuthorities` gives it */
export const printAuthorities = (answered: unknown): string =>
  (authoritiesAnswer.safeParse(answered).data ?? [])
    .map(({ namespace, system }) => `${namespace} = ${system}`)
    .join('\n');
