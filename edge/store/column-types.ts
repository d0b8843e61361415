/**
 * How columns arrive, whichever driver brings them: integers, booleans and `text[]` are parsed, everything else stays
 * text, so that no driver's idea of a time zone or a float comes between.
 */

const INTEGER_OIDS = new Set([20, 21, 23]);
const BOOLEAN_OID = 16;
const TEXT_ARRAY_OID = 1009;

/** One `text[]` literal; PostgreSQL quotes what needs it. */
function parseTextArray(literal: string): string[] {
  const items = literal.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? [];
  return items.map((item) => (item.startsWith('"') ? item.slice(1, -1).replaceAll(/\\(.)/g, '$1') : item));
}

/** The `types` option of the Neon driver and of node-postgres. */
export const columnTypes = {
  getTypeParser:
    (oid: number) =>
    (text: string): unknown => {
      if (INTEGER_OIDS.has(oid)) return Number(text);
      if (oid === BOOLEAN_OID) return text === 't';
      if (oid === TEXT_ARRAY_OID) return parseTextArray(text);
      return text;
    },
};
