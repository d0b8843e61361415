/** What a map may know beside the segment, and how it says that something of it could not be mapped. */
import { Fault } from '../../../shared/fault.ts';
import type { AckError, Severity } from '../../../shared/hl7/ack.ts';
import { errorsOfFault } from '../../../shared/hl7/ack.ts';
import type { ErrorCode } from '../../../shared/hl7/error-code.ts';
import type { ErrorReason } from '../../../shared/hl7/error-reason.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate, locatePart, type Part } from '../../../shared/hl7/value.ts';
import type { Authorities } from './assigning-authority.ts';
import type { NewAttention } from '../../store/attention.ts';
import type { UnnamedName } from '../../store/unnamed-name.ts';
import { textOf } from './datatypes/text.ts';
import type { ZoneFallback } from '../../../shared/hl7/time.ts';

export interface MapContext {
  /** For times without an offset: MSH-7's, else the time zone of the key or the site. */
  readonly zone: ZoneFallback;
  /** Names of the site: namespace (HD.1, EI.2) to system URI. */
  readonly authorities: ReadonlyMap<string, string>;
  /** Names of the site, in capitals: coding system (CWE.3) to its URI. */
  readonly codeSystems: ReadonlyMap<string, string>;
  /** The URI of a coding system that nobody has named begins so; undefined where the gateway has no FHIR address. */
  readonly localSystems: string | undefined;
  /** Race and ethnicity become US Core extensions. */
  readonly usCore: boolean;
  /** What namespaces of identifiers stand for: by the site, and by this key's messages. */
  readonly domains: Authorities;
  readonly messageId: string;
  /** Collects what goes into ERR segments. */
  readonly report: (finding: AckError) => void;
  /** Collects what goes into the administrator's lists. */
  readonly attend: (attention: NewAttention) => void;
  /** Collects the names that nobody has given a URI. */
  readonly unnamed: (name: UnnamedName) => void;
}

/**
 * Reports a finding; no patient data in `message`.
 *
 * @param severity `E` refuses the message, `W` says that something was stored with the message but not mapped
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

/** A code that is none of its table: what it would have made is left out. */
export function noteUnknownCode(segment: Segment, field: number, table: string, context: MapContext): void {
  const message = `${segment.id}-${field} is not a code of ${table} and was not mapped`;
  note(context, 'W', '103', locate(segment, field), message, 'unknown-code');
}

/** The same of a component: what names the use of a name, a number or an address. */
export function noteUnknownUse(
  part: Part,
  component: number,
  table: string,
  known: ReadonlySet<string>,
  context: MapContext,
): void {
  const sent = textOf(part, component);
  if (sent === undefined || known.has(sent.toUpperCase())) return;
  const message = `component ${component} is not a code of ${table} and was not mapped`;
  note(context, 'W', '103', locatePart(part, component), message, 'unknown-code');
}

/** For what is reported elsewhere, or whose value is kept in another form. */
export const quietly = (context: MapContext): MapContext => ({ ...context, report: () => undefined });

/** The result of `read`; undefined, with a warning, for a value that cannot be read, which is then left out. */
export function attempt<T>(context: MapContext, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    for (const finding of errorsOfFault(error, 'W')) context.report(finding);
    return undefined;
  }
}
