/** What a field of a message says about an element, before it is known whether a later statement has said more. */
import type { Json, JsonObject } from '../../../shared/json.ts';

/** What one field says about one element. `null` deletes it (HL7 v2.5.1 §2.5.3). */
export interface Contribution {
  /** `PID-5`. */
  readonly field: string;
  readonly element: string;
  readonly value: Json;
  readonly owns?: ((item: JsonObject) => boolean) | undefined;
  /** Items are added to a stored list instead of replacing it: the results of a report come in several messages. */
  readonly adds?: boolean;
  readonly keeps?: boolean;
  /** What holds until somebody says otherwise: it does not take the place of what is stored. */
  readonly isDefault?: boolean;
}

/** A value for an element that has none. */
export function byDefault(element: string, value: Json): Contribution {
  return { field: '', element, value, isDefault: true };
}

/** A contribution that no single field makes. */
export function fixed(element: string, value: Json, field = ''): Contribution {
  return { field, element, value };
}
