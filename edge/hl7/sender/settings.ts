/** What the site and the key say about their messages (edge/README.md, HL7 v2): parsed from the row, with defaults. */
import { charsetNamed, type Charset } from '../../../shared/hl7/charset.ts';
import { isTimeZone } from '../../../shared/hl7/zone.ts';
import type { SenderRow } from '../../store/hl7.ts';

export interface SenderSettings {
  readonly site: string;
  readonly clientId: string;
  readonly allowedScopes: ReadonlySet<string>;
  /** IANA name, for times without an offset. */
  readonly timeZone: string | undefined;
  /** Namespace (HD.1) or coding system (CWE.3) to URI. */
  readonly authorities: ReadonlyMap<string, string>;
  /** Of messages that name none. */
  readonly charset: Charset;
  /** MSH-11 that are taken. */
  readonly processingIds: ReadonlySet<string>;
}

export function settingsOf(row: SenderRow): SenderSettings {
  const authorities: unknown = JSON.parse(row.assigning_authorities);
  const named = typeof authorities === 'object' && authorities !== null ? Object.entries(authorities) : [];
  return {
    site: row.site_id,
    clientId: row.client_id,
    allowedScopes: new Set(row.allowed_scopes),
    // What was saved under another version of the time zone data must not stop messages.
    timeZone: row.time_zone !== null && isTimeZone(row.time_zone) ? row.time_zone : undefined,
    authorities: new Map(named.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
    charset: charsetNamed(row.default_charset ?? '') ?? 'utf-8',
    processingIds: new Set(row.processing_ids),
  };
}
