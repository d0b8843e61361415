/** The alerts of all sites, for background work (migrations/functions/alert_*.sql). */
import type { AlertKind } from '../alert-kinds.ts';
import type { Query } from '../deps.ts';
import { instantsOf, raw, sql } from './sql.ts';

export const ALERTS_KIND = 'alerts';
export const ALERT_NOTICES_KIND = 'alert-notices';

/** Adds the two jobs of alerts, which do not end. */
export const askForAlerts = (): Query => sql`select alert_ask()`;

/** @param kids the ids of the signing keys @returns JSON (migrations/functions/alert_facts.sql) */
export const readAlertFacts = (kids: readonly string[]): Query<{ readonly facts: string }> =>
  sql<{ facts: string }>`select alert_facts(${kids}::text[])::text as facts`;

export const writeAlerts = (alerts: readonly object[], notices: readonly object[]): Query =>
  sql`select alert_write(${JSON.stringify(alerts)}::json, ${JSON.stringify(notices)}::json)`;

export interface NoticeRow {
  readonly site_id: string;
  readonly notice_id: string;
  readonly webhook: string | null;
  readonly state: 'firing' | 'resolved';
  readonly at: string;
  readonly attempts: number;
  readonly alert_id: string;
  readonly kind: AlertKind;
  readonly subject: string;
  readonly firing_since: string;
  readonly resolved_at: string | null;
  readonly times: number;
}

export function noticesDue(limit: number, ofSite: number): Query<NoticeRow> {
  const at = raw(instantsOf(['at', 'firing_since', 'resolved_at']));
  return sql<NoticeRow>`select site_id, notice_id, webhook, state, attempts, alert_id, kind, subject, times, ${at}
    from alert_notices_due(${limit}::integer, ${ofSite}::integer)`;
}

export interface Tried {
  readonly site: string;
  readonly id: string;
  /** An HTTP status, or a code of the gateway. */
  readonly answer: string;
  readonly isDelivered: boolean;
}

export const noticesTried = (tried: readonly Tried[]): Query =>
  sql`select alert_notices_tried(${JSON.stringify(tried)}::json)`;
