/** Names in messages that have no URI yet: the site's administrators are asked to assign a URI. */

/** The name of an assigning authority (HD.1, EI.2), or of a coding system (CWE.3). */
export const NAME_KINDS = ['authority', 'code-system'] as const;
export type NameKind = (typeof NAME_KINDS)[number];

export const isNameKind = (text: string): text is NameKind => NAME_KINDS.some((kind) => kind === text);

export interface UnmappedName {
  readonly kind: NameKind;
  /** In capitals: names compare without case. */
  readonly name: string;
}
