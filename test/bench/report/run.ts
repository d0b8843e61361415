/** A run of the complete chain as a JSON file: every figure of every round. All reports are made from it. */
import * as z from 'zod';

/** The limits of workerd, Node and PostgreSQL, with which the gateway is compared. */
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
  /** The start of the run. */
  at: z.iso.datetime(),
  /** The measured commit; undefined if the working tree had changes. */
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

/** The row of a limit in the same run, with the same number of connections. */
export function limitOf({ rows }: Run, limit: keyof typeof LIMITS, connections: number): Row {
  const found = rows.find((other) => other.what === LIMITS[limit] && other.connections === connections);
  if (found === undefined) throw new Error(`the run has no ${LIMITS[limit]} with ${connections} connections`);
  return found;
}

/** The number of unexpected answers. */
export const failuresOf = ({ rows }: Pick<Run, 'rows'>): number =>
  rows.reduce((sum, { rounds }) => sum + rounds.reduce((of, { failed }) => of + failed, 0), 0);
