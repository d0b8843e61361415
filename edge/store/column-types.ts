/**
 * The form in which columns arrive, for all drivers: integers, booleans, `text[]` and `integer[]` are parsed,
 * everything else stays text. A driver's interpretation of a time zone or a float therefore changes no value.
 */

const INTEGER_OIDS = [20, 21, 23];
const BOOLEAN_OID = 16;
const TEXT_ARRAY_OID = 1009;
const INTEGER_ARRAY_OID = 1007;

/** One `text[]` literal; PostgreSQL quotes what needs it. */
function parseTextArray(literal: string): string[] {
  // oxlint-disable-next-line gateway/linear-expression -- PostgreSQL closes each quotation
  const items = literal.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? [];
  return items.map((item) => (item.startsWith('"') ? item.slice(1, -1).replaceAll(/\\(.)/g, '$1') : item));
}

const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  ...INTEGER_OIDS.map((oid) => [oid, Number] as const),
  [BOOLEAN_OID, (text) => text === 't'],
  [TEXT_ARRAY_OID, parseTextArray],
  [INTEGER_ARRAY_OID, (text) => parseTextArray(text).map(Number)],
]);
const asItIs = (text: string): string => text;

/** The `types` option of the Neon driver and of node-postgres. */
export const columnTypes = {
  getTypeParser: (oid: number): ((text: string) => unknown) => PARSERS.get(oid) ?? asItIs,
};
