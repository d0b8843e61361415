/** The data of the charts: usage by step and surface, and the totals of the span compared with the span before. Pure. */
import { USAGE_SURFACES, type UsageOutcome, type UsageRow, type UsageSurface } from '../../store/usage.ts';
import { addUp, percentile } from './latency.ts';
import type { Span } from './span.ts';

export interface Series {
  readonly label: string;
  /** Null for the latency of all surfaces. */
  readonly surface: UsageSurface | null;
  readonly values: readonly (number | null)[];
}

export interface Chart {
  readonly name: 'answered' | 'refused' | 'latency';
  readonly title: string;
  readonly unit: 'requests' | 'ms';
  readonly series: readonly Series[];
}

/** The totals of one or all surfaces in a time span. */
export interface Figures {
  readonly answered: number;
  readonly refused: number;
  readonly failed: number;
  /** Upper bounds in milliseconds (latency.ts). */
  readonly median: number | null;
  readonly p95: number | null;
}

export interface SurfaceFigures extends Figures {
  /** Null for all of them. */
  readonly surface: UsageSurface | null;
  readonly label: string;
  /** Requests of the last two times of the span's length, in whole quarters of an hour. */
  readonly compared: { readonly now: Figures; readonly before: Figures };
}

export interface Traffic {
  readonly span: Span;
  /** Seconds since the epoch: when each step begins. */
  readonly times: readonly number[];
  /** When the last one ends, as far as it is counted. */
  readonly end: number;
  readonly charts: readonly Chart[];
  /** The last one is of all surfaces. */
  readonly figures: readonly SurfaceFigures[];
}

const SURFACE_LABELS: Readonly<Record<UsageSurface, string>> = {
  token: 'Tokens',
  fhir: 'FHIR',
  hl7: 'HL7 over HTTP',
  mllp: 'HL7 over MLLP',
};

/** `{1,2,3}` as PostgreSQL prints an array. */
const parseArray = (literal: string): number[] => literal.slice(1, -1).split(',').map(Number);

const requestsOf = (rows: readonly UsageRow[], outcomes: readonly UsageOutcome[]): number =>
  rows.filter(({ outcome }) => outcomes.includes(outcome)).reduce((sum, { requests }) => sum + requests, 0);

const percentileOf = (rows: readonly UsageRow[], share: number): number | null =>
  percentile(addUp(rows.map(({ latency }) => parseArray(latency))), share);

const figuresOf = (rows: readonly UsageRow[]): Figures => ({
  answered: requestsOf(rows, ['ok']),
  refused: requestsOf(rows, ['refused']),
  failed: requestsOf(rows, ['failed']),
  median: percentileOf(rows, 0.5),
  p95: percentileOf(rows, 0.95),
});

export interface Asked {
  readonly span: Span;
  readonly times: readonly number[];
  readonly end: number;
}

/**
 * @param rows usage in the steps that begin at `times`
 * @param compared usage of the span before and of this span (`comparedOf`)
 */
export function toTraffic(
  { span, times, end }: Asked,
  rows: readonly UsageRow[],
  compared: readonly UsageRow[],
): Traffic {
  const byStep = Map.groupBy(rows, ({ step }) => step);
  const valuesOf = (value: (found: readonly UsageRow[]) => number | null): (number | null)[] =>
    times.map((_, step) => value(byStep.get(step) ?? []));
  const bySurface = (outcomes: readonly UsageOutcome[]): Series[] =>
    USAGE_SURFACES.map((surface) => ({
      label: SURFACE_LABELS[surface],
      surface,
      values: valuesOf((found) =>
        requestsOf(
          found.filter((row) => row.surface === surface),
          outcomes,
        ),
      ),
    }));
  const latencyOf = (label: string, share: number): Series => ({
    label,
    surface: null,
    values: valuesOf((found) => percentileOf(found, share)),
  });

  return {
    span,
    times,
    end,
    charts: [
      { name: 'answered', title: 'Answered', unit: 'requests', series: bySurface(['ok']) },
      { name: 'refused', title: 'Rejected and failed', unit: 'requests', series: bySurface(['refused', 'failed']) },
      {
        name: 'latency',
        title: 'Duration of answers',
        unit: 'ms',
        series: [latencyOf('Median', 0.5), latencyOf('95th percentile', 0.95)],
      },
    ],
    figures: [...USAGE_SURFACES, null].map((surface) => {
      const own = (row: UsageRow) => surface === null || row.surface === surface;
      const [before, now] = [0, 1].map((step) => figuresOf(compared.filter((row) => row.step === step && own(row))));
      return {
        surface,
        label: surface === null ? 'All' : SURFACE_LABELS[surface],
        ...figuresOf(rows.filter(own)),
        compared: { now: now ?? figuresOf([]), before: before ?? figuresOf([]) },
      };
    }),
  };
}
