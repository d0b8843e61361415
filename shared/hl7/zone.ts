/**
 * The offset from UTC of a local time in an IANA time zone. If the clock shows a time twice, the first is meant; if it skips
 * a time, the offset before the change applies.
 */

export interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * @param timeZone IANA name
 * @returns `+02:00`; an offset with seconds (local mean time before standard time) is cut to whole minutes
 * @throws RangeError for a name that the runtime does not know; settings are checked with `isTimeZone` when saved
 */
export function offsetInZone(time: WallTime, timeZone: string): string {
  const [first] = offsetsInZone(time, timeZone);
  return first;
}

/** The results of a message have few times, and the runtime needs 50 µs for each. */
const KNOWN = new Map<string, readonly [string, ...string[]]>();
const MAX_KNOWN = 500;

/** Like `offsetInZone`, but returns both offsets of a time that occurs twice, the earlier instant first. */
export function offsetsInZone(time: WallTime, timeZone: string): readonly [string, ...string[]] {
  const local = new Date(0);
  local.setUTCFullYear(time.year, time.month - 1, time.day);
  local.setUTCHours(time.hour, time.minute, time.second);
  const wall = local.getTime();
  const key = `${wall} ${timeZone}`;
  const known = KNOWN.get(key);
  if (known !== undefined) return known;

  // The offsets on both sides of a possible change: two changes are never less than two days apart.
  const before = minutesEastOf(wall - DAY_MS, timeZone);
  const after = minutesEastOf(wall + DAY_MS, timeZone);
  const [valid = before, ...more] = [...new Set([before, after])].filter(
    (offset) => minutesEastOf(wall - offset * MINUTE_MS, timeZone) === offset,
  );
  const offsets = [written(valid), ...more.map(written)] as const;
  if (KNOWN.size === MAX_KNOWN) KNOWN.clear();
  KNOWN.set(key, offsets);
  return offsets;
}

export function isTimeZone(name: string): boolean {
  try {
    return formatOf(name) !== undefined;
  } catch {
    return false;
  }
}

/** The minutes east of UTC in a zone at an instant. @throws RangeError like `offsetInZone` */
export function minutesEastOf(instantMs: number, timeZone: string): number {
  const name = formatOf(timeZone)
    .formatToParts(instantMs)
    .find(({ type }) => type === 'timeZoneName')?.value;
  const [, sign, hours = 0, minutes = 0] = /([+-])(\d{2}):(\d{2})/.exec(name ?? '') ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  formats.set(timeZone, format);
  return format;
}

function written(offset: number): string {
  const minutes = Math.abs(offset);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
}
