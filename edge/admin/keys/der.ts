/** Reads the elements of DER (ITU-T X.690), as public keys and certificates use them. */

/** Identifier octets of universal types (X.690 §8.1.2). */
export const TAG = { integer: 0x02, bitString: 0x03, oid: 0x06, sequence: 0x30 } as const;

export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
  /** Identifier, length and content. */
  readonly encoded: Uint8Array;
}

const MAX_LENGTH_OCTETS = 4;

function elementAt(bytes: Uint8Array, start: number): DerElement | undefined {
  const [tag, first] = [bytes[start], bytes[start + 1]];
  // Keys have no identifiers of several octets.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined;
  const octets = first < 0x80 ? 0 : first - 0x80;
  if (octets > MAX_LENGTH_OCTETS || first === 0x80) return undefined;
  const begin = start + 2 + octets;
  const length = octets === 0 ? first : bytes.subarray(start + 2, begin).reduce((sum, byte) => sum * 256 + byte, 0);
  const end = begin + length;
  if (end > bytes.length) return undefined;
  return { tag, content: bytes.subarray(begin, end), encoded: bytes.subarray(start, end) };
}

/** The consecutive elements of these bytes; undefined if they are not DER to the end. */
export function elementsOf(bytes: Uint8Array): readonly DerElement[] | undefined {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length;) {
    const element = elementAt(bytes, at);
    if (element === undefined) return undefined;
    elements.push(element);
    at += element.encoded.length;
  }
  return elements;
}

/** The elements of a SEQUENCE; undefined if the bytes are anything else. */
export function sequenceOf(bytes: Uint8Array): readonly DerElement[] | undefined {
  const elements = elementsOf(bytes);
  const [only] = elements ?? [];
  return elements?.length === 1 && only?.tag === TAG.sequence ? elementsOf(only.content) : undefined;
}
