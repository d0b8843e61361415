/** The settings of a site, one member a row. An API key can override some of them for its messages. */
import * as z from 'zod';

import { CHARSETS } from '../../../shared/hl7/charset.ts';
import { checkJwksUri } from '../../../shared/oauth/jwks-uri.ts';
import { columnsOf, member, type Members, type RecordOf } from '../../members/member.ts';
import {
  charset,
  name,
  optional,
  optionalText,
  optionalInteger,
  PROCESSING_IDS,
  processingIds,
  several,
  timeZone,
  truth,
} from '../../members/schemas.ts';
import { birthDates, identifyingTypes, placeholders } from './identifiers.ts';
import { uriTable } from './uri-table.ts';

const text = z.string();

/** The limit of retention times; the columns' checks have the same limits (migrations/0001_site.sql). */
const MAX_DAYS = 36_500;
const keptDays = (min: number, initial: number) =>
  ({
    schema: z
      .number({ error: `must be a whole number from ${min} to ${MAX_DAYS}` })
      .int(`must be a whole number from ${min} to ${MAX_DAYS}`)
      .min(min, `must be at least ${min}`)
      .max(MAX_DAYS, `must be at most ${MAX_DAYS}`),
    initial,
    answer: z.number().int(),
    section: 'kept',
    input: { kind: 'number', min, max: MAX_DAYS },
  }) as const;

/** Checks the text only. save.ts resolves the host, and so does each delivery. */
const webhook = optionalText(2048).superRefine((url, context) => {
  const host = url !== null && URL.canParse(url) ? new URL(url).hostname : '';
  const problem =
    url === null ? undefined : checkJwksUri(url, { ownUrls: [], trustedHosts: LOOPBACK.has(host) ? [host] : [] });
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});
/** For local and test stacks only: a delivery to loopback is refused elsewhere. */
const LOOPBACK = new Set(['127.0.0.1', 'localhost']);

const authorities = uriTable('namespace', 'The namespace in messages: HD.1, such as PID-3.4.');
const codeSystems = uriTable('name', 'The name in messages: CWE.3, such as OBX-3.3.');

/** The sections of the form, in its order. */
export const SITE_SECTIONS = [
  { name: 'name' },
  {
    name: 'hl7',
    title: 'How HL7 messages are read',
    lead: 'For every sender of the site. An API key can override them for its messages.',
  },
  {
    name: 'names',
    title: 'Names and identifiers of this hospital',
    lead: 'Facts that only this hospital knows, and that its messages do not contain. For every sender.',
  },
  {
    name: 'alerts',
    title: 'Alerts',
    lead: 'The console always lists alerts. Set the hours of a sender with its API key.',
  },
  {
    name: 'kept',
    title: 'Retention',
    lead:
      'Once a day the gateway deletes what is older; that cannot be undone. It never deletes resources and their versions. ' +
      'The longest time is 36500 days, a hundred years.',
  },
] as const;

export const SITE_MEMBERS = {
  name: member({
    column: 'name',
    schema: name,
    answer: text,
    label: 'Name',
    hint: 'The name in this console; clients do not see it.',
    section: 'name',
    input: { kind: 'text', required: true },
    flag: { name: 'name', value: 'NAME' },
  }),
  timeZone: member({
    column: 'time_zone',
    ...optional(timeZone),
    label: 'Time zone',
    hint:
      'The time zone of the hospital, an IANA name such as Europe/Berlin. Many senders write times without an offset ' +
      '(20261121083000). Such a time gets the offset of MSH-7, else that of this zone. Without a zone only its day is kept.',
    section: 'hl7',
    flag: { name: 'time-zone', value: 'ZONE' },
  }),
  defaultCharset: member({
    column: 'default_charset',
    ...optional(charset),
    label: 'Character set',
    hint:
      'The character set of messages with an empty MSH-18. Newer systems send UTF-8, older ones in Western Europe mostly ' +
      'iso-8859-1 or windows-1252. If ä or é in names is wrong, or their message is an error, choose another one.',
    none: 'utf-8',
    section: 'hl7',
    input: { kind: 'select', values: CHARSETS, none: 'utf-8, the default' },
    flag: { name: 'charset', value: 'NAME' },
  }),
  processingIds: member({
    column: 'processing_ids',
    schema: processingIds.refine((ids) => ids.length > 0, 'must have at least one: else every message is rejected'),
    initial: ['P'],
    answer: z.array(text),
    label: 'Processing ids',
    hint:
      'The accepted values of MSH-11: P production, T training, D debugging. Other messages are rejected (AR), so that data ' +
      'of a test system does not become part of a patient record.',
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
      'One line each: HOSP = urn:oid:2.16.840.1.113883.3.1. Messages name an assigning authority (PID-3.4, OBR-3.2) by a ' +
      'local name. FHIR needs a URI that is unique everywhere: the OID as urn:oid:…, or an https address. ' +
      'Write the name as in the messages; case does not matter. An identifier with an unlisted name gets no system and keeps ' +
      'the name as text. An OID in the message needs no line. Do not change a URI later: under another URI the same ' +
      'identifier is another patient.',
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
      'One line each: 99LAB = https://lab.example/codes. A local coding system in messages (OBX-3.3, DG1-3.3), and ' +
      'its URI in FHIR. Standard systems such as LN, SCT and I10 need no line. The same name ' +
      'may be an assigning authority with another URI.',
    section: 'names',
    input: { kind: 'lines', rows: 8, print: codeSystems.print },
    flag: { name: 'code-system', value: 'NAME=URI', from: 'lines' },
  }),
  alertWebhook: member({
    column: 'alert_webhook',
    ...optional(webhook),
    label: 'Webhook',
    hint:
      'The https address to which the gateway posts alerts, at a public host, for instance of a chat or paging service. Each ' +
      'request is signed (Standard Webhooks) and has ids of this console, never patient data. Alerts shows the secret.',
    none: 'alerts are in the console only',
    section: 'alerts',
    input: { kind: 'text', type: 'url', mono: true },
    flag: { name: 'alert-webhook', value: 'URL' },
  }),
  alertErrorPercent: member({
    column: 'alert_error_percent',
    ...optionalInteger(1, 100),
    initial: 25,
    label: 'Error rate (percent)',
    hint:
      'An alert fires when more than this share of a surface’s requests were rejected or failed in about the last half hour. ' +
      'It needs at least 20 requests, and resolves at half the share.',
    none: 'no alert',
    section: 'alerts',
    flag: { name: 'alert-error-percent', value: 'PERCENT' },
  }),
  identifyingTypes: member({
    column: 'identifying_types',
    ...several(identifyingTypes),
    label: 'Identifying types',
    hint:
      'Further type codes of identifiers (PID-3.5) that identify a patient here, such as NH or NI, separated by commas. MR, ' +
      'PI, PT, PN, PE, U, MRN and identifiers without a type always do. Social security, account, visit, passport and ' +
      'insurance numbers never do.',
    section: 'names',
    flag: { name: 'identifying-types', value: 'LIST' },
  }),
  placeholders: member({
    column: 'placeholders',
    ...several(placeholders),
    label: 'Placeholder identifiers',
    hint:
      'Values that stand for a missing identifier at this hospital, such as NOMRN or 1234567, separated by commas. They ' +
      'identify no patient; a message with no other identifier is an error (AE 101). One repeated character, 999-99-9999 and ' +
      'similar values need no entry.',
    section: 'names',
    flag: { name: 'placeholders', value: 'LIST' },
  }),
  placeholderBirthDates: member({
    column: 'placeholder_birth_dates',
    ...several(birthDates),
    label: 'Placeholder birth dates',
    hint:
      'Dates that stand for an unknown birth date at this hospital, such as 1899-12-30, separated by commas. They are stored, ' +
      'but not compared when the gateway looks for a matching patient. 1900-01-01 needs no entry.',
    section: 'names',
    flag: { name: 'placeholder-birth-dates', value: 'LIST' },
  }),
  usCore: member({
    column: 'us_core',
    ...truth(false),
    label: 'US Core',
    hint:
      'For hospitals in the United States: race (PID-10) and ethnicity (PID-22) become extensions of US Core. Otherwise they ' +
      'stay in the message only.',
    section: 'names',
    input: { kind: 'switch', yes: 'race and ethnicity as US Core extensions' },
    flag: { name: 'us-core', value: 'yes|no' },
  }),
  keepMessagesDays: member({
    column: 'keep_messages_days',
    ...keptDays(30, 400),
    label: 'HL7 messages (days)',
    hint:
      'How long messages and their acknowledgements are kept, at least 30 days. After that a message cannot be shown or ' +
      'replayed, but a retransmission is still recognized. A message that was never accepted is deleted completely; a message ' +
      'that waits because the gateway failed is kept.',
    flag: { name: 'keep-messages', value: 'DAYS' },
  }),
  keepAttemptsDays: member({
    column: 'keep_attempts_days',
    ...keptDays(7, 90),
    label: 'Attempts and refusals (days)',
    hint:
      'How long attempts at a message are kept, except the first accepted and the newest one. Also the reasons of rejected ' +
      'requests, and codes that code tables miss. At least 7 days.',
    flag: { name: 'keep-attempts', value: 'DAYS' },
  }),
  keepUsageDays: member({
    column: 'keep_usage_days',
    ...keptDays(1, 400),
    label: 'Counts for Traffic (days)',
    hint: 'How long the counts of requests are kept.',
    flag: { name: 'keep-usage', value: 'DAYS' },
  }),
  keepAuditDays: member({
    column: 'keep_audit_days',
    ...keptDays(365, 2_190),
    label: 'Audit (days)',
    hint:
      'How long audit events are kept. The operator sets a minimum for all sites, six years by default, which this value ' +
      'cannot shorten.',
    flag: { name: 'keep-audit', value: 'DAYS' },
  }),
  legalHold: member({
    column: 'legal_hold',
    ...truth(false),
    label: 'Legal hold',
    hint: 'While it is on, retention deletes nothing of the site, and no patient can be erased.',
    section: 'kept',
    input: { kind: 'switch', yes: 'nothing is deleted' },
    flag: { name: 'legal-hold', value: 'yes|no' },
  }),
} as const satisfies Members;

export type SiteRecord = RecordOf<typeof SITE_MEMBERS>;
export const SITE_COLUMNS = columnsOf(SITE_MEMBERS);
