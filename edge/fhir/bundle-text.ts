/** A Bundle of answers, as text: its entries are never parsed (FHIR R4 bundle, 2.36). */
import type { JsonObject } from '../../shared/json.ts';

export interface BundleLink {
  readonly relation: string;
  readonly url: string;
}

/** As `join`, which would copy the texts: V8 refers to them until all is sent. */
export const separated = (texts: readonly string[]): string =>
  texts.length === 0 ? '' : texts.reduce((all, text) => `${all},${text}`);

/** A Bundle whose entries are JSON text already. */
export function bundleText(head: JsonObject, links: readonly BundleLink[], entries: readonly string[]): string {
  const members = [
    '"resourceType":"Bundle"',
    ...Object.entries(head).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`),
    ...(links.length === 0 ? [] : [`"link":${JSON.stringify(links)}`]),
    ...(entries.length === 0 ? [] : [`"entry":[${separated(entries)}]`]),
  ];
  return `{${separated(members)}}`;
}
