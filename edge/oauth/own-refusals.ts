/** The rejected and failed requests of the calling client, and its check list (edge/docs/behaviour.md, Token service, Requests of a client). */
import * as z from 'zod';

import { checkList, viewCheckList } from '../check-list.ts';
import type { Deps } from '../deps.ts';
import { oauthAddresses } from '../http/smart-configuration.ts';
import { clientHintFor } from '../refusals.ts';
import { ANY_REFUSAL, findRefusals, type FoundRefusal, outcomeOf } from '../store/admin-refusal.ts';
import { checkListOf } from '../store/check-list.ts';
import { USAGE_SURFACES } from '../store/usage.ts';
import { answerClientOrLink, openingOf } from './calling-client.ts';
import type { Attempt } from './attempt.ts';
import type { ClientKeyring } from './client-keys.ts';

/** Reasons in one answer. */
const MAX_OWN_REFUSALS = 50;

const ownRefusal = z.object({
  surface: z.enum(USAGE_SURFACES),
  answer: z.string().meta({ description: 'The HTTP status; over MLLP AE or AR.' }),
  outcome: z.enum(['refused', 'failed']).meta({ description: 'A failed request is a fault of the gateway (5xx).' }),
  code: z.string().meta({ description: 'The check that rejected: an OAuth error, an R4 IssueType, table 0357.' }),
  reason: z.string().meta({ description: 'Without the content of the request. Empty: a code had too many reasons.' }),
  hint: z.string().nullable().meta({ description: 'The change that helps.' }),
  requests: z.number().int(),
  firstAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
  requestId: z.string().meta({ description: 'The `X-Request-Id` of the last request.' }),
});

/** The answer of `/oauth2/refusals`. */
export const ownRefusals = z.object({
  refusals: z.array(ownRefusal).meta({ description: `By reason, the newest first; ${MAX_OWN_REFUSALS} at most.` }),
  checkList,
});

const view = (row: FoundRefusal): z.infer<typeof ownRefusal> => ({
  surface: row.surface,
  answer: row.answer,
  outcome: outcomeOf(row),
  code: row.code,
  reason: row.reason,
  hint: clientHintFor(row.code),
  requests: row.requests,
  firstAt: row.first_at,
  lastAt: row.last_at,
  requestId: row.request_id,
});

/**
 * Only requests that the client's private key or its access token authenticated. Other requests only claim the client, and
 * who sent them is not known: only a link shows them.
 *
 * @throws Refused or Fault, as client authentication and the bearer check do
 */
export async function listOwnRefusals(
  deps: Deps,
  clientKeys: ClientKeyring,
  attempt: Attempt,
): Promise<z.infer<typeof ownRefusals>> {
  const endpoint = `${oauthAddresses(deps.config).issuer}/oauth2/refusals`;
  return answerClientOrLink(deps, clientKeys, attempt, endpoint, async (client) => {
    const { site, clientId } = client;
    // Staff gave the link to the client, who also needs to see why its signatures fail.
    const own = { ...ANY_REFUSAL, clientId, isAuthenticated: client.link === undefined };
    const [, rows, [seen]] = await deps.database.batch([
      openingOf(client),
      findRefusals(site, own, null, MAX_OWN_REFUSALS),
      checkListOf(site, clientId),
    ]);
    return { refusals: rows.map(view), checkList: viewCheckList(seen) };
  });
}
