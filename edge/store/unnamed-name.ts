/** Names in messages that nobody has given a URI yet: what the site's administrators are asked to name. */

/** Of who gave out an identifier (HD.1, EI.2), or of codes (CWE.3). */
export const NAME_KINDS = ['authority', 'code-system'] as const;
export type NameKind = (typeof NAME_KINDS)[number];

export const isNameKind = (text: string): text is NameKind => NAME_KINDS.some((kind) => kind === text);

export interface UnnamedName {
  readonly kind: NameKind;
  /** In capitals: names compare without case. */
  readonly name: string;
}
