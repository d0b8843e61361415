/** The answer to a message that was judged, and the bytes of every ACK that the gateway makes. */
import { ackDecision, type AcknowledgmentCode } from '../../../shared/hl7/ack-mode.ts';
import { buildAck, type AckError } from '../../../shared/hl7/ack.ts';
import { applicationCodeFor, type ApplicationCode } from '../../../shared/hl7/error-code.ts';
import type { Header } from '../../../shared/hl7/header.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import type { KeyRecord } from '../../members/api-key.ts';

export interface Answer {
  /** AA, AE or AR: what was decided, also where no ACK is sent. */
  readonly outcome: ApplicationCode;
  /** Null where MSH-15 and MSH-16 ask for none; over HTTP a refusal always has one. */
  readonly ack: Uint8Array | null;
}

/** What an answer depends on beside the findings. */
export interface AnswerInput {
  readonly reading: { readonly header: Header };
  readonly settings: Pick<KeyRecord, 'hl7_information'>;
  readonly source: 'http' | 'mllp';
  readonly requestId: string;
  readonly nowMs: number;
}

/** From what is refused, and told, to the code and the ACK. */
export function answerTo(input: AnswerInput, findings: readonly AckError[]): Answer {
  const { requestId, nowMs, source, settings } = input;
  const { header } = input.reading;
  const errors = findings.filter(({ severity }) => severity === 'E');
  const judged = applicationCodeFor(errors.map(({ code }) => code));
  // What cannot be told apart from others by its sender cannot be corrected by sending it again either.
  const outcome = errors.length > 0 && header.controlId === undefined ? 'AR' : judged;
  const { send } = ackDecision(header, outcome);
  const code = send ?? (source === 'http' && outcome !== 'AA' ? outcome : undefined);
  const told = settings.hl7_information ? findings : findings.filter(({ severity }) => severity !== 'I');
  return { outcome, ack: code === undefined ? null : ackBytes(header, code, told, requestId, nowMs) };
}

/**
 * The accept acknowledgement that goes before the application's, where a message asks for both and its key wants both. It
 * says that the message is stored or refused, and leaves it to the other to say why.
 *
 * @param outcome as it was decided, now or when these bytes came first
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

/** An ACK that is made now; its errors tell our support the request. */
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

/** Twenty characters, the most that MSH-10 holds: the time of a UUIDv7 and its last random digits. */
export function ackControlId(nowMs: number): string {
  const id = uuidv7(nowMs).replaceAll('-', '');
  return id.slice(0, 12) + id.slice(-8);
}
