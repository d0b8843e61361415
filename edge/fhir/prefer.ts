/** The `Prefer` header (RFC 7240; FHIR R4 http, 3.1.0.1.10.1 `return` and search 3.1.1.1 `handling`). */

export interface Prefer {
  readonly return: 'representation' | 'minimal' | 'OperationOutcome';
  readonly handling: 'strict' | 'lenient';
}

const RETURNS = ['representation', 'minimal', 'OperationOutcome'] as const;

/** The preferences by name; the first of its name counts (RFC 7240 §2). */
function preferences(headers: Headers): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  const header = headers.get('prefer');
  if (header === null) return given;
  for (const part of header.split(/[,;]/)) {
    const [name = '', value = ''] = part.split('=').map((item) => item.trim());
    if (!given.has(name.toLowerCase())) given.set(name.toLowerCase(), value.replace(/^"(.*)"$/, '$1').toLowerCase());
  }
  return given;
}

/** `respond-async` (RFC 7240 §4.1), which has no value. */
export const isAsync = (headers: Headers): boolean => preferences(headers).get('respond-async') === '';

/** Unknown preferences are ignored (RFC 7240 §2). */
export function preferOf(headers: Headers): Prefer {
  const given = preferences(headers);
  const wanted = given.get('return');
  return {
    return: RETURNS.find((name) => name.toLowerCase() === wanted) ?? 'representation',
    handling: given.get('handling') === 'lenient' ? 'lenient' : 'strict',
  };
}
