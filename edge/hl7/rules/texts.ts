/** How verbs of rules change raw values. */
import { escape, type Syntax } from '../../../shared/hl7/escapes.ts';
import type { Message } from '../../../shared/hl7/message.ts';
import { RECOMMENDED } from '../../../shared/hl7/delimiters.ts';
import { NULL, splitBy } from '../../../shared/hl7/value.ts';
import { withoutTail } from '../../../shared/hl7/write.ts';
import { hasValue, textOf } from './selection.ts';

/** Writes a text of a rule: `""` is HL7's null. The result for the usual delimiters is made once. */
export function writer(text: string): (syntax: Syntax) => string {
  const write = (syntax: Syntax): string => (text === NULL ? NULL : escape(text, syntax));
  const usual = write({ delimiters: RECOMMENDED, charset: 'utf-8' });
  return (syntax) => (syntax.delimiters === RECOMMENDED ? usual : write(syntax));
}

/** Trims each text of a composite value; of a text only its ends, since it may have separators that were not escaped. */
export function trimmed(raw: string, isComposite: boolean, { delimiters }: Message): string {
  if (!/\s/.test(raw)) return raw;
  if (!isComposite) return raw.trim();
  const { component, subcomponent } = delimiters;
  return splitBy(raw, component)
    .map((part) =>
      splitBy(part, subcomponent)
        .map((text) => text.trim())
        .join(subcomponent),
    )
    .join(component);
}

/** The most pieces of a split value; a value with more stays as it is. */
const MAX_PIECES = 100;

/** Splits a single text. @param into the separator between the pieces; `''` if the message has none */
export function splitText(raw: string, by: string, into: string, message: Message): string {
  const { component, subcomponent } = message.delimiters;
  const isSingle = ![component, subcomponent].some((separator) => separator !== '' && raw.includes(separator));
  if (into === '' || raw === NULL || !isSingle) return raw;
  const pieces = textOf(raw, message).split(by, MAX_PIECES + 1);
  if (pieces.length === 1 || pieces.length > MAX_PIECES) return raw;
  return pieces.map((piece) => escape(piece, message)).join(into);
}

/** Joins the pieces between separators; a single piece stays as sent. */
export function joinPieces(raw: string, by: string, separator: string, message: Message): string {
  const pieces = splitBy(raw, separator).filter((piece) => piece !== NULL && hasValue(piece, message));
  if (separator === '' || pieces.length < 2) return raw;
  return escape(pieces.map((piece) => textOf(piece, message)).join(by), message);
}

/** An assigning authority, raw. */
export interface Authority {
  readonly namespace: string;
  readonly universalId: string;
  readonly universalIdType: string;
  /** The namespace, as text, of an authority that it replaces. */
  readonly replaces: string | undefined;
}

/**
 * Sets the authority of an identifier with components, where it has none or one to replace.
 *
 * @param number the component of the authority, an HD
 */
export function withComponentAuthority(raw: string, number: number, authority: Authority, message: Message): string {
  const { component, subcomponent } = message.delimiters;
  const parts = raw.split(component);
  if (!isIdentifier(parts[0], message)) return raw;
  const before = parts[number - 1] ?? '';
  const isOpen = !hasValue(before, message) || isReplaced(splitBy(before, subcomponent)[0], authority, message);
  if (!isOpen) return raw;
  const { namespace, universalId, universalIdType } = authority;
  while (parts.length < number) parts.push('');
  parts[number - 1] =
    subcomponent === ''
      ? namespace
      : withoutTail([namespace, universalId, universalIdType].join(subcomponent), subcomponent);
  return parts.join(component);
}

/** The same for EI, whose second to fourth parts are the authority. @param separator between its parts */
export function withEntityAuthority(raw: string, separator: string, authority: Authority, message: Message): string {
  const parts = splitBy(raw, separator);
  if (separator === '' || !isIdentifier(parts[0], message)) return raw;
  const before = parts.slice(1, 4);
  const [namespace = ''] = splitBy(before[0] ?? '', message.delimiters.subcomponent);
  const isOpen = !before.some((part) => hasValue(part, message)) || isReplaced(namespace, authority, message);
  if (!isOpen) return raw;
  const after = [authority.namespace, authority.universalId, authority.universalIdType];
  return withoutTail([parts[0] ?? '', ...after, ...parts.slice(4)].join(separator), separator);
}

const isIdentifier = (part: string | undefined, message: Message): boolean =>
  part !== undefined && part !== NULL && hasValue(part, message);

const isReplaced = (namespace: string | undefined, { replaces }: Authority, message: Message): boolean =>
  replaces !== undefined && textOf(namespace ?? '', message) === replaces;
