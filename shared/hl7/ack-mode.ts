/**
 * Whether a message is answered, and with which code: original mode (HL7 v2.5.1 §2.9.2) unless MSH-15 or MSH-16 asks
 * for enhanced mode (§2.9.3). It decides; `ack.ts` writes.
 */
import type { ApplicationCode } from './error-code.ts';
import type { Header } from './header.ts';

/** MSA-1 of an accept acknowledgement, enhanced mode only (table 0008). */
export type AcceptCode = 'CA' | 'CE' | 'CR';
export type AcknowledgmentCode = ApplicationCode | AcceptCode;

export interface AckDecision {
  readonly mode: 'original' | 'enhanced';
  /** The accept acknowledgement that MSH-15 asks for. */
  readonly accept: AcceptCode | undefined;
  /** The application acknowledgement: always in original mode, as MSH-16 asks in enhanced mode. */
  readonly application: ApplicationCode | undefined;
  /**
   * The one to send where a message gets one answer: the application's, where both are asked for, since it says what
   * the other says and what became of the message. Undefined: send none.
   */
  readonly send: AcknowledgmentCode | undefined;
}

const ACCEPT: Readonly<Record<ApplicationCode, AcceptCode>> = { AA: 'CA', AE: 'CE', AR: 'CR' };

// Table 0155. A condition we do not know is treated as AL: a sender that asks is better answered.
const CONDITIONS: ReadonlyMap<string, (outcome: ApplicationCode) => boolean> = new Map<
  string,
  (outcome: ApplicationCode) => boolean
>([
  ['AL', () => true],
  ['NE', () => false],
  ['ER', (outcome) => outcome !== 'AA'],
  ['SU', (outcome) => outcome === 'AA'],
]);

/**
 * Which acknowledgements a message gets. The content has been judged before either is sent, so that an accept
 * acknowledgement never says CA to what was refused.
 */
export function ackDecision(header: Header, outcome: ApplicationCode): AckDecision {
  const { acceptAcknowledgment, applicationAcknowledgment } = header;
  if (acceptAcknowledgment === undefined && applicationAcknowledgment === undefined) {
    return { mode: 'original', accept: undefined, application: outcome, send: outcome };
  }
  const accept = isAsked(acceptAcknowledgment, outcome) ? ACCEPT[outcome] : undefined;
  const application = isAsked(applicationAcknowledgment, outcome) ? outcome : undefined;
  return { mode: 'enhanced', accept, application, send: application ?? accept };
}

function isAsked(condition: string | undefined, outcome: ApplicationCode): boolean {
  // In enhanced mode an empty field asks for nothing (§2.9.3).
  if (condition === undefined) return false;
  return CONDITIONS.get(condition.toUpperCase())?.(outcome) ?? true;
}
