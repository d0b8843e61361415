/** What a store of claims promises, in a map. */
export function memoryClaims() {
  const attempts = new Map<string, string>();
  return {
    claim(hash: string, attempt: string): boolean {
      const known = attempts.get(hash) ?? attempt;
      attempts.set(hash, known);
      return known === attempt;
    },
  };
}
