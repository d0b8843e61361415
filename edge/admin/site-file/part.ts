/** A part of a plan, and the comparison of a record with the file. */
import type { Issue } from '../../../shared/fault.ts';
import type { Database } from '../../deps.ts';
import type { GuardedFetching } from '../../http/guarded-fetch.ts';
import type { KeyRecord } from '../../members/api-key.ts';
import { type Members, toMembers } from '../../members/member.ts';
import type { SiteFileWrite } from '../../store/site-apply.ts';
import type { Notifications } from '../subscriptions/notifications.ts';
import type { PlannedItem } from './planned.ts';

export interface PlanOptions {
  /** Disables active API keys that the file does not have. */
  readonly prune: boolean;
  /** The file is of another site or deployment: its ids are ignored, and names find the API keys. */
  readonly copy: boolean;
  /** The most JWKS URIs that one request may load. */
  readonly maxFetches: number;
  readonly maxChanges: number;
  /** The most rows of code tables in a file. */
  readonly maxRows: number;
}

/** Facts of the running gateway for subscriptions: its switch, topics, searches and clock. */
interface Subscribing {
  readonly isOn: boolean;
  readonly notifications: Pick<Notifications, 'topicTypes' | 'filterProblem'>;
  readonly now: () => number;
}

/** `subscribing` is undefined for the command line, which cannot change subscriptions. */
export type PlanDeps = GuardedFetching & { readonly database: Database; readonly subscribing?: Subscribing };

export interface Change {
  readonly item: PlannedItem;
  readonly write: SiteFileWrite;
}

/** A part of the plan with its issues and warnings. */
export interface Part {
  readonly changes: readonly Change[];
  readonly issues: readonly Issue[];
  readonly warnings: readonly string[];
}

/** An API key as it is after the change. */
export interface KeyAfter {
  readonly clientId: string;
  readonly name: string;
  readonly record: Partial<KeyRecord>;
  readonly isNew: boolean;
}

export interface KeysAfter {
  readonly ofId: (clientId: string) => KeyAfter | undefined;
  /** @param name the name of one API key, or a Client ID of the file */
  readonly named: (name: string) => KeyAfter | undefined;
}

export const under = (at: string, issues: readonly Issue[]): Issue[] =>
  issues.map((issue) => ({ ...issue, at: issue.at === undefined || issue.at === '' ? at : `${at}.${issue.at}` }));

/** JSON with the members of each object in the order of their names. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

const isEmpty = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0);

/** The given members that differ from the stored ones. `members` leaves out the empty members of a new record. */
export function differing<Row extends object>(members: Members, stored: object | null, given: Partial<Row>) {
  const after = toMembers(members, given);
  const before = stored === null ? null : toMembers(members, stored);
  const columns: Readonly<Record<string, unknown>> = { ...given };
  const names = Object.keys(members).filter((name) => {
    const column = members[name]?.column ?? '';
    return Object.hasOwn(columns, column) && (before === null || canonical(before[name]) !== canonical(after[name]));
  });
  const record = Object.fromEntries(
    names.map((name) => [members[name]?.column ?? '', columns[members[name]?.column ?? '']]),
  );
  const changed = names.map((member) => ({ member, before: before?.[member] ?? null, after: after[member] ?? null }));
  // Only members of the given record.
  return {
    record: record as Partial<Row>,
    members: before === null ? changed.filter(({ after: value }) => !isEmpty(value)) : changed,
  };
}
