/**
 * What becomes of alerts when something is wrong or is not any more: they open, resolve once their cause has been gone for
 * a while, and open again as the same where it comes back soon. What was last told and what holds now decide whether
 * somebody is told, so that an alert that flaps is told seldom, and its last state always. Pure.
 */
import type { Facts, Firing, KnownAlert } from './facts.ts';

/** A cause must be gone for so long. */
const CLEAR_MS = 10 * 60_000;
/** Between two notices of one alert. */
const QUIET_MS = 15 * 60_000;

/** An alert as it is written: what people did with it is not in it. */
export type Alert = Omit<KnownAlert, 'isAcknowledged'>;

export interface NewNotice {
  readonly site: string;
  readonly id: string;
  readonly alertId: string;
  readonly told: 'open' | 'resolved';
  readonly at: number;
}

export interface Decided {
  /** Those that changed. */
  readonly alerts: readonly Alert[];
  readonly notices: readonly NewNotice[];
}

const keyOf = ({ site, kind, subject }: Pick<KnownAlert, 'site' | 'kind' | 'subject'>): string =>
  `${site} ${kind} ${subject}`;

/** @param isFiring whether its cause is there */
function next(alert: KnownAlert, isFiring: boolean, now: number): KnownAlert {
  const { clearSince, resolvedAt } = alert;
  if (resolvedAt !== null) {
    if (!isFiring) return alert;
    return {
      ...alert,
      openedAt: now,
      clearSince: null,
      resolvedAt: null,
      times: alert.times + 1,
      isAcknowledged: false,
    };
  }
  if (isFiring) return clearSince === null ? alert : { ...alert, openedAt: now, clearSince: null };
  if (clearSince === null) return { ...alert, clearSince: now };
  return now - clearSince < CLEAR_MS ? alert : { ...alert, resolvedAt: now };
}

const opened = ({ site, kind, subject }: Firing, id: string, now: number): KnownAlert => ({
  site,
  kind,
  subject,
  id,
  times: 1,
  told: '',
  openedAt: now,
  clearSince: null,
  resolvedAt: null,
  toldAt: null,
  isAcknowledged: false,
});

/** What is to be told of an alert now, or undefined. */
function toTell(
  alert: KnownAlert,
  hasWebhook: boolean,
  isMuted: boolean,
  now: number,
): 'open' | 'resolved' | undefined {
  const state = alert.resolvedAt === null ? 'open' : 'resolved';
  if (!hasWebhook || isMuted || alert.told === state) return undefined;
  // Nobody heard that it was open.
  if (state === 'resolved' && alert.told === '') return undefined;
  // Somebody is at it already.
  if (state === 'open' && alert.isAcknowledged) return undefined;
  return alert.toldAt === null || now - alert.toldAt >= QUIET_MS ? state : undefined;
}

/**
 * @param wrong what `firing` found
 * @param newId makes an id
 */
export function decide(facts: Facts, wrong: readonly Firing[], newId: () => string): Decided {
  const { now } = facts;
  // Also of what has not been there before.
  const mutes = new Set(facts.mutes.map(keyOf));
  const webhooks = new Map(facts.sites.map(({ site, hasWebhook }) => [site, hasWebhook]));
  const causes = new Map(wrong.map((cause) => [keyOf(cause), cause]));
  // Of several of one cause, which are of one hour, the one that is open, else the last.
  const byKey = new Map(
    facts.alerts
      .toSorted((a, b) => (a.resolvedAt ?? Infinity) - (b.resolvedAt ?? Infinity))
      .map((alert) => [keyOf(alert), alert] as const),
  );
  const known = [...byKey.values()].map((alert) => ({
    before: alert,
    after: next(alert, causes.has(keyOf(alert)), now),
  }));
  const fresh = [...causes]
    .filter(([key]) => !byKey.has(key))
    .map(([, cause]) => ({ before: undefined, after: opened(cause, newId(), now) }));

  const alerts: Alert[] = [];
  const notices: NewNotice[] = [];
  for (const { before, after } of [...known, ...fresh]) {
    const told = toTell(after, webhooks.get(after.site) ?? false, mutes.has(keyOf(after)), now);
    if (told !== undefined) notices.push({ site: after.site, id: newId(), alertId: after.id, told, at: now });
    if (told === undefined && before === after) continue;
    const { isAcknowledged: _, ...alert } = after;
    alerts.push(told === undefined ? alert : { ...alert, told, toldAt: now });
  }
  return { alerts, notices };
}
