/**
 * Runs every step of the token endpoint on one assertion, for its key's administrator, and shows the checked values. Steps
 * with an effect are skipped, and no refusal is noted.
 */
import type { Json } from '../../../shared/json.ts';
import { grantScopes } from '../../../shared/oauth/scope.ts';
import { type ResourceType, typesOn } from '../../../shared/resource-type.ts';
import { quote } from '../../../shared/quote.ts';
import type { AssertionCheck, AssertionExplanation } from '../../assertion-explanation.ts';
import type { Deps } from '../../deps.ts';
import { oauthAddresses } from '../../http/smart-configuration.ts';
import { findClient } from '../../store/client.ts';
import type { ClientKeyring } from '../client-keys.ts';
import { claimedClient } from './credentials.ts';
import { readCompactJws } from './compact-jws.ts';
import type { Progress, Outcome, Step } from './step.ts';
import { FORMAT, STEPS } from './steps.ts';

function toCheck({ code, title }: Pick<Step, 'code' | 'title'>, outcome: Outcome, value?: Json): AssertionCheck {
  if ('skipped' in outcome) return { code, title, result: 'skipped', reason: outcome.skipped };
  const seen = value === undefined ? {} : { seen: quote(value) };
  if ('findings' in outcome) return { code, title, result: 'passed', ...seen };
  return { code: outcome.refused.code, title, result: 'failed', reason: outcome.refused.reason, ...seen };
}

/** An assertion has no scopes, so this checks if any request with it could be granted some. */
function checkScopes({ client }: Progress, types: readonly ResourceType[]): AssertionCheck {
  const step = { code: 'scope', title: 'the API key has Allowed scopes' } as const;
  if (client === undefined) return toCheck(step, { skipped: 'the client is not known' });
  const granted = grantScopes('system/*.*', client.allowed_scopes, types);
  const outcome: Outcome =
    'reason' in granted ? { refused: { code: 'scope', reason: granted.reason } } : { findings: {} };
  return toCheck(step, outcome, client.allowed_scopes.join(' '));
}

const UNTRIED: Outcome = { skipped: 'skipped: this step would use up the assertion' };

/**
 * Explains an assertion to a site's administrators.
 *
 * @param clientKeys the token endpoint's key cache, so that both use the same keys
 * @param site only its keys are found: a client of another site is unknown
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
  let progress: Progress = {
    jws: read.jws,
    clientId,
    formClientId: undefined,
    audiences: [oauthAddresses(deps.config).tokenEndpoint],
  };
  const stepDeps = {
    deps,
    clientKeys,
    async findClient(id: string) {
      const [client] = await deps.database.run(findClient(id));
      return client?.site_id === site ? client : undefined;
    },
  };
  const checks = [toCheck(FORMAT, { findings: {} })];
  for (const step of STEPS.filter(({ spends }) => spends === undefined)) {
    const outcome = await step.run(progress, stepDeps);
    if ('findings' in outcome) progress = { ...progress, ...outcome.findings };
    checks.push(toCheck(step, outcome, step.seen?.(progress)));
  }
  checks.push(checkScopes(progress, typesOn(deps.config)));
  const accepted = checks.every(({ result }) => result === 'passed');
  const untried = STEPS.filter(({ spends }) => spends === 'jti').map((step) => toCheck(step, UNTRIED));
  return { accepted, clientId: clientId ?? null, header, claims, checks: [...checks, ...untried] };
}
