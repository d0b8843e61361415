/** The time spans of the charts and their steps. Days and hours are by the site's clock. */
import { minutesEastOf } from '../../../shared/hl7/zone.ts';
import { readInstant, knownZone, wallTime } from '../web/wall-clock.ts';

export const SPANS = {
  '1h': { title: '1 hour', before: 'the hour before', seconds: 3600, step: 'quarter' },
  '24h': { title: '24 hours', before: 'the 24 hours before', seconds: 24 * 3600, step: 'quarter' },
  '7d': { title: '7 days', before: 'the 7 days before', seconds: 7 * 86_400, step: 'hour' },
  '30d': { title: '30 days', before: 'the 30 days before', seconds: 30 * 86_400, step: 'day' },
} as const;
export type Span = keyof typeof SPANS;
export const SPAN_NAMES = ['1h', '24h', '7d', '30d'] as const satisfies readonly Span[];

/** Requests are counted in quarters of an hour (store/usage.ts). */
const QUARTER_SECONDS = 900;
const HOUR_SECONDS = 3600;
const DAY_MS = 86_400_000;

/** When each step begins, in seconds since the epoch, the oldest first; in the last one is now. */
export function stepsOf(span: Span, nowMs: number, timeZone: string): readonly number[] {
  const { seconds, step } = SPANS[span];
  const now = Math.floor(nowMs / 1000);
  const regular = (stepSeconds: number, shiftSeconds: number): number[] => {
    const last = Math.floor((now + shiftSeconds) / stepSeconds) * stepSeconds - shiftSeconds;
    const steps = seconds / stepSeconds;
    return Array.from({ length: steps }, (_, at) => last - (steps - 1 - at) * stepSeconds);
  };
  if (step === 'quarter') return regular(QUARTER_SECONDS, 0);
  if (step === 'hour') return regular(HOUR_SECONDS, minutesEastOf(nowMs, knownZone(timeZone)) * 60);
  // A day has 23 hours, or 25, where clocks change: each begins at its own midnight.
  const today = Date.parse(wallTime(new Date(nowMs).toISOString(), timeZone).day);
  const days = (seconds * 1000) / DAY_MS;
  return Array.from({ length: days }, (_, at) => {
    const day = new Date(today - (days - 1 - at) * DAY_MS).toISOString().slice(0, 10);
    return Date.parse(readInstant(`${day}T00:00`, timeZone)) / 1000;
  });
}

/** When the quarter of an hour ends that is now. */
export const endOf = (nowMs: number): number => (Math.floor(nowMs / 1000 / QUARTER_SECONDS) + 1) * QUARTER_SECONDS;

/**
 * Two spans, one after the other, up to the last complete quarter of an hour: an incomplete one would always be less than
 * before.
 */
export function comparedOf(span: Span, nowMs: number): { readonly steps: readonly number[]; readonly end: number } {
  const { seconds } = SPANS[span];
  const end = endOf(nowMs) - QUARTER_SECONDS;
  return { steps: [end - 2 * seconds, end - seconds], end };
}
