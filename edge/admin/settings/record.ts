/** The settings of a site as one table of members: what holds for all its messages, unless an API key says otherwise. */
import { z } from 'zod';

import { CHARSETS } from '../../../shared/hl7/charset.ts';
import { columnsOf, member, type Members, type RecordOf } from '../record/member.ts';
import { charset, name, PROCESSING_IDS, processingIds, timeZone } from '../record/schemas.ts';
import { authorities, authoritiesAnswer, printAuthorities, viewAuthorities } from './authorities.ts';

const text = z.string();

/** The parts of the form, in its order. */
export const SITE_SECTIONS = [
  { name: 'name' },
  {
    name: 'hl7',
    title: 'How HL7 messages are read',
    lead: 'These hold for every sender of the site. An API key can say otherwise for its own messages, but for the namespaces.',
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
    schema: authorities,
    initial: {},
    answer: authoritiesAnswer,
    view: viewAuthorities,
    label: 'Namespaces',
    hint:
      'A line for each name: HOSP = urn:oid:2.16.840.1.113883.3.1. Messages name who issued an identifier (PID-3.4) or ' +
      'which coding system a code is of (OBX-3.3) by a short name that only this hospital knows; FHIR needs a URI that ' +
      'means the same everywhere: the OID of the issuer as urn:oid:…, or an https address of its own. A name must be as ' +
      'the messages have it. What is not listed keeps its name as text and gets no system; an OID in the message needs no ' +
      'line. Choose for good: under another URI the same number is another patient.',
    section: 'hl7',
    input: { kind: 'lines', rows: 8, print: printAuthorities },
    flag: { name: 'authority', value: 'NAMESPACE=URI', from: 'lines' },
  }),
} as const satisfies Members;

/** The settings by their columns' names. */
export type SiteRecord = RecordOf<typeof SITE_MEMBERS>;
export const SITE_COLUMNS = columnsOf(SITE_MEMBERS);
