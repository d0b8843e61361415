/** The facts that alerts are decided from, read in one round trip, and the conditions that are true now. */
import * as z from 'zod';

import {
  ALERT_KIND_NAMES,
  ALERT_KINDS,
  type AlertContext,
  type AlertKind,
  type AlertNumbers,
  type AlertSubject,
  numbersOf,
} from '../alert-kinds.ts';

const ms = z.number();
const of = { site: z.string(), kind: z.string(), subject: z.string() };

const alertFacts = z.object({
  /** The database's clock, milliseconds since the epoch. */
  now: ms,
  /** By kind (edge/alert-kinds.ts). */
  kinds: z.record(z.string(), z.unknown()),
  /** Alerts that are firing, or were resolved in the last hour. */
  alerts: z.array(
    z.object({
      ...of,
      id: z.string(),
      times: z.number(),
      notified: z.enum(['', 'firing', 'resolved']),
      firingSince: ms,
      clearSince: ms.nullable(),
      resolvedAt: ms.nullable(),
      notifiedAt: ms.nullable(),
      isAcknowledged: z.boolean(),
    }),
  ),
  silences: z.array(z.object(of)),
  sites: z.array(z.object({ site: z.string(), hasWebhook: z.boolean() })),
});

export type AlertFacts = z.output<typeof alertFacts>;
export type KnownAlert = AlertFacts['alerts'][number];

/** @param json the answer of `alert_facts` */
export const alertFactsOf = (json: string): AlertFacts => alertFacts.parse(JSON.parse(json));

export interface FiringAlert extends AlertSubject {
  readonly kind: AlertKind;
  readonly numbers: AlertNumbers;
}

export const alertKey = ({ site, kind, subject }: { readonly kind: string } & AlertSubject): string =>
  `${site} ${kind} ${subject}`;

/** The alerts whose conditions are true now. */
export function firingAlerts(
  { now, kinds, alerts, sites }: AlertFacts,
  checked: Pick<AlertContext, 'checkedSince' | 'providerFailures'>,
): FiringAlert[] {
  const current = new Map(
    alerts.filter(({ resolvedAt }) => resolvedAt === null).map((alert) => [alertKey(alert), alert]),
  );
  return ALERT_KIND_NAMES.flatMap((kind) => {
    const firingAlert = (subject: AlertSubject) => current.get(alertKey({ ...subject, kind }));
    const context = { ...checked, now, firingAlert, sites: sites.map(({ site }) => site) };
    return ALERT_KINDS[kind].firing(kinds[kind], context).map((cause) => {
      const { site, subject } = cause;
      return { site, kind, subject, numbers: numbersOf(cause) };
    });
  });
}
