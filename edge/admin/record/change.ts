/** What was changed in a record, from the rows of its history. */
import type { ChangeRow } from '../../store/change.ts';
import * as z from 'zod';

import { type Members, toMembers } from './member.ts';

/** The schema of a change as it is answered. */
export const changeItem = z.object({
  version: z.number().int(),
  at: z.iso.datetime(),
  by: z.string(),
  changed: z.array(z.string()).meta({ description: 'The members that differ.' }),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()),
});
export type Change = z.infer<typeof changeItem>;

/** One change: who, when, and the members that differ, before and after. */
export function viewChange(members: Members, { version, at, by, before, after }: ChangeRow): Change {
  const old = before === null ? null : toMembers(members, JSON.parse(before));
  const current = toMembers(members, JSON.parse(after));
  const changed = Object.keys(current).filter(
    (name) => JSON.stringify(old?.[name] ?? null) !== JSON.stringify(current[name] ?? null),
  );
  return { version, at, by, changed, before: old, after: current };
}
