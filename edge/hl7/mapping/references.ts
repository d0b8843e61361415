/** References from one resource to another. */
import { isJsonObject, parseJson, printJson, type JsonObject } from '../../../shared/json.ts';

/**
 * Replaces references.
 *
 * @param stays `Type/id` to the `Type/id` that takes its place
 */
export function referringTo(content: JsonObject, stays: ReadonlyMap<string, string>): JsonObject {
  const printed = printJson(content).replaceAll(
    /"([A-Za-z]+\/[0-9a-f-]{36})"/g,
    (_, reference: string) => `"${stays.get(reference) ?? reference}"`,
  );
  const renamed = parseJson(printed);
  return isJsonObject(renamed) ? renamed : content;
}

/** The references of a list of References. */
export const referencesIn = (list: unknown): string[] =>
  (Array.isArray(list) ? list : []).flatMap((item: unknown) =>
    typeof item === 'object' && item !== null && 'reference' in item ? [String(item.reference)] : [],
  );
