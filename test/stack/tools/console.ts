/** A gateway with its console and the staff's OpenID provider, for tests. */
import { createSeal, type Seal } from '../../../edge/admin/staff/seal.ts';
import { freePort } from '../services/free-port.ts';
import { type Gateway, type GatewayOptions, type Runtime, startGateway } from './gateway.ts';
import type { Account } from '../services/oidc-accounts.ts';
import { type OidcOptions, type OidcProvider, startOidcProvider } from '../services/oidc-provider.ts';
import { createHttpBrowser, type HttpBrowser } from './http-browser.ts';

export interface TestConsole {
  readonly gateway: Gateway;
  readonly oidc: OidcProvider;
  /** ADMIN_PUBLIC_BASE_URL. */
  readonly baseUrl: string;
  stop(): Promise<void>;
}

export interface ConsoleOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** A path before `/admin`, as behind a proxy. */
  readonly prefix?: string;
  readonly caCertificate?: string;
  readonly rateLimits?: NonNullable<GatewayOptions['rateLimits']>;
  readonly provider?: Pick<OidcOptions, 'path' | 'claimNames' | 'claims' | 'withoutRefreshTokens'>;
}

export async function startConsole(
  runtime: Runtime,
  database: GatewayOptions['database'],
  site: string,
  { env = {}, prefix = '', provider = {}, ...more }: ConsoleOptions = {},
): Promise<TestConsole> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}${prefix}`;
  const oidc = await startOidcProvider({ adminBaseUrl: baseUrl, site, ...provider });
  const docs = { INTEGRATION_DOCS_URL: `${baseUrl}/docs` };
  const gateway = await startGateway({
    runtime,
    database,
    port,
    prefix,
    ...more,
    env: { ...oidc.env, ADMIN_PUBLIC_BASE_URL: baseUrl, ...docs, ...env },
  });
  return {
    gateway,
    oidc,
    baseUrl,
    async stop() {
      await gateway.kill();
      await oidc.stop();
    },
  };
}

/** A browser with a signed-in session. @throws if the console does not open */
export async function signIn(
  { baseUrl, oidc }: Pick<TestConsole, 'baseUrl' | 'oidc'>,
  { username, password }: Account = oidc.admin,
): Promise<HttpBrowser> {
  const browser = createHttpBrowser();
  const form = await browser.go(`${baseUrl}/admin`);
  const { status } = await browser.go(form.url, { method: 'POST', body: new URLSearchParams({ username, password }) });
  if (status !== 200) throw new Error(`after the sign-in of ${username}: ${status}`);
  return browser;
}

/** Reads and makes the session cookies of a gateway. */
export const sessionSeal = ({ secrets }: Pick<Gateway, 'secrets'>): Seal =>
  createSeal([secrets.env.GATEWAY_SECRET], 'admin session');
