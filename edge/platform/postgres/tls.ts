/** The TLS options for `sslmode` and its companions (PostgreSQL manual §32.19.1, Client Verification of Server Certificates). */
import type { ConnectionOptions } from 'node:tls';

import type { ConnectionString } from './connection-string.ts';

/**
 * Options of the connection; false means without TLS.
 *
 * @param read returns a file's text
 */
export function tlsOptions(
  { sslmode, sslrootcert, sslcert, sslkey }: ConnectionString,
  read: (path: string) => string,
): ConnectionOptions | false {
  if (sslmode === 'disable') return false;
  const options: ConnectionOptions = { minVersion: 'TLSv1.2' };
  if (sslrootcert !== undefined) options.ca = read(sslrootcert);
  if (sslcert !== undefined && sslkey !== undefined) {
    options.cert = read(sslcert);
    options.key = read(sslkey);
  }
  // As in libpq, a configured authority is verified even if only encryption is required.
  options.rejectUnauthorized = sslmode !== 'require' || sslrootcert !== undefined;
  if (sslmode !== 'verify-full') options.checkServerIdentity = () => undefined;
  return options;
}
