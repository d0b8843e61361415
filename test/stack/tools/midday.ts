/** A time zone in which it is about noon now, so that a site's day does not end in the middle of a case. */

/** An IANA time zone of a fixed offset (`Etc/GMT+5` is five hours behind UTC). @param now ms since the epoch */
export function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours();
  return ahead === 0 ? 'Etc/UTC' : `Etc/GMT${ahead < 0 ? '+' : '-'}${Math.abs(ahead)}`;
}
