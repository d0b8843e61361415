/**
 * Checks the deployment from inside, for `/admin/health` and the doctor. It writes nothing except the claim of a random `jti`,
 * which expires in a minute.
 */
import { type Config, plainAddresses } from '../../config.ts';
import type { Database } from '../../deps.ts';
import { sha256Of } from '../../http/crypto.ts';
import { unhandledAlerts } from '../../store/admin-alert.ts';
import { inSite } from '../../store/in-site.ts';
import { signingKeysSeen } from '../../store/signing-key.ts';
import { ALERT_KINDS } from '../../alert-kinds.ts';
import { endpointsOf } from '../endpoints/endpoints.ts';
import { createProvider } from '../staff/provider.ts';
import type { AdminDeps } from '../web/console.ts';
import { checkDatabase } from './database.ts';
import { bad, type Finding, findingsOf, good } from './finding.ts';
import { checkSidecars } from './sidecars.ts';
import { signingKeyAge } from './signing-key.ts';

function addresses(config: Config): Finding[] {
  const missing = endpointsOf(config).filter(({ status }) => status !== 'configured');
  const plain = plainAddresses(config);
  return [
    missing.length === 0
      ? good('endpoints', 'all six are configured')
      : bad(
          'endpoints',
          `not configured: ${missing.map(({ name }) => name).join(', ')}`,
          'see edge/docs/configuration.md, unless they are left out on purpose',
        ),
    plain.length === 0
      ? good(
          'https',
          endpointsOf(config).some(({ value }) => value?.startsWith('http:') === true)
            ? 'addresses of this machine use http; all others use https'
            : 'all public addresses use https',
        )
      : bad('https', `plain http: ${plain.join(', ')}`, 'serve them over https only'),
  ];
}

/** The first claim of a jti must succeed and the second must fail, so that no assertion is used twice. */
async function singleUse({ jtiStore, now }: AdminDeps): Promise<Finding[]> {
  const hash = await sha256Of(crypto.randomUUID());
  const expires = Math.floor(now() / 1000) + 60;
  const claim = () => jtiStore.claim('doctor', hash, expires, crypto.randomUUID());
  const started = now();
  const claims = [await claim(), await claim()];
  return [
    claims[0] === true && claims[1] === false
      ? good('jti store', `accepts a jti once; two claims took ${now() - started} ms`)
      : bad('jti store', 'accepts a jti more than once, or never', 'stop the token service and report it'),
  ];
}

async function provider(deps: AdminDeps): Promise<Finding[]> {
  // Not the discovery document that the console caches for an hour.
  const { server } = await createProvider(deps)();
  const grants = server.grant_types_supported;
  const { ADMIN_OIDC_GROUPS: groups } = deps.config;
  const claims =
    groups === undefined
      ? `${deps.config.ADMIN_OIDC_SITE_CLAIM} and ${deps.config.ADMIN_OIDC_PERMISSIONS_CLAIM}`
      : `${deps.config.ADMIN_OIDC_GROUPS_CLAIM}, with ${groups.size} configured groups`;
  return [
    server.authorization_endpoint === undefined || server.token_endpoint === undefined
      ? bad('OpenID provider', `${server.issuer} has no sign-in`, 'check ADMIN_OIDC_ISSUER')
      : good('OpenID provider', server.issuer),
    good('claims', `permissions come from ${claims}`),
    grants === undefined || grants.includes('refresh_token')
      ? good('refresh tokens', 'the provider supports them')
      : bad(
          'refresh tokens',
          'the provider has none: staff must sign in again every hour',
          'edge/docs/deploy.md, The staff’s OpenID provider',
        ),
  ];
}

/** The firing alerts of the caller's site that are neither acknowledged nor silenced. */
async function alerts(database: Database, site: string): Promise<Finding[]> {
  const firing = await inSite(database, site).run(unhandledAlerts(site));
  const [first] = firing;
  if (first === undefined) return [good('alerts', 'none is firing, or each is acknowledged or silenced')];
  const titles = [...new Set(firing.map(({ kind }) => ALERT_KINDS[kind].title))];
  return [bad('alerts', `${first.total} firing: ${titles.join('; ')}`, 'see Alerts in the console')];
}

const mebibytes = (bytes: number): string => `${Math.round((bytes / 2 ** 20) * 10) / 10} MiB`;

/** The limits that senders reach first. */
function limits({ FHIR_MAX_BODY_BYTES: fhir, HL7_MAX_MESSAGE_BYTES: hl7 }: Config): Finding[] {
  return [good('limits', `a FHIR body ${mebibytes(fhir)}, an HL7 message ${mebibytes(hl7)}`)];
}

async function signingKeys({ config, now }: AdminDeps, database: Database): Promise<Finding[]> {
  const { keys } = config.TOKEN_SIGNING_KEYS;
  const [seen] = await database.run(signingKeysSeen(keys.slice(0, 1).map(({ kid }) => kid)));
  return [signingKeyAge(keys, now(), seen && Date.parse(seen.first_seen))];
}

/** @param database with the rights of the caller @param site of the caller */
export async function checkDeployment(deps: AdminDeps, database: Database, site: string): Promise<readonly Finding[]> {
  const { config, now, version } = deps;
  const found = await Promise.all([
    findingsOf('endpoints', async () => addresses(config)),
    findingsOf('database', () => checkDatabase(database, config.DATABASE_URL, now)),
    findingsOf('jti store', () => singleUse(deps)),
    findingsOf('signing keys', () => signingKeys(deps, database)),
    findingsOf('OpenID provider', () => provider(deps)),
    findingsOf('sidecars', () => checkSidecars(config, database, now())),
    findingsOf('alerts', () => alerts(database, site)),
    findingsOf('limits', async () => limits(config)),
  ]);
  return [...found.flat(), good('version', version ?? 'unknown on this platform')];
}
