/**
 * Reads the fields of MSH (HL7 v2.5.1 §2.15.9), also from an MSH that is truncated or whose message does not decode. It
 * does not check them.
 */
import { latin1, type Charset } from './charset.ts';
import { RECOMMENDED, type Delimiters } from './delimiters.ts';
import type { Issue } from '../fault.ts';
import { readMessage, type Message, type Segment } from './message.ts';
import { rawAt, valueAt } from './value.ts';

/** Texts are undefined if they are absent, empty or `""`. */
export interface Header {
  /** Undefined if no header segment parses. */
  readonly segment: Segment | undefined;
  readonly delimiters: Delimiters;
  readonly charset: Charset;
  /** MSH-3.1 to MSH-6.1, the namespace of each HD. */
  readonly sendingApplication: string | undefined;
  readonly sendingFacility: string | undefined;
  readonly receivingApplication: string | undefined;
  readonly receivingFacility: string | undefined;
  /** MSH-7 as written: `20260102030405.123+0100`. */
  readonly dateTime: string | undefined;
  /** MSH-9.1 to MSH-9.3: `ADT`, `A01`, `ADT_A01`. */
  readonly messageType: string | undefined;
  readonly triggerEvent: string | undefined;
  readonly messageStructure: string | undefined;
  /** MSH-10. */
  readonly controlId: string | undefined;
  /** MSH-11.1: `P`, `T`, `D`. */
  readonly processingId: string | undefined;
  /** MSH-12.1: `2.5.1`. */
  readonly versionId: string | undefined;
  /** MSH-15 and MSH-16, table 0155: `AL`, `NE`, `ER`, `SU`. */
  readonly acceptAcknowledgment: string | undefined;
  readonly applicationAcknowledgment: string | undefined;
  /** MSH-18 as written, by repetition. */
  readonly characterSets: readonly string[];
}

/**
 * The header of a message. For a batch without an MSH it is FHS or BHS. Their fields 3 to 7 have the meaning of
 * MSH's, and their control id is field 11.
 */
export function readHeader(message: Message, charset = message.charset): Header {
  const segment = message.first('MSH') ?? message.segments[0];
  const { delimiters } = message;
  if (segment === undefined) return { ...NO_HEADER, delimiters, charset };

  const isBatch = segment.id !== 'MSH';
  const text = (field: number, component = 1): string | undefined =>
    valueAt(segment, field, 1, component)?.trim() || undefined;
  const messageOnly = (field: number, component = 1): string | undefined =>
    isBatch ? undefined : text(field, component);

  return {
    segment,
    delimiters,
    charset,
    sendingApplication: text(3),
    sendingFacility: text(4),
    receivingApplication: text(5),
    receivingFacility: text(6),
    dateTime: text(7),
    messageType: messageOnly(9, 1),
    triggerEvent: messageOnly(9, 2),
    messageStructure: messageOnly(9, 3),
    controlId: isBatch ? text(11) : text(10),
    processingId: messageOnly(11),
    versionId: messageOnly(12),
    acceptAcknowledgment: messageOnly(15),
    applicationAcknowledgment: messageOnly(16),
    characterSets: isBatch ? [] : (rawAt(segment, 18) ?? '').split(delimiters.repetition).filter((name) => name !== ''),
  };
}

/**
 * The header of bytes that `readMessage` rejects, for the ACK. The first line is read as one character per byte, so that
 * echoing it returns the sender's bytes. Never throws.
 */
export function salvageHeader(bytes: Uint8Array): Header {
  // A real MSH has some 150 bytes; a longer line is not worth echoing.
  const start = latin1(bytes.subarray(0, 4096)).replaceAll('\0', '');
  const from = start.search(/MSH|FHS|BHS/);
  if (from < 0) return NO_HEADER;
  const line = start.slice(from).split(/[\r\n]/, 1)[0] ?? '';
  try {
    return readHeader(readMessage(line), 'iso-8859-1');
  } catch {
    return NO_HEADER;
  }
}

/** For a message without a readable MSH. */
export const NO_HEADER: Header = {
  segment: undefined,
  delimiters: RECOMMENDED,
  charset: 'us-ascii',
  sendingApplication: undefined,
  sendingFacility: undefined,
  receivingApplication: undefined,
  receivingFacility: undefined,
  dateTime: undefined,
  messageType: undefined,
  triggerEvent: undefined,
  messageStructure: undefined,
  controlId: undefined,
  processingId: undefined,
  versionId: undefined,
  acceptAcknowledgment: undefined,
  applicationAcknowledgment: undefined,
  characterSets: [],
};

const REQUIRED: readonly { readonly field: keyof Header; readonly at: string; readonly name: string }[] = [
  { field: 'messageType', at: 'MSH^1^9^1^1', name: 'MSH-9.1 (message code)' },
  { field: 'triggerEvent', at: 'MSH^1^9^1^2', name: 'MSH-9.2 (trigger event)' },
  { field: 'controlId', at: 'MSH^1^10', name: 'MSH-10 (message control id)' },
  { field: 'versionId', at: 'MSH^1^12', name: 'MSH-12 (version id)' },
];

/** One issue 101 for each required field of MSH (§2.15.9) that is missing. MSH-7 and MSH-11 are optional here. */
export function missingHeaderFields(header: Header): Issue[] {
  return REQUIRED.filter(({ field }) => header[field] === undefined).map(({ at, name }) => ({
    code: '101',
    message: `${name} is required`,
    at,
  }));
}
