/** The history of a record: which members each change set, before and after. */
import type { ChangeRow } from '../../store/change.ts';
import * as z from 'zod';

import { type Members, toMembers } from '../../members/member.ts';

export const changeItem = z.object({
  version: z.number().int(),
  at: z.iso.datetime(),
  by: z.string(),
  changed: z.array(z.string()).meta({ description: 'The members whose values differ.' }),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()),
});
export type Change = z.infer<typeof changeItem>;

/** Converts a row of the history to an item of the answer. */
export function viewChange(members: Members, { version, at, by, before, after }: ChangeRow): Change {
  const old = before === null ? null : toMembers(members, JSON.parse(before));
  const current = toMembers(members, JSON.parse(after));
  const changed = Object.keys(current).filter(
    (name) => JSON.stringify(old?.[name] ?? null) !== JSON.stringify(current[name] ?? null),
  );
  return { version, at, by, changed, before: old, after: current };
}
