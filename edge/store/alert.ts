/** Alerts as the background work reads and writes them, for all sites (migrations/functions/alert_*.sql). */
import type { Query } from '../deps.ts';
import { instantsOf, raw, sql } from './sql.ts';

/** What can be wrong; `subject` of an alert is a Client ID, a surface, a sidecar, a kid, or '' for the site. */
export const ALERT_KINDS = [
  'feed-silent',
  'error-rate',
  'sidecar-silent',
  'provider-away',
  'signing-key-old',
  'jwks-uri-failing',
  'replay-needed',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

export const ALERTS_KIND = 'alerts';
export const ALERT_NOTICES_KIND = 'alert-notices';

/** Asks for both kinds of work, each of which goes on for ever. */
export const askForAlerts = (): Query => sql`select alert_ask()`;

/** JSON lists, as migrations/functions/alert_facts.sql says. */
export interface AlertFactsRow {
  /** The database's clock, milliseconds since the epoch. */
  readonly clock: number;
  readonly watches: string;
  readonly errors: string;
  readonly sidecars: string;
  readonly signing_keys: string;
  readonly jwks: string;
  readonly failed: string;
  readonly alerts: string;
  readonly mutes: string;
  readonly sites: string;
}

/** @param kids of the keys that sign */
export function readAlertFacts(kids: readonly string[]): Query<AlertFactsRow> {
  return sql<AlertFactsRow>`select clock, watches, errors, sidecars, signing_keys, jwks, failed, alerts, mutes, sites
    from alert_facts(${kids}::text[])`;
}

export const writeAlerts = (alerts: readonly object[], notices: readonly object[]): Query =>
  sql`select alert_write(${JSON.stringify(alerts)}::json, ${JSON.stringify(notices)}::json)`;

export interface NoticeRow {
  readonly site_id: string;
  readonly notice_id: string;
  readonly webhook: string | null;
  readonly told: 'open' | 'resolved';
  readonly at: string;
  readonly attempts: number;
  readonly alert_id: string;
  readonly kind: AlertKind;
  readonly subject: string;
  readonly opened_at: string;
  readonly resolved_at: string | null;
  readonly times: number;
}

export function noticesDue(limit: number, ofSite: number): Query<NoticeRow> {
  const at = raw(instantsOf(['at', 'opened_at', 'resolved_at']));
  return sql<NoticeRow>`select site_id, notice_id, webhook, told, attempts, alert_id, kind, subject, times, ${at}
    from alert_notices_due(${limit}::integer, ${ofSite}::integer)`;
}

export interface Tried {
  readonly site: string;
  readonly id: string;
  /** An HTTP status, or a word of ours. */
  readonly answer: string;
  readonly isDelivered: boolean;
}

export const noticesTried = (tried: readonly Tried[]): Query =>
  sql`select alert_notices_tried(${JSON.stringify(tried)}::json)`;
