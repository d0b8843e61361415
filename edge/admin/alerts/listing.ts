/** Lists, acknowledges and silences the alerts of a site, for the console and the JSON API. */
import * as z from 'zod';

import { ALERT_KIND_NAMES, ALERT_KINDS } from '../../alert-kinds.ts';
import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Config } from '../../config.ts';
import type { Database, Query } from '../../deps.ts';
import { postWebhook } from '../../http/post-webhook.ts';
import { alertPurpose, webhookSecret } from '../../http/webhook-signature.ts';
import {
  acknowledgeAlert,
  ALERT_STATES,
  type AlertRow,
  type Done,
  listAlerts,
  silenceAlert,
  unsilenceAlert,
  webhookOf,
} from '../../store/admin-alert.ts';
import { inSite } from '../../store/in-site.ts';
import { fromCursor, INSTANT_PART, type List, toList, UUID_PART } from '../api/cursor.ts';
import { paging } from '../api/operation.ts';
import { type Actor, authorOf, requirePermission } from '../staff/actor.ts';
import type { AdminDeps } from '../web/console.ts';

export const alertQuery = z.strictObject({ ...paging, state: z.enum(ALERT_STATES).default('firing') });

const instant = z.iso.datetime();

export const alertItem = z.object({
  alertId: z.uuid(),
  kind: z.enum(ALERT_KIND_NAMES),
  subject: z.string().meta({ description: 'A Client ID, a surface, a sidecar or a kid; empty for the site.' }),
  keyName: z.string().nullable(),
  summary: z.string(),
  todo: z.string(),
  numbers: z
    .record(z.string(), z.number())
    .nullable()
    .meta({ description: 'The numbers of the cause when it fired. Times are milliseconds since the epoch.' }),
  measured: z.string().meta({ description: 'A sentence with the numbers; empty without numbers.' }),
  firingSince: instant,
  resolvedAt: instant.nullable(),
  clearSince: instant.nullable().meta({ description: 'When the cause ended. The alert resolves ten minutes later.' }),
  times: z.number().int(),
  acknowledged: z.object({ at: instant, by: z.string() }).nullable(),
  silenced: z.object({ until: instant.nullable(), by: z.string() }).nullable(),
  webhook: z
    .object({
      state: z.enum(['waiting', 'delivered', 'given-up']),
      attempts: z.number().int(),
      answer: z.string().nullable(),
    })
    .nullable()
    .meta({ description: 'The newest notice.' }),
});
export type AlertView = z.infer<typeof alertItem>;

function webhookState({ attempts, last_answer: answer, delivered_at: delivered, given_up_at: givenUp }: AlertRow) {
  if (attempts === null) return null;
  const state = delivered !== null ? 'delivered' : givenUp !== null ? 'given-up' : 'waiting';
  return { state, attempts, answer } as const;
}

export const viewAlert = (row: AlertRow): AlertView => {
  const numbers = row.numbers === null ? null : alertItem.shape.numbers.parse(JSON.parse(row.numbers));
  const measured = numbers === null ? '' : ALERT_KINDS[row.kind].measured(numbers, Date.parse(row.firing_since));
  return { ...viewState(row), numbers, measured };
};

const viewState = (row: AlertRow): Omit<AlertView, 'numbers' | 'measured'> => ({
  alertId: row.alert_id,
  kind: row.kind,
  subject: row.subject,
  keyName: row.key_name,
  summary: ALERT_KINDS[row.kind].title,
  todo: ALERT_KINDS[row.kind].todo,
  firingSince: row.firing_since,
  resolvedAt: row.resolved_at,
  clearSince: row.clear_since,
  times: row.times,
  acknowledged:
    row.acknowledged_at === null || row.acknowledged_by === null
      ? null
      : { at: row.acknowledged_at, by: row.acknowledged_by },
  silenced: row.is_silenced ? { until: row.silenced_until, by: row.silenced_by ?? '' } : null,
  webhook: webhookState(row),
});

/** The newest first. @throws Fault `malformed` for an invalid cursor */
export async function findAlerts(
  database: Database,
  site: string,
  { state, limit, cursor }: z.infer<typeof alertQuery>,
): Promise<List<AlertRow>> {
  const after = fromCursor(cursor, INSTANT_PART, UUID_PART);
  const rows = await inSite(database, site).run(listAlerts(site, state, after, limit + 1));
  return toList(rows, limit, (row) => [row.place, row.alert_id]);
}

/** A year. */
export const MAX_SILENCE_MINUTES = 527_040;
const HOW_LONG = `must be a whole number of minutes from 1 to ${MAX_SILENCE_MINUTES}, or null for no end`;
export const silenceBody = z.strictObject({
  minutes: z.number({ error: HOW_LONG }).int(HOW_LONG).min(1, HOW_LONG).max(MAX_SILENCE_MINUTES, HOW_LONG).nullable(),
});

async function act(
  database: Database,
  actor: Actor,
  id: string,
  query: () => Query<Done>,
): Promise<{ alertId: string }> {
  requirePermission(actor, 'site.alerts.update');
  const [done] = isUuid(id) ? await inSite(database, actor.site).run(query()) : [];
  if (done === undefined) throw new Fault('not-found', 'The site has no such alert, or its state does not allow this.');
  return { alertId: done.alert_id };
}

/** @throws Fault `not-found` for an alert that does not fire, `forbidden` without the permission */
export const acknowledge = (database: Database, actor: Actor, id: string) =>
  act(database, actor, id, () => acknowledgeAlert(actor.site, id, authorOf(actor)));

/** @param minutes null for no end @throws Fault as `acknowledge` */
export const silence = (database: Database, actor: Actor, id: string, minutes: number | null) =>
  act(database, actor, id, () => silenceAlert(actor.site, id, minutes, authorOf(actor)));

/** @throws Fault as `acknowledge` */
export const unsilence = (database: Database, actor: Actor, id: string) =>
  act(database, actor, id, () => unsilenceAlert(actor.site, id));

/** The address of the webhook, and the secret that signs notices. */
export async function webhook(config: Pick<Config, 'GATEWAY_SECRET'>, database: Database, site: string) {
  const [row] = await inSite(database, site).run(webhookOf(site));
  return { site, url: row?.url ?? null, secret: await webhookSecret(config.GATEWAY_SECRET, alertPurpose(site)) };
}

export const testAnswer = z.object({
  url: z.string(),
  isDelivered: z.boolean(),
  answer: z.string().meta({ description: 'An HTTP status, or a code of the gateway such as `unreachable`.' }),
});

/** Posts a test to the webhook of the site. @throws Fault `invalid` without a webhook, `forbidden` without the permission */
export async function testWebhook(
  deps: AdminDeps,
  database: Database,
  actor: Actor,
): Promise<z.infer<typeof testAnswer>> {
  requirePermission(actor, 'site.settings.update');
  const [row] = await inSite(database, actor.site).run(webhookOf(actor.site));
  const url = row?.url ?? null;
  if (url === null) throw new Fault('invalid', 'The site has no webhook. Set `alertWebhook` in the settings first.');
  const body = JSON.stringify({
    type: 'alert.test',
    timestamp: new Date(deps.now()).toISOString(),
    data: { site: actor.site, summary: 'This is a test. No alert is firing because of it.' },
  });
  const post = { purpose: alertPurpose(actor.site), id: crypto.randomUUID(), url, body };
  return { url, ...(await postWebhook(deps, post, deps.now())) };
}
