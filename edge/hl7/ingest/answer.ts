/** The answer to a message, and the bytes of every ACK. */
import { ackDecision, isAcknowledgment, type AcknowledgmentCode } from '../../../shared/hl7/ack-mode.ts';
import { buildAck, type AckError } from '../../../shared/hl7/ack.ts';
import { applicationCodeFor, type ApplicationCode } from '../../../shared/hl7/error-code.ts';
import type { Header } from '../../../shared/hl7/header.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import type { KeyRecord } from '../../members/api-key.ts';

export interface Answer {
  /** AA, AE or AR, also without an ACK. */
  readonly outcome: ApplicationCode;
  /** Null for an acknowledgement, and if MSH-15 and MSH-16 ask for none. Over HTTP an error always has one. */
  readonly ack: Uint8Array | null;
}

export interface AnswerInput {
  readonly reading: { readonly header: Header };
  readonly settings: Pick<KeyRecord, 'hl7_information'>;
  readonly source: 'http' | 'mllp';
  readonly requestId: string;
  readonly nowMs: number;
}

/** The outcome and the ACK, from the findings. */
export function answerTo(input: AnswerInput, findings: readonly AckError[]): Answer {
  const { requestId, nowMs, source, settings } = input;
  const { header } = input.reading;
  const errors = findings.filter(({ severity }) => severity === 'E');
  const judged = applicationCodeFor(errors.map(({ code }) => code));
  // Without a control id the sender cannot match a correction with the message: sending it again does not help.
  const outcome = errors.length > 0 && header.controlId === undefined ? 'AR' : judged;
  const { send } = ackDecision(header, outcome);
  const isExplained = source === 'http' && outcome !== 'AA' && !isAcknowledgment(header);
  const code = send ?? (isExplained ? outcome : undefined);
  const reported = settings.hl7_information ? findings : findings.filter(({ severity }) => severity !== 'I');
  return { outcome, ack: code === undefined ? null : ackBytes(header, code, reported, requestId, nowMs) };
}

/**
 * The accept acknowledgement that precedes the application's, if a message asks for both and its key wants both. It states that
 * the message is stored or rejected, and not why.
 *
 * @param outcome the first decision's about these bytes
 */
export function acceptAckOf(
  header: Header,
  { hl7_accept_ack: isWanted }: Pick<KeyRecord, 'hl7_accept_ack'>,
  outcome: ApplicationCode,
  requestId: string,
  nowMs: number,
): Uint8Array | undefined {
  const { accept, application } = ackDecision(header, outcome);
  if (!isWanted || accept === undefined || application === undefined) return undefined;
  return ackBytes(header, accept, [], requestId, nowMs);
}

/** Builds an ACK. Its errors name the request id for support. */
export function ackBytes(
  header: Header,
  code: AcknowledgmentCode,
  findings: readonly AckError[],
  requestId: string,
  nowMs: number,
): Uint8Array {
  const errors = findings.map((finding) =>
    finding.severity === 'E' ? { ...finding, diagnostics: requestId } : finding,
  );
  return buildAck({ header, code, errors, ackControlId: ackControlId(nowMs), at: new Date(nowMs) }).bytes;
}

/** Twenty characters, the limit of MSH-10: the time of a UUIDv7 and its last random digits. */
export function ackControlId(nowMs: number): string {
  const id = uuidv7(nowMs).replaceAll('-', '');
  return id.slice(0, 12) + id.slice(-8);
}
