/** The settings of a site as one table of members: what holds for all its messages, unless an API key says otherwise. */
import * as z from 'zod';

import { CHARSETS } from '../../../shared/hl7/charset.ts';
import { checkJwksUri } from '../../../shared/oauth/jwks-uri.ts';
import { columnsOf, member, type Members, type RecordOf } from '../record/member.ts';
import {
  charset,
  name,
  optionalText,
  optionalWhole,
  PROCESSING_IDS,
  processingIds,
  timeZone,
  yesOrNo,
} from '../record/schemas.ts';
import { birthDates, identifyingTypes, placeholders } from './identifiers.ts';
import { uriTable } from './uri-table.ts';

const text = z.string();

/** How many days something is kept; the columns' checks say the same (migrations/0001_site.sql). */
const MAX_DAYS = 36_500;
const days = (min: number) =>
  z
    .number({ error: `must be a whole number from ${min} to ${MAX_DAYS}` })
    .int(`must be a whole number from ${min} to ${MAX_DAYS}`)
    .min(min, `must be at least ${min}`)
    .max(MAX_DAYS, `must be at most ${MAX_DAYS}`);
const MESSAGES_MIN_DAYS = 30;
const ATTEMPTS_MIN_DAYS = 7;
const USAGE_MIN_DAYS = 1;
const AUDIT_MIN_DAYS = 365;

/** By its text alone; where its host leads, and that it is none of ours, is looked at when it is saved (./save.ts) and posted to. */
const webhook = optionalText(2048).superRefine((url, context) => {
  const host = url !== null && URL.canParse(url) ? new URL(url).hostname : '';
  const problem =
    url === null ? undefined : checkJwksUri(url, { ownUrls: [], trustedHosts: LOOPBACK.has(host) ? [host] : [] });
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});
/** For local and test stacks; elsewhere nothing is posted to this machine. */
const LOOPBACK = new Set(['127.0.0.1', 'localhost']);

const authorities = uriTable('namespace', 'As the messages have it: HD.1, such as PID-3.4.');
const codeSystems = uriTable('name', 'As the messages have it: CWE.3, such as OBX-3.3.');

/** The parts of the form, in its order. */
export const SITE_SECTIONS = [
  { name: 'name' },
  {
    name: 'hl7',
    title: 'How HL7 messages are read',
    lead: 'These hold for every sender of the site. An API key can say otherwise for its own messages.',
  },
  {
    name: 'names',
    title: 'What names and numbers mean here',
    lead: 'What only this hospital knows, and its messages do not say. These hold for every sender.',
  },
  {
    name: 'alerts',
    title: 'Who is told when something is wrong',
    lead: 'The console lists alerts in any case. Of what concerns a sender, the hours are set with its API key.',
  },
  {
    name: 'kept',
    title: 'What is kept how long',
    lead:
      'Once a day what is older is deleted, and does not come back. Resources and their versions are never deleted by it. ' +
      'A longer time is 36500 days at most, a hundred years.',
  },
] as const;

export const SITE_MEMBERS = {
  name: member({
    column: 'name',
    schema: name,
    answer: text,
    label: 'Name',
    hint: 'What the site is called in this console; its clients do not see it.',
    section: 'name',
    input: { kind: 'text', required: true },
    flag: { name: 'name', value: 'NAME' },
  }),
  timeZone: member({
    column: 'time_zone',
    schema: timeZone,
    initial: null,
    answer: text.nullable(),
    label: 'Time zone',
    hint:
      'The zone of the clocks at the hospital, by its IANA name, such as Europe/Berlin. Many senders write times without ' +
      'saying how far they are from UTC (20261121083000): such a time has the offset of MSH-7, and where MSH-7 has none, ' +
      'it is a time of this zone. Without a zone only its day is kept.',
    section: 'hl7',
    input: { kind: 'text' },
    flag: { name: 'time-zone', value: 'ZONE' },
  }),
  defaultCharset: member({
    column: 'default_charset',
    schema: charset,
    initial: null,
    answer: text.nullable(),
    label: 'Character set',
    hint:
      'How the bytes of a message are read whose MSH-18 is empty. Newer systems send UTF-8, older ones in Western Europe ' +
      'mostly iso-8859-1 or windows-1252. If the ä or é of a name comes out wrong, or its message is refused, this is not ' +
      'what the sender writes.',
    none: 'utf-8',
    section: 'hl7',
    input: { kind: 'select', values: CHARSETS, none: 'utf-8, unless set otherwise' },
    flag: { name: 'charset', value: 'NAME' },
  }),
  processingIds: member({
    column: 'processing_ids',
    schema: processingIds.refine((ids) => ids.length > 0, 'at least one is needed: else no message is taken'),
    initial: ['P'],
    answer: z.array(text),
    label: 'Processing ids',
    hint:
      'Which MSH-11 is taken: P production, T training, D debugging. A message with another is rejected (AR), so that ' +
      'what a test system sends does not become the record of a patient.',
    section: 'hl7',
    input: { kind: 'choices', values: PROCESSING_IDS },
    flag: { name: 'processing-ids', value: 'LIST' },
  }),
  assigningAuthorities: member({
    column: 'assigning_authorities',
    schema: authorities.schema,
    initial: {},
    answer: authorities.answer,
    view: authorities.view,
    label: 'Assigning authorities',
    hint:
      'A line for each: HOSP = urn:oid:2.16.840.1.113883.3.1. Messages name who issued an identifier (PID-3.4, OBR-3.2) by ' +
      'a short name that only this hospital knows; FHIR needs a URI that means the same everywhere: the OID of the issuer ' +
      'as urn:oid:…, or an https address of its own. A name must be as the messages have it; capitals do not count. What ' +
      'is not listed keeps its name as text and gets no system; an OID in the message needs no line. Choose for good: ' +
      'under another URI the same number is another patient.',
    section: 'names',
    input: { kind: 'lines', rows: 8, print: authorities.print },
    flag: { name: 'authority', value: 'NAMESPACE=URI', from: 'lines' },
  }),
  codeSystems: member({
    column: 'code_systems',
    schema: codeSystems.schema,
    initial: {},
    answer: codeSystems.answer,
    view: codeSystems.view,
    label: 'Code systems',
    hint:
      'A line for each: 99LAB = https://lab.example/codes. The coding systems of the hospital’s own codes, by the name that ' +
      'messages give them (OBX-3.3, DG1-3.3), and the URI that FHIR clients find their codes by. LN, SCT, I10 and the like ' +
      'need no line. A name may also be an assigning authority and mean something else there.',
    section: 'names',
    input: { kind: 'lines', rows: 8, print: codeSystems.print },
    flag: { name: 'code-system', value: 'NAME=URI', from: 'lines' },
  }),
  alertWebhook: member({
    column: 'alert_webhook',
    schema: webhook,
    initial: null,
    answer: text.nullable(),
    label: 'Webhook',
    hint:
      'Where alerts are posted: an https address at a public host, as a chat or paging service gives one. What is posted is ' +
      'signed as Standard Webhooks says, and names ids of this console, never a patient. The secret to check it with is ' +
      'shown under Alerts.',
    none: 'alerts are shown in the console only',
    section: 'alerts',
    input: { kind: 'text', type: 'url', mono: true },
    flag: { name: 'alert-webhook', value: 'URL' },
  }),
  alertErrorPercent: member({
    column: 'alert_error_percent',
    schema: optionalWhole(1, 100),
    initial: 25,
    answer: z.number().int().nullable(),
    label: 'Error rate (percent)',
    hint:
      'An alert opens when of the requests of a surface in the last quarter to half of an hour, 20 at least, more than this ' +
      'were refused or failed, and resolves when it is half of it.',
    none: 'no alert',
    section: 'alerts',
    input: { kind: 'text' },
    flag: { name: 'alert-error-percent', value: 'PERCENT' },
  }),
  identifyingTypes: member({
    column: 'identifying_types',
    schema: identifyingTypes,
    initial: [],
    answer: z.array(text),
    label: 'Identifying types',
    hint:
      'Types of numbers (PID-3.5) that each patient has one of here, such as NH or NI, with commas between. A patient is ' +
      'found by numbers of type MR, PI, PT, PN, PE, U or MRN, and by those without a type; add what else your messages ' +
      'identify patients by. Social security, account, visit, passport and insurance numbers never do.',
    section: 'names',
    input: { kind: 'list' },
    flag: { name: 'identifying-types', value: 'LIST' },
  }),
  placeholders: member({
    column: 'placeholders',
    schema: placeholders,
    initial: [],
    answer: z.array(text),
    label: 'Numbers that mean nothing',
    hint:
      'Values that are entered at this hospital where a patient has no number, with commas between, such as NOMRN or ' +
      '1234567. Patients with one of these are not taken for one person; a message with nothing else is an error (AE 101). ' +
      'One character repeated, 999-99-9999 and its like are known.',
    section: 'names',
    input: { kind: 'list' },
    flag: { name: 'placeholders', value: 'LIST' },
  }),
  placeholderBirthDates: member({
    column: 'placeholder_birth_dates',
    schema: birthDates,
    initial: [],
    answer: z.array(text),
    label: 'Birth dates that mean nothing',
    hint:
      'Dates that are entered at this hospital where the birth date is not known, with commas between, such as 1899-12-30. ' +
      'They are stored, but say nothing about whether two records are one person. 1900-01-01 is known.',
    section: 'names',
    input: { kind: 'list' },
    flag: { name: 'placeholder-birth-dates', value: 'LIST' },
  }),
  usCore: member({
    column: 'us_core',
    schema: yesOrNo(false),
    initial: false,
    answer: z.boolean(),
    label: 'US Core',
    hint:
      'Race (PID-10) and ethnicity (PID-22) become the extensions of US Core. For hospitals in the United States; elsewhere ' +
      'the two stay in the message and become no FHIR.',
    section: 'names',
    input: { kind: 'switch', means: 'race and ethnicity as US Core extensions' },
    flag: { name: 'us-core', value: 'yes|no' },
  }),
  keepMessagesDays: member({
    column: 'keep_messages_days',
    schema: days(MESSAGES_MIN_DAYS),
    initial: 400,
    answer: z.number().int(),
    label: 'HL7 messages (days)',
    hint:
      'How long the bytes of messages and what was answered are kept, at least 30 days. After that a message cannot be shown ' +
      'or replayed, and the same bytes are still known when they come again. One that was refused and never accepted goes ' +
      'as a whole; one that a fault of the gateway keeps from being processed stays.',
    section: 'kept',
    input: { kind: 'number', min: MESSAGES_MIN_DAYS, max: MAX_DAYS },
    flag: { name: 'keep-messages', value: 'DAYS' },
  }),
  keepAttemptsDays: member({
    column: 'keep_attempts_days',
    schema: days(ATTEMPTS_MIN_DAYS),
    initial: 90,
    answer: z.number().int(),
    label: 'Attempts and refusals (days)',
    hint:
      'How long the attempts at a message besides its first accepted and its newest are kept, and why requests of keys were ' +
      'refused (of each key the newest 500 in any case at most). At least 7 days.',
    section: 'kept',
    input: { kind: 'number', min: ATTEMPTS_MIN_DAYS, max: MAX_DAYS },
    flag: { name: 'keep-attempts', value: 'DAYS' },
  }),
  keepUsageDays: member({
    column: 'keep_usage_days',
    schema: days(USAGE_MIN_DAYS),
    initial: 400,
    answer: z.number().int(),
    label: 'Counts for the charts (days)',
    hint: 'How long the numbers of requests are kept.',
    section: 'kept',
    input: { kind: 'number', min: USAGE_MIN_DAYS, max: MAX_DAYS },
    flag: { name: 'keep-usage', value: 'DAYS' },
  }),
  keepAuditDays: member({
    column: 'keep_audit_days',
    schema: days(AUDIT_MIN_DAYS),
    initial: 2190,
    answer: z.number().int(),
    label: 'Audit (days)',
    hint:
      'How long it is kept who saw what. What is younger than the six years that the operator of the gateway has set for all ' +
      'sites stays, whatever stands here.',
    section: 'kept',
    input: { kind: 'number', min: AUDIT_MIN_DAYS, max: MAX_DAYS },
    flag: { name: 'keep-audit', value: 'DAYS' },
  }),
  legalHold: member({
    column: 'legal_hold',
    schema: yesOrNo(false),
    initial: false,
    answer: z.boolean(),
    label: 'Legal hold',
    hint: 'While it is on, nothing of the site is deleted for its age, and no patient is erased.',
    section: 'kept',
    input: { kind: 'switch', means: 'nothing is deleted' },
    flag: { name: 'legal-hold', value: 'yes|no' },
  }),
} as const satisfies Members;

/** The settings by their columns' names. */
export type SiteRecord = RecordOf<typeof SITE_MEMBERS>;
export const SITE_COLUMNS = columnsOf(SITE_MEMBERS);
