/** A run of the whole chain, as it is written down: every figure of every round. All that is told of it is made of this. */
import * as z from 'zod';

/** By what workerd, Node and PostgreSQL allow the gateway is told. */
export const LIMITS = {
  node: 'Node, a constant answer',
  hello: 'workerd, a constant answer',
  bare: 'workerd, token, one subrequest',
  pointRead: 'PostgreSQL, a point read',
} as const;

export const GROUPS = ['limit', 'workerd', 'Deno'] as const;

const measured = z.object({
  answers: z.number(),
  perSecond: z.number(),
  p50Ms: z.number(),
  p95Ms: z.number(),
  p99Ms: z.number(),
  failed: z.number(),
  statuses: z.record(z.string(), z.number()),
  cpuMicros: z.record(z.string(), z.number()),
  databaseRequests: z.number().optional(),
  generatorBusy: z.number(),
  othersBusy: z.number(),
});

const row = z.object({
  group: z.enum(GROUPS),
  what: z.string(),
  connections: z.number(),
  rounds: z.array(measured),
});

export const machine = z.object({ processor: z.string(), cores: z.number(), memoryGb: z.number(), kernel: z.string() });

export const run = z.object({
  /** When it began. */
  at: z.iso.datetime(),
  /** Which commit was measured; undefined where the working tree was not that of a commit. */
  commit: z.string().optional(),
  machine,
  versions: z.record(z.string(), z.string()),
  rows: z.array(row),
});

export type Row = z.infer<typeof row>;
export type Run = z.infer<typeof run>;

/** A row's name in tables and in the history. */
export const nameOf = ({ group, what, connections }: Pick<Row, 'group' | 'what' | 'connections'>): string =>
  `${group}: ${what}, ${connections} connection${connections === 1 ? '' : 's'}`;

/** What a row of the same run and as many connections says of a limit. */
export function limitOf({ rows }: Run, limit: keyof typeof LIMITS, connections: number): Row {
  const found = rows.find((other) => other.what === LIMITS[limit] && other.connections === connections);
  if (found === undefined) throw new Error(`the run has no ${LIMITS[limit]} with ${connections} connections`);
  return found;
}

/** How many answers were not the expected ones. */
export const failuresOf = ({ rows }: Pick<Run, 'rows'>): number =>
  rows.reduce((sum, { rounds }) => sum + rounds.reduce((of, { failed }) => of + failed, 0), 0);
