/**
 * References between the entries of a transaction (FHIR R4 http, 3.1.0.11.2), in all elements in which R4 replaces links. They
 * use a `fullUrl`, most often a `urn:uuid:`, or a condition, `Patient?identifier=…`.
 */
import { Fault } from '../../../shared/fault.ts';
import type { JsonObject } from '../../../shared/json.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { isResourceType, unsupportedType } from '../../../shared/resource-type.ts';
import type { Condition } from '../../store/transaction.ts';
import type { RequestContext } from '../interaction.ts';
import { type FoundBy, readCondition } from '../conditions.ts';
import { mapStrings } from '../strings.ts';
import type { Entry } from './entries.ts';

/** Elements of type uri, url, uuid or oid that may link to an entry, and Reference.reference. */
const LINKS = new Set(['reference', 'url', 'uri', 'valueUri', 'valueUrl', 'valueUuid', 'valueOid', 'instantiatesUri']);
/** `<a href>` and `<img src>` in narrative. */
const NARRATIVE_LINK = /\b(href|src)="([^"]*)"/g;
const CONDITIONAL = /^([A-Za-z]+)\?(.+)$/s;
/** A RESTful URL, the base of the entry's relative references. */
const RESTFUL = /^(https?:\/\/.*)\/[A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64}$/;

export interface ReferenceCondition extends Condition, FoundBy {
  /** The text after the `?`. */
  readonly query: string;
  /** The first entry with the reference. */
  readonly at: string;
}

export interface Settler {
  /** `isLinked`: a link to an entry was replaced. */
  settle(entry: Entry, resource: JsonObject): { readonly settled: JsonObject; readonly isLinked: boolean };
  /** The conditional references found so far. */
  readonly conditions: readonly ReferenceCondition[];
}

/** @param targets the relative reference to the entry's resource, by `fullUrl` */
export function createSettler(context: RequestContext, targets: ReadonlyMap<string, string>): Settler {
  const byText = new Map<string, ReferenceCondition>();
  let linked = false;

  const conditional = (entry: Entry, text: string, type: string, query: string): string => {
    if (!isResourceType(type) || !context.types.includes(type)) {
      const message = `a conditional reference can only be to a resource type of this server; ${unsupportedType(type, context.types)}`;
      throw new Fault('invalid', message, { code: 'not-supported' });
    }
    const known = byText.get(text) ?? {
      kind: 'reference',
      type,
      ...readCondition(context, 'reference', type, query),
      placeholder: uuidv7(context.now),
      required: null,
      local: [],
      query,
      at: entry.at,
    };
    byText.set(text, known);
    return `${type}/${known.placeholder}`;
  };

  const link = (entry: Entry, text: string): string => {
    const base = RESTFUL.exec(entry.fullUrl ?? '')?.[1];
    const target = targets.get(text) ?? (base === undefined ? undefined : targets.get(`${base}/${text}`));
    linked ||= target !== undefined;
    return target ?? text;
  };

  return {
    settle: (entry, resource) => {
      linked = false;
      const settled = mapStrings(resource, (member, text) => {
        if (member === 'div') {
          return text.replace(NARRATIVE_LINK, (_, name: string, url: string) => `${name}="${link(entry, url)}"`);
        }
        if (!LINKS.has(member)) return text;
        const match = member === 'reference' ? CONDITIONAL.exec(text) : null;
        if (match === null) return link(entry, text);
        const [, type = '', query = ''] = match;
        return conditional(entry, text, type, query);
      });
      return { settled, isLinked: linked };
    },
    get conditions() {
      return [...byText.values()];
    },
  };
}
