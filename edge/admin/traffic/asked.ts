/** The queries of a time span and their result, for the page and the JSON API. */
import type { Query } from '../../deps.ts';
import { type KeyTrafficRow, trafficOfKeys } from '../../store/key-traffic.ts';
import { usageOf, type UsageRow } from '../../store/usage.ts';
import { type Traffic, toTraffic } from './charts.ts';
import { MAX_KEYS } from './keys.tsx';
import { comparedOf, endOf, type Span, stepsOf } from './span.ts';

export interface AskedTraffic {
  readonly queries: readonly [Query<UsageRow>, Query<UsageRow>, Query<KeyTrafficRow>];
  readonly made: (rows: readonly UsageRow[], compared: readonly UsageRow[]) => Traffic;
}

/** @param timeZone IANA name: whose days and hours are meant */
export function askTraffic(site: string, span: Span, nowMs: number, timeZone: string): AskedTraffic {
  const times = stepsOf(span, nowMs, timeZone);
  const end = endOf(nowMs);
  const compared = comparedOf(span, nowMs);
  return {
    queries: [
      usageOf(site, times, end),
      usageOf(site, compared.steps, compared.end),
      trafficOfKeys(site, times[0] ?? end, end, MAX_KEYS),
    ],
    made: (rows, before) => toTraffic({ span, times, end }, rows, before),
  };
}
