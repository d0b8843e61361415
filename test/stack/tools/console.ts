/** A gateway with its console and the staff's OpenID provider, for tests. */
import { freePort } from '../services/free-port.ts';
import { type Gateway, type GatewayOptions, type Runtime, startGateway } from './gateway.ts';
import { type OidcOptions, type OidcProvider, startOidcProvider } from '../services/oidc-provider.ts';

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
