/**
 * A connection string as PostgreSQL's own programs read it (PostgreSQL manual §32.1.1.2, Connection URIs), with the modes of
 * TLS that protect something. Whatever is in it and not understood is refused, since a word that is ignored may be the one
 * that was to protect.
 */

/** Clear text; encrypted to whoever answers; to who shows a certificate of the authority; of that and of this host. */
export type SslMode = 'disable' | 'require' | 'verify-ca' | 'verify-full';
const SSL_MODES: readonly string[] = ['disable', 'require', 'verify-ca', 'verify-full'] satisfies SslMode[];
const isSslMode = (text: string): text is SslMode => SSL_MODES.includes(text);

export interface ConnectionString {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly sslmode: SslMode;
  /** A file of certificate authorities, PEM; undefined: those that the runtime trusts. */
  readonly sslrootcert: string | undefined;
  /** Files of the client's own certificate and key, PEM. */
  readonly sslcert: string | undefined;
  readonly sslkey: string | undefined;
  readonly applicationName: string;
}

const KNOWN = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'application_name'] as const;

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);

/**
 * Without `sslmode` this machine is spoken to in clear text and no other: who wants that has to say `disable`. libpq's `allow`
 * and `prefer` go on in clear text where somebody in between wants it.
 */
function sslModeOf(given: string | undefined, host: string): SslMode | undefined {
  if (given === undefined) return isLoopback(host) ? 'disable' : undefined;
  return isSslMode(given) ? given : undefined;
}

/**
 * @param text postgres://user:password@host:port/database?parameters
 * @returns the problems, each a sentence's end behind the variable's name and never with a value, where there are any
 */
export function readConnectionString(text: string): ConnectionString | readonly string[] {
  if (!URL.canParse(text)) return ['is not a URL'];
  const url = new URL(text);
  const problems: string[] = [];
  const given = (name: (typeof KNOWN)[number]) => url.searchParams.get(name) || undefined;
  for (const name of new Set(url.searchParams.keys())) {
    if (!KNOWN.some((known) => known === name)) problems.push(`has the parameter ${name}, which is not supported here`);
    if (url.searchParams.getAll(name).length > 1) problems.push(`has the parameter ${name} more than once`);
  }
  const host = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1');
  const sslmode = sslModeOf(given('sslmode'), host);
  if (host === '') problems.push('names no host');
  if (host.includes(',')) problems.push('names several hosts');
  if (url.username === '') problems.push('names no user');
  if (sslmode === undefined)
    problems.push(`must say how the connection is protected: sslmode=${SSL_MODES.toReversed().join(', ')}`);
  if ((given('sslcert') === undefined) !== (given('sslkey') === undefined))
    problems.push('needs both sslcert and sslkey, or none of them');
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
