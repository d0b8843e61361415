/** Names in messages that nobody has given a URI yet: what the site's administrators are asked to name. */

export interface UnnamedName {
  /** Of codes (CWE.3), or of who gave out an identifier (HD.1, EI.2). */
  readonly kind: 'code-system' | 'authority';
  /** In capitals: names compare without case. */
  readonly name: string;
}
