/**
 * The decision about a message, from its reading and its snapshot: outcome, ACK and effects. Pure, except for new ids. A dry
 * run ends here.
 */
import { Fault } from '../../../shared/fault.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import type { Header } from '../../../shared/hl7/header.ts';
import { readTimestamp, zoneOf, type Timestamp } from '../../../shared/hl7/time.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import type { SentCode } from '../../store/code-table.ts';
import { localSystems } from '../../store/coding-systems.ts';
import { FAILED } from '../../store/hl7.ts';
import type { Found, FoundPatient } from '../mapping/drafts.ts';
import { tooLongEntries, tooManyNames } from '../mapping/index-limit.ts';
import { createTranslation, type MissingCode, type CodeTables, type Translate } from '../mapping/translate.ts';
import { NO_EVENT, NO_PROCESSING_ID, settingFindings } from '../message/header-findings.ts';
import { clockOf, clockOfNow, isAhead } from '../precedence/clock.ts';
import type { Ruled } from '../rules/apply.ts';
import { ownAuthority } from '../results/order-number.ts';
import type { SenderSettings } from './sender/settings.ts';
import { answerTo, type Answer } from './answer.ts';
import { effectsOf, type Effects } from './effects.ts';
import type { Reading } from './reading.ts';

export interface Decision extends Answer {
  readonly findings: readonly AckError[];
  readonly effects: Effects;
  /** Codes whose rows of code tables are missing in the input: the decision must be made again with them. */
  readonly unresolved: readonly SentCode[];
  readonly misses: readonly MissingCode[];
}

export interface DecisionInput {
  readonly reading: Reading;
  readonly settings: SenderSettings;
  readonly found: readonly Found[];
  readonly patients: readonly FoundPatient[];
  readonly isControlIdReused: boolean;
  /** More patients share an identifier than the snapshot has. */
  readonly isCrowded: boolean;
  /** The stored data that the message concerns is too large to load. */
  readonly isExcessive: boolean;
  /** An administrator applies it although newer data is stored. */
  readonly isForced: boolean;
  readonly codeRows: CodeTables['rowsOf'];
  readonly messageId: string;
  readonly requestId: string;
  /** Over HTTP there is always an answer, also if MSH-15 and MSH-16 ask for none. */
  readonly source: 'http' | 'mllp';
  readonly nowMs: number;
  /** The address of the FHIR API; undefined without one. */
  readonly fhirBase: string | undefined;
}

const NO_EFFECTS: Effects = {
  resources: [],
  writes: [],
  identities: [],
  results: [],
  precedences: [],
  merges: [],
  met: [],
  moved: [],
  aliases: [],
  attention: [],
  unmapped: [],
};

export function decide(input: DecisionInput): Decision {
  const { reading, settings } = input;
  const said: AckError[] = [...reading.findings, ...settingFindings(reading.header, settings)];
  if (input.isCrowded && reading.outline !== undefined) said.push(CROWDED);
  if (input.isExcessive) said.push(EXCESS);
  const systems = new Set(settings.codeTables.flatMap((table) => table.systems));
  const { translate, unresolved, misses } = createTranslation({ systems, rowsOf: input.codeRows }, reading.header);
  const isMapped = reading.outline !== undefined && !isRefused(said);
  const mapped = isMapped ? mapReading(input, said, translate) : undefined;
  if (mapped !== undefined) said.push(...tooLongEntries(mapped.writes), ...tooManyNames(mapped.writes));
  const { ruled } = reading;
  const placed = ruled === undefined ? said : said.map((finding) => withSentPlace(finding, ruled));
  const findings = eachOnce(settings.hl7_strict ? placed.map(refusedWhenStrict) : placed);
  if (input.isControlIdReused && !isRefused(findings)) findings.push(REUSED);
  const effects = isRefused(findings) ? effectsOfRejected(mapped, input.found) : (mapped ?? NO_EFFECTS);
  const codes = { unresolved: [...unresolved.values()], misses: [...misses.values()] };
  return { ...answerTo(input, findings), findings, effects, ...codes };
}

/**
 * Turns warnings into errors for a strict key (edge/docs/behaviour.md, HL7 v2, Errors and warnings). They are about a value of
 * another type, a code outside its table, or a message without its event or its processing id.
 */
function refusedWhenStrict(finding: AckError): AckError {
  const { severity, code, reason } = finding;
  const isStrict = code === '102' || code === '103' || reason === NO_EVENT || reason === NO_PROCESSING_ID;
  return severity === 'W' && isStrict ? { ...finding, severity: 'E' } : finding;
}

/** A rejected message changes nothing. Its issues about stored patients, and its unmapped names, are still reported. */
function effectsOfRejected(mapped: Effects | undefined, found: readonly Found[]): Effects {
  const known = new Set(found.map(({ resource }) => resource.id));
  const attention = mapped?.attention.filter(({ patients }) => patients.every((id) => known.has(id))) ?? [];
  return { ...NO_EFFECTS, attention, unmapped: mapped?.unmapped ?? [] };
}

/**
 * The answer to a message that the gateway fails to process. The message is stored and rejected. Without an answer its sender
 * would send it forever, and the messages after it would wait.
 */
export function decideFailed(input: DecisionInput): Decision {
  const findings = [...input.reading.findings, FAILURE];
  return { ...answerTo(input, findings), findings, effects: NO_EFFECTS, unresolved: [], misses: [] };
}

const FAILURE: AckError = {
  code: '207',
  severity: 'E',
  at: 'MSH^1',
  message: ERROR_REASONS[FAILED],
  reason: FAILED,
};

const CROWDED: AckError = {
  code: '205',
  severity: 'E',
  at: 'PID^1^3',
  message: ERROR_REASONS['too-many-patients'],
  reason: 'too-many-patients',
};

const EXCESS: AckError = {
  code: '207',
  severity: 'E',
  at: 'MSH^1',
  message: ERROR_REASONS['too-much-stored'],
  reason: 'too-much-stored',
};

const AHEAD: AckError = {
  code: '207',
  severity: 'W',
  message: ERROR_REASONS['clock-ahead'],
  reason: 'clock-ahead',
};

const REUSED: AckError = {
  code: '205',
  severity: 'W',
  at: 'MSH^1^10',
  message: ERROR_REASONS['control-id-reused'],
  reason: 'control-id-reused',
};

/** Several resources may read the same field and report the same finding. */
function eachOnce(findings: readonly AckError[]): AckError[] {
  const keyOf = ({ code, severity, at, reason, message }: AckError): string =>
    JSON.stringify([code, severity, at, reason, message]);
  return [...new Map(findings.map((finding) => [keyOf(finding), finding])).values()];
}

/** The finding at its place in the message as it was sent. */
const withSentPlace = (finding: AckError, { placeOf }: Ruled): AckError =>
  finding.at === undefined ? finding : { ...finding, at: placeOf(finding.at) };

const isRefused = (findings: readonly AckError[]): boolean => findings.some(({ severity }) => severity === 'E');

/** Maps the complete message or nothing. Errors of mapping go to `findings`, and the effects are dropped. */
function mapReading(input: DecisionInput, findings: AckError[], translate: Translate | undefined): Effects | undefined {
  const { reading, settings, nowMs } = input;
  const { outline, rule, header } = reading;
  if (outline === undefined || rule === undefined) return undefined;
  const zone = zoneOf(timeOf(header, findings), settings.timeZone);
  const clock = clockOf(input.messageId, header.dateTime, zone);
  const recorded = outline.patients[0]?.timing.times[0];
  for (const [at, time] of [
    ['MSH^1^7', header.dateTime],
    ['EVN^1^2', recorded],
  ] as const)
    if (isAhead(time, zone, input.messageId)) findings.push({ ...AHEAD, at });
  return effectsOf({
    header,
    outline,
    rule,
    found: input.found,
    patients: input.patients,
    settings,
    context: {
      messageId: input.messageId,
      zone,
      authorities: settings.authorities,
      codeSystems: settings.codeSystems,
      usCore: settings.usCore,
      translate,
      localSystems: input.fhirBase && localSystems(input.fhirBase, settings.site),
      report: (finding) => void findings.push(finding),
    },
    ownNumbers: ownAuthority(
      settings.hl7_default_authority ?? undefined,
      header.sendingApplication,
      header.sendingFacility ?? (header.sendingApplication === undefined ? settings.clientId : undefined),
      settings.authorities,
    ),
    clock: input.isForced ? clockOfNow(input.messageId, nowMs, clock) : clock,
    newId: () => uuidv7(nowMs),
    source: sourceOf(input.messageId, header),
  });
}

/** `meta.source`: the gateway's message id and the sender's control id. */
function sourceOf(messageId: string, { controlId }: Header): string {
  return `urn:uuid:${messageId}#${encodeURIComponent(controlId ?? '')}`;
}

function timeOf({ dateTime }: Header, findings: AckError[]): Timestamp | undefined {
  if (dateTime === undefined) return undefined;
  try {
    return readTimestamp(dateTime, 'MSH^1^7');
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const message = 'MSH-7 is not a date and time. Its offset is unknown.';
    findings.push({ code: '102', severity: 'W', at: 'MSH^1^7', message, reason: 'bad-time' });
    return undefined;
  }
}
