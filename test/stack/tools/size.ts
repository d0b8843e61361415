/**
 * In which size cases run. `npm test` and `npm run test:long` run their small form; `npm run test:full` runs the same cases with
 * more rows, rounds and inputs. Only this file reads how it was asked.
 */
export const isFull = process.env['TEST_SIZE'] === 'full';

/** One of two sizes of the same case. */
export const sized = <Size>(small: Size, full: Size): Size => (isFull ? full : small);

/** Every n-th of many cases that differ in their data alone; at full size all. */
export const everyNth = <Case>(n: number, cases: readonly Case[]): readonly Case[] =>
  sized(
    cases.filter((_, at) => at % n === 0),
    cases,
  );

/** `TEST_PART=0.1`: a tenth of the longest cases of the full size. */
const part = Number(process.env['TEST_PART'] ?? 1);

/** The number of the longest cases, which the full size may run in part. */
export const partOf = (full: number): number => Math.max(1, Math.round(full * part));

/** How many inputs a property is tried with: at full size 100,000. */
export const inputs = (small: number): number => sized(small, 100_000);

const asked = process.env['TEST_SEED'];

/** The seed of the inputs of properties; undefined: new inputs in each run. */
export const seed: number | undefined =
  asked === undefined ? sized<number | undefined>(20_261_122, undefined) : Number(asked);
