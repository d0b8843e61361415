/**
 * Parses a connection string like PostgreSQL's own programs (PostgreSQL manual §32.1.1.2, Connection URIs), but only with
 * secure TLS modes. Unknown parameters are rejected, since an ignored one might have been for protection.
 */

/** Unencrypted; encrypted without a check; certificate of a trusted authority; the same with this host name. */
type SslMode = 'disable' | 'require' | 'verify-ca' | 'verify-full';
const SSL_MODES: readonly string[] = ['disable', 'require', 'verify-ca', 'verify-full'] satisfies SslMode[];
const isSslMode = (text: string): text is SslMode => SSL_MODES.includes(text);

export interface ConnectionString {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly sslmode: SslMode;
  /** A file of certificate authorities, PEM; undefined means the runtime's. */
  readonly sslrootcert: string | undefined;
  /** Files of the client's certificate and key, PEM. */
  readonly sslcert: string | undefined;
  readonly sslkey: string | undefined;
  readonly applicationName: string;
}

const KNOWN = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'application_name'] as const;

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);

/**
 * Without `sslmode`, only a connection to this machine may be unencrypted; others must state `disable`.
 *
 * libpq's `allow` and
 * `prefer` are rejected, because an attacker on the network can disable their encryption.
 */
function sslModeOf(given: string | undefined, host: string): SslMode | undefined {
  if (given === undefined) return isLoopback(host) ? 'disable' : undefined;
  return isSslMode(given) ? given : undefined;
}

/**
 * @param text postgres://user:password@host:port/database?parameters
 * @returns the connection, or its problems as predicates for the variable's name, without values
 */
export function readConnectionString(text: string): ConnectionString | readonly string[] {
  if (!URL.canParse(text)) return ['must be a URL'];
  const url = new URL(text);
  const problems: string[] = [];
  const given = (name: (typeof KNOWN)[number]) => url.searchParams.get(name) || undefined;
  for (const name of new Set(url.searchParams.keys())) {
    if (!KNOWN.some((known) => known === name)) problems.push(`has the parameter ${name}, which is not supported here`);
    if (url.searchParams.getAll(name).length > 1) problems.push(`has the parameter ${name} more than once`);
  }
  const host = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1');
  const sslmode = sslModeOf(given('sslmode'), host);
  if (host === '') problems.push('must name a host');
  if (host.includes(',')) problems.push('must name only one host');
  if (url.username === '') problems.push('must name a user');
  if (sslmode === undefined)
    problems.push(`must set the protection of the connection: sslmode=${SSL_MODES.toReversed().join(', ')}`);
  if ((given('sslcert') === undefined) !== (given('sslkey') === undefined))
    problems.push('must have both sslcert and sslkey, or neither');
  if (problems.length > 0 || sslmode === undefined) return problems;

  const user = decodeURIComponent(url.username);
  return {
    host,
    port: Number(url.port || '5432'),
    user,
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)) || user,
    sslmode,
    sslrootcert: given('sslrootcert'),
    sslcert: given('sslcert'),
    sslkey: given('sslkey'),
    applicationName: given('application_name') ?? 'integration-gateway',
  };
}
