/** Names as sent, one on each line, for `:exact` (FHIR R4 search, 3.1.1.4.6: case and accents matter). */
import type { NameParts } from '../rows.ts';

export type NameMarker = 'T' | 'F' | 'G';

/** A name on one line. */
export const exactLine = (name: string): string => name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

/** Lines with a line break before and after each; `''` without one. */
export const asLines = (lines: readonly string[]): string => (lines.length === 0 ? '' : `\n${lines.join('\n')}\n`);

/** True where one of the texts, families or given names is exactly this line. @param marker null: any of them */
export function hasExactName(parts: NameParts | null, marker: NameMarker | null, line: string): boolean {
  const markers: readonly NameMarker[] = marker === null ? ['T', 'F', 'G'] : [marker];
  return markers.some((one) => parts?.exact.includes(`\n${one}${line}\n`) === true);
}
