/**
 * Decides which acknowledgements a message gets: original mode (HL7 v2.5.1 §2.9.2) unless MSH-15 or MSH-16 requests
 * enhanced mode (§2.9.3). `ack.ts` writes them.
 */
import type { ApplicationCode } from './error-code.ts';
import type { Header } from './header.ts';

/** MSA-1 of an accept acknowledgement, enhanced mode only (table 0008). */
type AcceptCode = 'CA' | 'CE' | 'CR';
export type AcknowledgmentCode = ApplicationCode | AcceptCode;

export interface AckDecision {
  readonly mode: 'original' | 'enhanced';
  /** The accept acknowledgement that MSH-15 requests. */
  readonly accept: AcceptCode | undefined;
  /** The application acknowledgement: always in original mode, as MSH-16 requests in enhanced mode. */
  readonly application: ApplicationCode | undefined;
  /**
   * The one to send if the transport carries a single answer. The application acknowledgement wins, because it includes
   * what the accept acknowledgement says. Undefined: send none.
   */
  readonly send: AcknowledgmentCode | undefined;
}

const ACCEPT: Readonly<Record<ApplicationCode, AcceptCode>> = { AA: 'CA', AE: 'CE', AR: 'CR' };

// Table 0155. An unknown condition counts as AL: its sender expects an answer.
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
 * The acknowledgements of a message. The content is checked before either is sent, so that a rejected message never gets
 * CA.
 */
export function ackDecision(header: Header, outcome: ApplicationCode): AckDecision {
  const { acceptAcknowledgment, applicationAcknowledgment } = header;
  if (isAcknowledgment(header)) return { mode: 'original', accept: undefined, application: undefined, send: undefined };
  if (acceptAcknowledgment === undefined && applicationAcknowledgment === undefined) {
    return { mode: 'original', accept: undefined, application: outcome, send: outcome };
  }
  const accept = isAsked(acceptAcknowledgment, outcome) ? ACCEPT[outcome] : undefined;
  const application = isAsked(applicationAcknowledgment, outcome) ? outcome : undefined;
  return { mode: 'enhanced', accept, application, send: application ?? accept };
}

/** An acknowledgement is never acknowledged: two systems would answer each other forever (§2.9.2). */
export const isAcknowledgment = ({ messageType }: Pick<Header, 'messageType'>): boolean =>
  messageType?.toUpperCase() === 'ACK';

function isAsked(condition: string | undefined, outcome: ApplicationCode): boolean {
  // In enhanced mode an empty field requests nothing (§2.9.3).
  if (condition === undefined) return false;
  return CONDITIONS.get(condition.toUpperCase())?.(outcome) ?? true;
}
