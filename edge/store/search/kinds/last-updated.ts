/** `_lastUpdated` (FHIR R4 search, 3.1.1.4.2). */
import { type Bind, instantOf } from '../../sql.ts';
import { msOf } from '../date-range.ts';
import type { Interval, Kind } from '../kind.ts';
import { RESOURCE } from '../source.ts';

interface LastUpdatedCriterion {
  readonly kind: 'last-updated';
  readonly any: readonly Interval[];
}

function intervalSql(column: string, { from, before, outside }: Interval, bind: Bind): string {
  const lower = from === null ? [] : [`${column} ${outside ? '<' : '>='} ${bind(from)}::timestamptz`];
  const upper = before === null ? [] : [`${column} ${outside ? '>=' : '<'} ${bind(before)}::timestamptz`];
  return `(${[...lower, ...upper].join(outside ? ' or ' : ' and ')})`;
}

export const lastUpdated = {
  type: 'date',
  read: ({ dates }) => {
    const given = dates();
    const any = given.flatMap(({ interval }) => interval ?? []);
    if (any.length === given.length) return { kind: 'last-updated', any };
    return { problem: 'must be a date or dateTime such as ge2026-01-31T12:00:00Z' };
  },
  // A write has no instant yet.
  meets: ({ lastUpdated }, { any }) =>
    lastUpdated !== undefined &&
    any.some(({ from, before, outside }) => {
      const at = Date.parse(lastUpdated);
      return (at >= msOf(from ?? '-infinity') && at < msOf(before ?? 'infinity')) !== outside;
    }),
  rank: 9,
  planAnew: true,
  source: () => RESOURCE,
  sql: ({ any }, alias, { bind }) =>
    `(${any.map((interval) => intervalSql(`${alias}.last_updated`, interval, bind)).join(' or ')})`,
  sort: { source: RESOURCE, column: 'last_updated', text: (column) => instantOf(column), cast: 'timestamptz' },
} as const satisfies Kind<LastUpdatedCriterion>;
