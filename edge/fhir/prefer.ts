/** The `Prefer` header (RFC 7240; FHIR R4 http, 3.1.0.1.10.1 `return` and search 3.1.1.1 `handling`). */

export interface Prefer {
  readonly return: 'representation' | 'minimal' | 'OperationOutcome';
  readonly handling: 'strict' | 'lenient';
}

const RETURNS = ['representation', 'minimal', 'OperationOutcome'] as const;

/** Preferences we do not know are none of ours (RFC 7240 §2); the first of its name counts. */
export function preferOf(headers: Headers): Prefer {
  const given = new Map<string, string>();
  for (const part of (headers.get('prefer') ?? '').split(/[,;]/)) {
    const [name = '', value = ''] = part.split('=').map((item) => item.trim());
    if (!given.has(name.toLowerCase())) given.set(name.toLowerCase(), value.replace(/^"(.*)"$/, '$1').toLowerCase());
  }
  const wanted = given.get('return');
  return {
    return: RETURNS.find((name) => name.toLowerCase() === wanted) ?? 'representation',
    handling: given.get('handling') === 'lenient' ? 'lenient' : 'strict',
  };
}
