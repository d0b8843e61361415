/** The beginning of a connection string. From other text, PostgreSQL's driver would use a host that the text does not name. */
export const POSTGRES_URL = /^postgres(ql)?:\/\//;

export const isNeonUrl = (url: string): boolean => URL.canParse(url) && new URL(url).hostname.endsWith('.neon.tech');

/**
 * The connection string for the driver `pg`, in which `sslmode` means the same as in psql. The driver would verify the name of
 * the server in each mode, and print a warning. Neon has a public certificate, which is still verified.
 */
export function driverUrl(url: string): string {
  const mode = /([?&]sslmode=)(?:require|verify-ca)(?=&|$)/;
  if (!mode.test(url)) return url;
  return isNeonUrl(url) ? url.replace(mode, '$1verify-full') : `${url}&uselibpqcompat=true`;
}
