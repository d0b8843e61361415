/** What the charts show: usage in steps without gaps, counts by surface and latency by percentile. Pure. */
import { LATENCY_BOUNDS_MS, USAGE_SPANS, type UsageRow, type UsageSpan } from '../../store/usage.ts';

export interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

export interface Chart {
  readonly title: string;
  readonly unit: 'requests' | 'ms';
  readonly series: readonly Series[];
}

export interface Charts {
  readonly span: UsageSpan;
  /** Seconds since the epoch, one for each step. */
  readonly times: readonly number[];
  readonly charts: readonly Chart[];
}

const SURFACE_LABELS = { token: 'Tokens', fhir: 'FHIR', hl7: 'HL7 over HTTP', mllp: 'HL7 over MLLP' } as const;
type Surface = keyof typeof SURFACE_LABELS;
const isSurface = (value: string): value is Surface => Object.hasOwn(SURFACE_LABELS, value);

/** `{1,2,3}` as PostgreSQL prints an array. */
const parseArray = (literal: string): number[] => literal.slice(1, -1).split(',').map(Number);

/**
 * A percentile of a histogram, in milliseconds, as the upper bound of the bucket it falls into; null without requests.
 */
export function percentile(histogram: readonly number[], share: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let below = 0;
  const at = histogram.findIndex((count) => (below += count) >= total * share);
  return LATENCY_BOUNDS_MS[at] ?? LATENCY_BOUNDS_MS.at(-1) ?? null;
}

const addUp = (histograms: readonly (readonly number[])[]): number[] =>
  Array.from({ length: LATENCY_BOUNDS_MS.length + 1 }, (_, i) =>
    histograms.reduce((sum, histogram) => sum + (histogram[i] ?? 0), 0),
  );

export function toCharts(rows: readonly UsageRow[], span: UsageSpan, nowMs: number): Charts {
  const { seconds, stepSeconds } = USAGE_SPANS[span];
  const last = Math.floor(nowMs / 1000 / stepSeconds) * stepSeconds;
  const steps = seconds / stepSeconds;
  const times = Array.from({ length: steps }, (_, step) => last - (steps - 1 - step) * stepSeconds);

  const byStep = Map.groupBy(rows, ({ bucket }) => bucket);
  const count = (time: number, matches: (row: UsageRow) => boolean): number =>
    (byStep.get(time) ?? []).filter(matches).reduce((sum, { requests }) => sum + requests, 0);
  const latency = (time: number, share: number): number | null =>
    percentile(addUp((byStep.get(time) ?? []).map((row) => parseArray(row.latency))), share);

  const surfaces = Object.keys(SURFACE_LABELS).filter(isSurface);
  const bySurface = (outcomes: readonly string[]): Series[] =>
    surfaces.map((surface) => ({
      label: SURFACE_LABELS[surface],
      values: times.map((time) => count(time, (row) => row.surface === surface && outcomes.includes(row.outcome))),
    }));
  return {
    span,
    times,
    charts: [
      { title: 'Answered requests', unit: 'requests', series: bySurface(['ok']) },
      { title: 'Refused and failed requests', unit: 'requests', series: bySurface(['refused', 'failed']) },
      {
        title: 'Latency',
        unit: 'ms',
        series: [
          { label: 'Median', values: times.map((time) => latency(time, 0.5)) },
          { label: '95th percentile', values: times.map((time) => latency(time, 0.95)) },
        ],
      },
    ],
  };
}
