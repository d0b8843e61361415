/**
 * From a reading, the sender's settings and what was found to the decision: outcome, ACK and effects. Pure but for the
 * ids it is given; a dry run ends here.
 */
import { Fault } from '../../../shared/fault.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { Header } from '../../../shared/hl7/header.ts';
import { readTimestamp } from '../../../shared/hl7/time.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { FAILED } from '../../store/hl7.ts';
import type { Found, FoundPatient } from '../mapping/drafts.ts';
import { tooLongEntries } from '../mapping/index-limit.ts';
import { settingFindings } from '../message/header-findings.ts';
import { refusedWhenStrict } from '../message/strictness.ts';
import { clockOf, clockOfNow } from '../precedence/clock.ts';
import { ownAuthority } from '../results/order-number.ts';
import type { SenderSettings } from './sender/settings.ts';
import { answerTo, type Answer } from './answer.ts';
import { effectsOf, type Effects } from './effects.ts';
import type { Reading } from './reading.ts';

export interface Decision extends Answer {
  readonly findings: readonly AckError[];
  readonly effects: Effects;
}

export interface DecisionInput {
  readonly reading: Reading;
  readonly settings: SenderSettings;
  readonly found: readonly Found[];
  readonly patients: readonly FoundPatient[];
  readonly isControlIdReused: boolean;
  /** So many patients have one of the numbers that not all were found. */
  readonly isCrowded: boolean;
  /** An administrator wants it to be applied although newer data exist. */
  readonly isForced: boolean;
  readonly messageId: string;
  readonly requestId: string;
  /** How it came: over HTTP there is an answer to write in, whatever MSH-15 and MSH-16 say. */
  readonly source: 'http' | 'mllp';
  readonly nowMs: number;
  /** Of the gateway's FHIR API; undefined where it has none. */
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
  unnamed: [],
};

export function decide(input: DecisionInput): Decision {
  const { reading, settings } = input;
  const said: AckError[] = [...reading.findings, ...settingFindings(reading.header, settings)];
  if (input.isCrowded && reading.outline !== undefined) said.push(CROWDED);
  const mapped = reading.outline === undefined || isRefused(said) ? undefined : mapReading(input, said);
  if (mapped !== undefined) said.push(...tooLongEntries(mapped.writes));
  const findings = eachOnce(settings.hl7_strict ? said.map(refusedWhenStrict) : said);
  if (input.isControlIdReused && !isRefused(findings)) findings.push(REUSED);
  const effects = isRefused(findings) ? effectsOfRefused(mapped, input.found) : (mapped ?? NO_EFFECTS);
  return { ...answerTo(input, findings), findings, effects };
}

/** A message that is refused changes nothing, but what it shows of charts that exist, and its names, are worth a look. */
function effectsOfRefused(mapped: Effects | undefined, found: readonly Found[]): Effects {
  const known = new Set(found.map(({ resource }) => resource.id));
  const attention = mapped?.attention.filter(({ patients }) => patients.every((id) => known.has(id))) ?? [];
  return { ...NO_EFFECTS, attention, unnamed: mapped?.unnamed ?? [] };
}

/**
 * The answer to a message that a fault of ours keeps from being processed. It is stored and refused, because a sender
 * that got no answer would send it for ever, and nothing behind it.
 */
export function decideFailed(input: DecisionInput): Decision {
  const findings = [...input.reading.findings, FAILURE];
  return { ...answerTo(input, findings), findings, effects: NO_EFFECTS };
}

const FAILURE: AckError = {
  code: '207',
  severity: 'E',
  at: 'MSH^1',
  message: 'a fault of the gateway: the message is kept and can be processed again, or sent again',
  reason: FAILED,
};

const CROWDED: AckError = {
  code: '205',
  severity: 'E',
  at: 'PID^1^3',
  message:
    'a hundred patients or more have one of the numbers, so that the patient cannot be told: what stands for no number belongs in the list of the site',
  reason: 'too-many-patients',
};

const REUSED: AckError = {
  code: '205',
  severity: 'W',
  at: 'MSH^1^10',
  message: 'another message with this control id is stored: this one was processed as a new message',
  reason: 'control-id-reused',
};

/** What several resources are made of is read several times; it is told once. */
function eachOnce(findings: readonly AckError[]): AckError[] {
  const keyOf = ({ code, severity, at, reason, message }: AckError): string =>
    JSON.stringify([code, severity, at, reason, message]);
  return [...new Map(findings.map((finding) => [keyOf(finding), finding])).values()];
}

const isRefused = (findings: readonly AckError[]): boolean => findings.some(({ severity }) => severity === 'E');

/** All of a message or nothing: faults found while mapping go to `findings`, and the effects are then dropped. */
function mapReading(input: DecisionInput, findings: AckError[]): Effects | undefined {
  const { reading, settings, nowMs } = input;
  const { outline, rule, header } = reading;
  if (outline === undefined || rule === undefined) return undefined;
  const zone = { offset: offsetOf(header, findings), timeZone: settings.timeZone };
  const clock = clockOf(input.messageId, header.dateTime, zone);
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
      localSystems: input.fhirBase && `${input.fhirBase}/sites/${settings.site}/code-systems/`,
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

/** `meta.source`: the message as the gateway knows it, and as its sender does. */
function sourceOf(messageId: string, { controlId }: Header): string {
  return `urn:uuid:${messageId}#${encodeURIComponent(controlId ?? '')}`;
}

/** The offset of MSH-7 holds for all times of the message that have none (HL7 v2.5.1 §2.15.9.7). */
function offsetOf({ dateTime }: Header, findings: AckError[]): string | undefined {
  if (dateTime === undefined) return undefined;
  try {
    return readTimestamp(dateTime, 'MSH^1^7').offset;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const message = 'MSH-7 is not a date and time: its offset is not known';
    findings.push({ code: '102', severity: 'W', at: 'MSH^1^7', message, reason: 'bad-time' });
    return undefined;
  }
}
