/**
 * Saves settings from a form, the JSON API or the command line. Beside the rules of `changeSite` it checks the address of the
 * webhook, which needs the configuration and DNS. Each delivery checks the address again.
 */
import * as z from 'zod';

import { Fault, type Issue } from '../../../shared/fault.ts';
import type { Database } from '../../deps.ts';
import { deadline } from '../../http/deadline.ts';
import { checkForeignUrl, type GuardedFetching } from '../../http/guarded-fetch.ts';
import { isPublicAddress } from '../../http/public-address.ts';
import type { SettingsRow } from '../../store/site.ts';
import { parse } from '../api/parse.ts';
import type { Actor } from '../staff/actor.ts';
import { SITE_MEMBERS } from './record.ts';
import { changeSite, siteChange } from './site.ts';

export type WebhookDeps = Pick<GuardedFetching, 'config' | 'resolveHost'>;

const given = z.object({ alertWebhook: SITE_MEMBERS.alertWebhook.schema });

/** A slower lookup is not a reason to reject the address. */
const LOOKUP_MS = 2_000;

/** The reason to reject a webhook; undefined also for a host without an address, which may get one later. */
export async function webhookProblem({ config, resolveHost }: WebhookDeps, body: unknown): Promise<string | undefined> {
  // `changeSite` reports a text that is not a URL.
  const url = given.safeParse(body).data?.alertWebhook ?? null;
  if (url === null) return undefined;
  const problem = checkForeignUrl(config, url);
  const { hostname } = new URL(url);
  if (problem !== undefined || config.JWKS_TRUSTED_HOSTS.includes(hostname)) return problem;
  const within = deadline(LOOKUP_MS);
  const addresses = await Promise.race([resolveHost(hostname), within.expired])
    .catch(() => [])
    .finally(() => within.clear());
  return addresses.every(isPublicAddress) ? undefined : 'must not lead to a private address';
}

function issuesOf(body: unknown): readonly Issue[] {
  try {
    parse(siteChange, body, 'invalid', 'the change');
    return [];
  } catch (error) {
    if (error instanceof Fault) return error.issues;
    throw error;
  }
}

/** @throws Fault `invalid` with the webhook's issue and all other issues of the body */
export async function requireWebhook(deps: WebhookDeps, body: unknown): Promise<void> {
  const message = await webhookProblem(deps, body);
  if (message === undefined) return;
  const issues = [...issuesOf(body), { code: 'invalid', message, at: 'alertWebhook' }];
  throw new Fault('invalid', 'the webhook is not valid', { issues });
}

/** @throws the faults of `changeSite`, and `invalid` for a webhook that leads to the gateway or to a private address */
export async function saveSettings(
  deps: WebhookDeps & { readonly database: Database },
  actor: Actor,
  expected: readonly number[],
  body: unknown,
): Promise<SettingsRow> {
  await requireWebhook(deps, body);
  return changeSite(deps.database, actor, expected, body);
}
