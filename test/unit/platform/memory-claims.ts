/** The contract of a jti store, in a map. */
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
