/**
 * Every step of the token endpoint on one assertion, for the administrator of its key, with the value seen. Nothing is used
 * up: what spends is not run, and no refusal is kept.
 */
import type { Json } from '../../../shared/json.ts';
import { grantScopes, SCOPES } from '../../../shared/oauth/scope.ts';
import { quote } from '../../../shared/quote.ts';
import type { AssertionCheck, AssertionExplanation } from '../../assertion-explanation.ts';
import type { Deps } from '../../deps.ts';
import { oauthAddresses } from '../../http/smart-configuration.ts';
import { findClient } from '../../store/client.ts';
import type { ClientKeyring } from '../client-keys.ts';
import { claimedClient } from './client-id.ts';
import { readCompactJws } from './compact-jws.ts';
import type { Known, Outcome, Step } from './step.ts';
import { FORMAT, STEPS } from './steps.ts';

function toCheck({ code, title }: Pick<Step, 'code' | 'title'>, outcome: Outcome, value?: Json): AssertionCheck {
  if ('skipped' in outcome) return { code, title, result: 'skipped', reason: outcome.skipped };
  const seen = value === undefined ? {} : { seen: quote(value) };
  if ('learned' in outcome) return { code, title, result: 'passed', ...seen };
  return { code: outcome.refused.code, title, result: 'failed', reason: outcome.refused.reason, ...seen };
}

/** A request asks for scopes, which an assertion alone does not: here whether any request could be granted some. */
function checkScopes({ client }: Known): AssertionCheck {
  const step = { code: 'scope', title: 'the API key has Allowed scopes' } as const;
  if (client === undefined) return toCheck(step, { skipped: 'the client is not known' });
  const granted = grantScopes(SCOPES.join(' '), client.allowed_scopes);
  const outcome: Outcome =
    'reason' in granted ? { refused: { code: 'scope', reason: granted.reason } } : { learned: {} };
  return toCheck(step, outcome, client.allowed_scopes.join(' '));
}

const UNTRIED: Outcome = { skipped: 'not tried: that would use the assertion up' };

/**
 * Explains an assertion to the administrators of a site.
 *
 * @param clientKeys the ring that the token endpoint asks, so that both know the same keys
 * @param site only its own keys: another site's client is as unknown as one that does not exist
 */
export async function explainAssertion(
  deps: Deps,
  clientKeys: ClientKeyring,
  site: string,
  assertion: string,
): Promise<AssertionExplanation> {
  const read = readCompactJws(assertion);
  if ('reason' in read) {
    const refused: Outcome = { refused: { code: FORMAT.code, reason: read.reason } };
    return { accepted: false, clientId: null, header: null, claims: null, checks: [toCheck(FORMAT, refused)] };
  }
  const { header, claims } = read.jws;
  const clientId = claimedClient(claims);
  let known: Known = {
    jws: read.jws,
    clientId,
    formClientId: undefined,
    audiences: [oauthAddresses(deps.config).tokenEndpoint],
  };
  const means = {
    deps,
    clientKeys,
    async findClient(id: string) {
      const [client] = await deps.database.run(findClient(id));
      return client?.site_id === site ? client : undefined;
    },
  };
  const checks = [toCheck(FORMAT, { learned: {} })];
  for (const step of STEPS.filter(({ spends }) => spends === undefined)) {
    const outcome = await step.run(known, means);
    if ('learned' in outcome) known = { ...known, ...outcome.learned };
    checks.push(toCheck(step, outcome, step.seen?.(known)));
  }
  checks.push(checkScopes(known));
  const accepted = checks.every(({ result }) => result === 'passed');
  const untried = STEPS.filter(({ spends }) => spends === 'jti').map((step) => toCheck(step, UNTRIED));
  return { accepted, clientId: clientId ?? null, header, claims, checks: [...checks, ...untried] };
}
