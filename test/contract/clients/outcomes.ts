/**
 * The outcome of each call that a client library offers: it works, or the gateway refuses it for a reason in the table of
 * refusals. A call has the library's name for it, and after a space its purpose if that matters.
 */
import { AssertionError } from 'node:assert';

import { expect } from 'vitest';

import { type ClientName, REFUSALS } from './refusals.ts';

/** A refusal as the library shows it: its status, where it keeps that, and the text that a developer reads. */
export interface Refused {
  readonly status: number | null;
  readonly text: string;
}

/** By name of the call; null: it worked. */
export type Outcomes = Readonly<Record<string, Refused | null>>;

/** The report of a library's program, and the names of all its methods. */
export interface CallReport {
  readonly outcomes: Outcomes;
  readonly methods: readonly string[];
}

const WORKS = 'works';

/** The matching row of the table, else the refusal itself. */
function rowOf({ status, text }: Refused): string {
  const row = REFUSALS.find((each) => (status === null || each.status === status) && each.says.test(text));
  return row?.what ?? `${status} ${text}`;
}

/**
 * Expects the outcome that the table of refusals lists for each call. Each method of the library is in the outcomes, or in the
 * list of methods that send no request.
 */
export function expectOutcomes(
  client: ClientName,
  { outcomes, methods }: CallReport,
  asksNothing: readonly string[],
): void {
  const expected = new Map(Object.keys(outcomes).map((call) => [call, WORKS]));
  for (const { what, calls } of REFUSALS) for (const call of calls[client] ?? []) expected.set(call, what);
  const actual = Object.entries(outcomes).map(([call, refused]) => [call, refused === null ? WORKS : rowOf(refused)]);
  expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(expected));
  const tried = new Set(Object.keys(outcomes).map((call) => call.split(' ')[0]));
  expect(methods.filter((name) => !tried.has(name) && !asksNothing.includes(name))).toEqual([]);
}

/** @param refusedOf converts an error of the library to a refusal; undefined for other errors */
export async function outcomesOf(
  calls: Readonly<Record<string, () => unknown>>,
  refusedOf: (error: unknown) => Refused | undefined,
): Promise<Outcomes> {
  const outcomes: Record<string, Refused | null> = {};
  for (const [call, run] of Object.entries(calls)) {
    try {
      await run();
      outcomes[call] = null;
    } catch (error) {
      const refused = error instanceof AssertionError ? undefined : refusedOf(error);
      if (refused === undefined) throw error;
      outcomes[call] = refused;
    }
  }
  return outcomes;
}

/** Names in a text, one after the other. */
export const namesIn = (text: string): string[] => text.trim().split(/\s+/);

/** The public methods of an object and of what it extends. */
export function methodsOf(prototype: object): string[] {
  const parent: unknown = Object.getPrototypeOf(prototype);
  if (parent === null || typeof parent !== 'object') return [];
  const own = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor' && !name.startsWith('_'));
  return [...new Set([...own, ...methodsOf(parent)])];
}
