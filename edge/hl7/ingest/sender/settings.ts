/** The settings of a key and its site for messages (edge/docs/behaviour.md, HL7 v2), with defaults. */
import { charsetNamed, type Charset } from '../../../../shared/hl7/charset.ts';
import { isTimeZone } from '../../../../shared/hl7/zone.ts';
import type { Hl7KeyRecord } from '../../../members/api-key.ts';
import type { LiveTable } from '../../../store/code-table.ts';
import type { LiveRules, SenderRow, UrisByName } from '../../../store/hl7-snapshot.ts';
import { nameKey } from '../../../store/patient-identity.ts';
import { aliasKey } from '../../mapping/assigning-authority.ts';

/** Members that the site has too: the key's counts, else the site's. */
type OrOfSite = 'hl7_time_zone' | 'hl7_default_charset' | 'hl7_processing_ids';

/** A member of the key whose column begins with `hl7_` is here by that name. */
export interface SenderSettings extends Omit<Hl7KeyRecord, OrOfSite> {
  readonly site: string;
  readonly clientId: string;
  readonly allowedScopes: ReadonlySet<string>;
  /** IANA name, for times without an offset. */
  readonly timeZone: string | undefined;
  /** Namespace (HD.1, in capitals) to URI, as administrators set it. */
  readonly authorities: ReadonlyMap<string, string>;
  /** Namespace (in capitals) to URI, as messages of this key taught it. */
  readonly taught: ReadonlyMap<string, string>;
  /** Namespaces (in capitals) whose URI an administrator confirmed. */
  readonly confirmed: ReadonlySet<string>;
  /** Namespace (in capitals) to the several URIs that messages of this key taught. */
  readonly contested: ReadonlyMap<string, readonly string[]>;
  /** Namespace (in capitals) to the URIs that messages of other keys taught. */
  readonly shared: ReadonlyMap<string, readonly string[]>;
  /** Rejected by an administrator (`aliasKey`). */
  readonly rejected: ReadonlySet<string>;
  /** A text that changes with any of these settings. It must be unchanged at the commit. */
  readonly settingsState: string;
  /** The character set of messages without MSH-18. */
  readonly charset: Charset;
  /** Accepted values of MSH-11. */
  readonly processingIds: ReadonlySet<string>;
  /** Coding system (CWE.3, in capitals) to URI. */
  readonly codeSystems: ReadonlyMap<string, string>;
  /** CX.5, in capitals, that identify a patient beside the fixed ones. */
  readonly identifyingTypes: ReadonlySet<string>;
  /** Identifier values, in capitals, that are placeholders besides those that are everywhere. */
  readonly placeholders: ReadonlySet<string>;
  /** YYYY-MM-DD that are placeholders beside the fixed ones. */
  readonly placeholderBirthDates: ReadonlySet<string>;
  /** Race and ethnicity become US Core extensions. */
  readonly usCore: boolean;
  readonly codeTables: readonly LiveTable[];
  /** Null without rules. */
  readonly hl7_rules: LiveRules | null;
}

export function settingsOf({ key, site, authorities, ...row }: SenderRow): SenderSettings {
  const timeZone = key.hl7_time_zone ?? site.time_zone;
  return {
    ...key,
    site: row.site_id,
    clientId: row.client_id,
    allowedScopes: new Set(row.allowed_scopes),
    // A name that another version of the time zone data knew must not stop messages.
    timeZone: timeZone !== null && isTimeZone(timeZone) ? timeZone : undefined,
    authorities: new Map(namesOf(site.assigning_authorities)),
    taught: new Map(namesOf(authorities.taught)),
    confirmed: new Set(authorities.confirmed),
    contested: new Map(Object.entries(authorities.contested)),
    shared: new Map(Object.entries(authorities.shared)),
    rejected: new Set(authorities.rejected.map(([namespace, uri]) => aliasKey({ namespace, uri }))),
    settingsState: row.settings_state,
    charset: charsetNamed(key.hl7_default_charset ?? site.default_charset ?? '') ?? 'utf-8',
    processingIds: new Set(key.hl7_processing_ids ?? site.processing_ids),
    codeSystems: new Map(namesOf(site.code_systems)),
    identifyingTypes: new Set(site.identifying_types.map((type) => type.toUpperCase())),
    placeholders: new Set(site.placeholders.map((value) => value.toUpperCase())),
    placeholderBirthDates: new Set(site.placeholder_birth_dates),
    usCore: site.us_core,
    codeTables: site.code_tables,
  };
}

/** @returns the names in capitals: they compare without case */
const namesOf = (uris: UrisByName): [string, string][] =>
  Object.entries(uris).map(([name, uri]) => [nameKey(name), uri]);
