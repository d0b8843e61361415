/** The parameters of maps beside the segment, and the reports of values that could not be mapped. */
import { Fault } from '../../../shared/fault.ts';
import type { AckError, Severity } from '../../../shared/hl7/ack.ts';
import { errorsOfFault } from '../../../shared/hl7/ack.ts';
import type { ErrorCode } from '../../../shared/hl7/error-code.ts';
import type { ErrorReason } from '../../../shared/hl7/error-reason.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate, locatePart, type Part } from '../../../shared/hl7/value.ts';
import type { Authorities } from './assigning-authority.ts';
import type { NewAttention } from '../../store/attention.ts';
import type { UnmappedName } from '../../store/unmapped-name.ts';
import { textOf } from './datatypes/text.ts';
import type { Translate } from './translate.ts';
import type { ZoneFallback } from '../../../shared/hl7/time.ts';

export interface MapContext {
  /** For times without an offset: MSH-7's, else the time zone of the key or the site. */
  readonly zone: ZoneFallback;
  /** The site's namespaces (HD.1, EI.2) with their system URIs. */
  readonly authorities: ReadonlyMap<string, string>;
  /** The site's coding systems (CWE.3), in capitals, with their URIs. */
  readonly codeSystems: ReadonlyMap<string, string>;
  /** The prefix of URIs for unmapped coding systems; undefined if the gateway has no FHIR address. */
  readonly localSystems: string | undefined;
  /** Race and ethnicity become US Core extensions. */
  readonly usCore: boolean;
  /** The URIs of identifiers' namespaces, from the site and this key's messages. */
  readonly assigningAuthorities: Authorities;
  /** The codings of the site's code tables; undefined without tables. */
  readonly translate: Translate | undefined;
  readonly messageId: string;
  /** Collects findings for ERR segments. */
  readonly report: (finding: AckError) => void;
  /** Collects issues to review. */
  readonly attend: (attention: NewAttention) => void;
  /** Collects unmapped names. */
  readonly unmapped: (name: UnmappedName) => void;
}

/**
 * Reports a finding; no patient data in `message`.
 *
 * @param severity `E` rejects the message, `W` means that a value was stored with the message but not mapped
 */
export function note(
  context: Pick<MapContext, 'report'>,
  severity: Severity,
  code: ErrorCode,
  at: string,
  message: string,
  reason: ErrorReason,
): void {
  context.report({ severity, code, at, message, reason });
}

/** Reports a code outside its table, whose element is skipped. */
export function noteUnknownCode(segment: Segment, field: number, table: string, context: MapContext): void {
  const message = `${segment.id}-${field} is not a code of ${table}. It was not mapped.`;
  note(context, 'W', '103', locate(segment, field), message, 'unknown-code');
}

/** Reports a component outside its table: the use of a name, an identifier or an address. */
export function noteUnknownUse(
  part: Part,
  component: number,
  table: string,
  known: ReadonlySet<string>,
  context: MapContext,
): void {
  const sent = textOf(part, component);
  if (sent === undefined || known.has(sent.toUpperCase())) return;
  const message = `Component ${component} is not a code of ${table}. It was not mapped.`;
  note(context, 'W', '103', locatePart(part, component), message, 'unknown-code');
}

/** Without reports: for values that are reported elsewhere, or kept in another form. */
export const quietly = (context: MapContext): MapContext => ({ ...context, report: () => undefined });

/** The result of `read`; undefined, with a warning, for a value that cannot be read, which is skipped. */
export function attempt<T>(context: MapContext, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    for (const finding of errorsOfFault(error, 'W')) context.report(finding);
    return undefined;
  }
}
