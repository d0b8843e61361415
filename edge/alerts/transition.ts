/**
 * The next state of each alert. An alert fires with its cause and resolves ten minutes after the cause has ended. It fires again if
 * the cause returns within an hour. A notice is due if the state differs from that of the last notice. A flapping alert causes
 * few notices, but always one for its last state.
 */
import type { AlertNumbers } from '../alert-kinds.ts';
import { alertKey, type AlertFacts, type FiringAlert, type KnownAlert } from './facts.ts';

const CLEAR_MS = 10 * 60_000;
/** The shortest time between two notices of one alert. */
const QUIET_MS = 15 * 60_000;

/** An alert as it is written; only staff change its acknowledgement. Without numbers, the stored ones stay. */
export type Alert = Omit<KnownAlert, 'isAcknowledged'> & { readonly numbers?: AlertNumbers };

interface NewNotice {
  readonly site: string;
  readonly id: string;
  readonly alertId: string;
  readonly state: 'firing' | 'resolved';
  readonly at: number;
}

export interface AlertChanges {
  readonly alerts: readonly Alert[];
  readonly notices: readonly NewNotice[];
}

function nextState(alert: KnownAlert, isFiring: boolean, now: number): KnownAlert {
  const { clearSince, resolvedAt } = alert;
  if (resolvedAt !== null) {
    if (!isFiring) return alert;
    return {
      ...alert,
      firingSince: now,
      clearSince: null,
      resolvedAt: null,
      times: alert.times + 1,
      isAcknowledged: false,
    };
  }
  if (isFiring) return clearSince === null ? alert : { ...alert, firingSince: now, clearSince: null };
  if (clearSince === null) return { ...alert, clearSince: now };
  return now - clearSince < CLEAR_MS ? alert : { ...alert, resolvedAt: now };
}

const newAlert = ({ site, kind, subject }: FiringAlert, id: string, now: number): KnownAlert => ({
  site,
  kind,
  subject,
  id,
  times: 1,
  notified: '',
  firingSince: now,
  clearSince: null,
  resolvedAt: null,
  notifiedAt: null,
  isAcknowledged: false,
});

/** The state to post now, or undefined for no notice. */
function stateToPost(
  alert: KnownAlert,
  hasWebhook: boolean,
  isSilenced: boolean,
  now: number,
): 'firing' | 'resolved' | undefined {
  const state = alert.resolvedAt === null ? 'firing' : 'resolved';
  if (!hasWebhook || isSilenced || alert.notified === state) return undefined;
  // The receiver does not know that the alert was firing.
  if (state === 'resolved' && alert.notified === '') return undefined;
  if (state === 'firing' && alert.isAcknowledged) return undefined;
  return alert.notifiedAt === null || now - alert.notifiedAt >= QUIET_MS ? state : undefined;
}

/** @param newId makes a UUID */
export function changeAlerts(facts: AlertFacts, firing: readonly FiringAlert[], newId: () => string): AlertChanges {
  const { now } = facts;
  const silences = new Set(facts.silences.map(alertKey));
  const webhooks = new Map(facts.sites.map(({ site, hasWebhook }) => [site, hasWebhook]));
  const causes = new Map(firing.map((cause) => [alertKey(cause), cause]));
  // Several alerts of the last hour may have one key: the firing one counts, else the one resolved last.
  const byKey = new Map(
    facts.alerts
      .toSorted((a, b) => (a.resolvedAt ?? Infinity) - (b.resolvedAt ?? Infinity))
      .map((alert) => [alertKey(alert), alert] as const),
  );
  const known = [...byKey.values()].map((alert) => ({
    before: alert,
    after: nextState(alert, causes.has(alertKey(alert)), now),
  }));
  const fresh = [...causes]
    .filter(([key]) => !byKey.has(key))
    .map(([, cause]) => ({ before: undefined, after: newAlert(cause, newId(), now) }));

  const alerts: Alert[] = [];
  const notices: NewNotice[] = [];
  for (const { before, after } of [...known, ...fresh]) {
    const state = stateToPost(after, webhooks.get(after.site) ?? false, silences.has(alertKey(after)), now);
    if (state !== undefined) notices.push({ site: after.site, id: newId(), alertId: after.id, state, at: now });
    if (state === undefined && before === after) continue;
    const { isAcknowledged: _, ...alert } = after;
    const numbers = causes.get(alertKey(after))?.numbers;
    const measured = numbers !== undefined && after.firingSince === now ? { numbers } : {};
    alerts.push({ ...alert, ...measured, ...(state === undefined ? {} : { notified: state, notifiedAt: now }) });
  }
  return { alerts, notices };
}
