/** The changes of resources, member by member: those that a message made, or would make. Pure. */
import { isJsonObject, sortedJson, type Json, type JsonObject } from '../../shared/json.ts';

export interface ElementDifference {
  /** A member of the resource: `name`. */
  readonly element: string;
  /** JSON; null without a value. */
  readonly before: string | null;
  readonly after: string | null;
}

export interface ResourceDifference {
  /** `Observation/…`; a resource that would be created has no id yet. */
  readonly reference: string;
  readonly change: 'created' | 'changed' | 'unchanged';
  readonly elements: readonly ElementDifference[];
}

/** @param before the stored resources, by `Type/id` */
export function differences(
  before: ReadonlyMap<string, JsonObject>,
  after: readonly JsonObject[],
): ResourceDifference[] {
  return after.map((resource): ResourceDifference => {
    const type = textOf(resource['resourceType']);
    const reference = `${type}/${textOf(resource['id'])}`;
    const known = before.get(reference);
    const elements = elementDifferences(known ?? {}, resource);
    if (known === undefined) return { reference: type, change: 'created', elements };
    return { reference, change: elements.length === 0 ? 'unchanged' : 'changed', elements };
  });
}

/** Members that every write changes, and those that identify a resource. */
const LEFT_OUT: ReadonlySet<string> = new Set(['resourceType', 'id', 'meta']);

/** Members that differ between two versions of one resource. */
export function elementDifferences(before: JsonObject, after: JsonObject): ElementDifference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !LEFT_OUT.has(name));
  return names
    .map((element) => ({ element, before: printed(before[element]), after: printed(after[element]) }))
    .filter((each) => each.before !== each.after);
}

const printed = (value: Json | undefined): string | null => (value === undefined ? null : sortedJson(value));

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Resources by `Type/id`. */
export const byReference = (resources: readonly Json[]): ReadonlyMap<string, JsonObject> =>
  new Map(
    resources
      .filter(isJsonObject)
      .map((resource) => [`${textOf(resource['resourceType'])}/${textOf(resource['id'])}`, resource]),
  );
