/**
 * Saving settings that somebody gives, from a form, the JSON API or the command line: what `changeSite` looks at, and where
 * the webhook leads, which takes the configuration and a look-up. It is looked at again whenever something is posted.
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

/** What of a runtime is needed to see where an address leads. */
export type Looking = Pick<GuardedFetching, 'config' | 'resolveHost'>;

const given = z.object({ alertWebhook: SITE_MEMBERS.alertWebhook.schema });

/** A look-up that takes longer says nothing; when something is posted it is asked again. */
const LOOK_UP_MS = 2_000;

/** Why nothing may ever be posted there. A name that has no address now may have one tomorrow. */
async function webhookProblem({ config, resolveHost }: Looking, body: unknown): Promise<string | undefined> {
  // What is no address at all the settings' own rules tell.
  const url = given.safeParse(body).data?.alertWebhook ?? null;
  if (url === null) return undefined;
  const problem = checkForeignUrl(config, url);
  const { hostname } = new URL(url);
  if (problem !== undefined || config.JWKS_TRUSTED_HOSTS.includes(hostname)) return problem;
  const within = deadline(LOOK_UP_MS);
  const addresses = await Promise.race([resolveHost(hostname), within.expired])
    .catch(() => [])
    .finally(() => within.clear());
  return addresses.every(isPublicAddress) ? undefined : 'its host name leads to a private address';
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

/** @throws Fault `invalid` with this finding beside all others of the body */
export async function requireWebhook(looking: Looking, body: unknown): Promise<void> {
  const message = await webhookProblem(looking, body);
  if (message === undefined) return;
  const issues = [...issuesOf(body), { code: 'invalid', message, at: 'alertWebhook' }];
  throw new Fault('invalid', 'the webhook is not valid', { issues });
}

/** @throws Fault as `changeSite`, and `invalid` for a webhook that leads to the gateway itself or inside */
export async function saveSettings(
  deps: Looking & { readonly database: Database },
  actor: Actor,
  expected: readonly number[],
  body: unknown,
): Promise<SettingsRow> {
  await requireWebhook(deps, body);
  return changeSite(deps.database, actor, expected, body);
}
