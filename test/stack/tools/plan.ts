/** PostgreSQL's plan of a site's statement: the indexes it uses, the tables it scans, the number of rows it reads. */
import type { Client } from 'pg';

import type { Query } from '../../../edge/deps.ts';
import { parameter } from '../../../edge/platform/parameter.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Function Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

const rowsRead = (node: PlanNode): number =>
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

type Explained = { 'QUERY PLAN': [{ Plan: PlanNode }] };

/** The plan that is made for these values. */
export const planFor = (client: Client, { text, params }: Query) =>
  client.query<Explained>(`explain (analyze, buffers, format json) ${text}`, params.map(parameter));

/** The plan that a connection keeps for all values, once it has prepared the statement. */
export async function planKept(client: Client, { text, params }: Query) {
  await client.query('set plan_cache_mode = force_generic_plan');
  await client.query(`prepare kept as ${text}`);
  const values = params.map((param) => {
    const value = parameter(param);
    return value === null ? 'null' : client.escapeLiteral(value);
  });
  const call = values.length === 0 ? 'kept' : `kept(${values.join(', ')})`;
  const plan = await client.query<Explained>(`explain (analyze, buffers, format json) execute ${call}`);
  await client.query('deallocate kept; reset plan_cache_mode');
  return plan;
}

/** @param client a connection of the application, so that policies apply; it stays in the site */
export async function explain(client: Client, site: string, query: Query, planned: typeof planFor = planFor) {
  await client.query(`select set_config('gateway.site', $1, false)`, [site]);
  const { rows } = await planned(client, query);
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  if (plan === undefined) throw new Error('no plan');
  const nodes = nodesOf(plan);
  return {
    indexes: nodes.flatMap((node) => node['Index Name'] ?? []),
    /** Tables that are read from end to end. */
    whole: nodes
      .filter((node) => node['Node Type'] === 'Seq Scan' && node['Actual Loops'] > 0)
      .map((node) => node['Relation Name']),
    /** Functions that were called for their rows; an inlined function does not count. */
    functions: nodes.flatMap((node) => node['Function Name'] ?? []),
    /** The most rows that one node looked at. */
    rows: Math.max(...nodes.map(rowsRead)),
    /** How many of a table were looked at. */
    rowsOf: (table: string) =>
      nodes.filter((node) => node['Relation Name'] === table).reduce((sum, node) => sum + rowsRead(node), 0),
    pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
  };
}
