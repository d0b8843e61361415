/** Where it is about noon now: for what counts a site's today, which at midnight would be yesterday's in the middle of a case. */

/** An IANA time zone of a fixed offset (`Etc/GMT+5` is five hours behind UTC). @param now ms since the epoch */
export function zoneAtNoon(now = Date.now()): string {
  const ahead = 12 - new Date(now).getUTCHours();
  return ahead === 0 ? 'Etc/UTC' : `Etc/GMT${ahead < 0 ? '+' : '-'}${Math.abs(ahead)}`;
}
