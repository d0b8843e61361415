/** What the site and the key say about their messages (edge/docs/behaviour.md, HL7 v2): parsed from the row, with defaults. */
import * as z from 'zod';

import { charsetNamed, type Charset } from '../../../../shared/hl7/charset.ts';
import { nameKey } from '../../../store/patient-identity.ts';
import { isTimeZone } from '../../../../shared/hl7/zone.ts';
import { aliasKey } from '../../mapping/assigning-authority.ts';
import type { SenderRow } from '../../../store/hl7-snapshot.ts';
import type { IdentityCheck, UnsupportedTypes } from '../../../store/sender-choice.ts';

export interface SenderSettings {
  readonly site: string;
  readonly clientId: string;
  readonly allowedScopes: ReadonlySet<string>;
  /** IANA name, for times without an offset. */
  readonly timeZone: string | undefined;
  /** Namespace (HD.1) to URI, as the site's administrators named them. Names compare without case: these are in capitals. */
  readonly authorities: ReadonlyMap<string, string>;
  /** Namespace, in capitals, to URI, as messages of this key taught it. */
  readonly taught: ReadonlyMap<string, string>;
  /** What an administrator said namespaces of this key do not stand for (`aliasKey`). */
  readonly rejected: ReadonlySet<string>;
  /** Of all of these, which must still hold when a message is stored. */
  readonly settingsState: string;
  /** Of messages that name none. */
  readonly charset: Charset;
  /** MSH-11 that are taken. */
  readonly processingIds: ReadonlySet<string>;
  /** Namespace or URI that issued the numbers that name no issuer; undefined: MSH-4. */
  readonly defaultAuthority: string | undefined;
  readonly identityCheck: IdentityCheck;
  /** A field that cannot be read refuses the message, where else it is left out with a warning. */
  readonly strict: boolean;
  readonly unsupportedTypes: UnsupportedTypes;
  /** Where both are asked for, the accept acknowledgement is sent before the application's. */
  readonly acceptAck: boolean;
  /** ERR of severity I are sent. */
  readonly information: boolean;
  /** Coding system (CWE.3) to URI. Names compare without case: these are in capitals. */
  readonly codeSystems: ReadonlyMap<string, string>;
  /** CX.5, in capitals, that identify a patient besides those that do everywhere. */
  readonly identifyingTypes: ReadonlySet<string>;
  /** Values, in capitals, that stand for no number, besides those that do everywhere. */
  readonly placeholders: ReadonlySet<string>;
  /** YYYY-MM-DD that stand for an unknown birth date, besides those that do everywhere. */
  readonly placeholderBirthDates: ReadonlySet<string>;
  /** Race and ethnicity become US Core extensions. */
  readonly usCore: boolean;
}

export function settingsOf(row: SenderRow): SenderSettings {
  return {
    site: row.site_id,
    clientId: row.client_id,
    allowedScopes: new Set(row.allowed_scopes),
    // What was saved under another version of the time zone data must not stop messages.
    timeZone: row.time_zone !== null && isTimeZone(row.time_zone) ? row.time_zone : undefined,
    authorities: new Map(namesOf(row.assigning_authorities)),
    taught: new Map(namesOf(row.taught_authorities)),
    rejected: rejectedOf(row.rejected_authorities),
    settingsState: row.settings_state,
    charset: charsetNamed(row.default_charset ?? '') ?? 'utf-8',
    processingIds: new Set(row.processing_ids),
    defaultAuthority: row.hl7_default_authority ?? undefined,
    identityCheck: row.hl7_identity_check,
    strict: row.hl7_strict,
    unsupportedTypes: row.hl7_unsupported_types,
    acceptAck: row.hl7_accept_ack,
    information: row.hl7_information,
    codeSystems: new Map(namesOf(row.code_systems)),
    identifyingTypes: new Set(row.identifying_types.map((type) => type.toUpperCase())),
    placeholders: new Set(row.placeholders.map((value) => value.toUpperCase())),
    placeholderBirthDates: new Set(row.placeholder_birth_dates),
    usCore: row.us_core,
  };
}

/** @param stored a JSON object from name to URI @returns the names in capitals */
function namesOf(stored: string): [string, string][] {
  const parsed: unknown = JSON.parse(stored);
  const entries = typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : [];
  return entries
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    .map(([name, uri]) => [nameKey(name), uri]);
}

const rejectedPairs = z.array(z.tuple([z.string(), z.string()]));

/** @param stored a JSON list of `[namespace, URI]`, the namespaces in capitals */
const rejectedOf = (stored: string): ReadonlySet<string> =>
  new Set(rejectedPairs.parse(JSON.parse(stored)).map(([namespace, uri]) => aliasKey({ namespace, uri })));
