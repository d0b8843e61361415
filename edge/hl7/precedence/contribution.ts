/** The value that one field of a message gives to one element, before precedence decides whether it counts. */
import type { Json, JsonObject } from '../../../shared/json.ts';

/** `null` deletes the element (HL7 v2.5.1 §2.5.3). */
export interface Contribution {
  /** `PID-5`; several, such as `OBX-5 OBX-6`, only for an element that is not a patient's list. */
  readonly field: string;
  readonly element: string;
  readonly value: Json;
  readonly owns?: ((item: JsonObject) => boolean) | undefined;
  /** Items are added to a stored list instead of replacing it: the results of a report arrive in several messages. */
  readonly adds?: boolean;
  readonly keeps?: boolean;
  /** Any other statement replaces it, and it replaces none. */
  readonly isDefault?: boolean;
}

/** A value for an element that has none. */
export function byDefault(element: string, value: Json): Contribution {
  return { field: '', element, value, isDefault: true };
}

/** A contribution that no field makes alone. */
export function fixed(element: string, value: Json, field = ''): Contribution {
  return { field, element, value };
}

export const IN_ERROR: readonly Contribution[] = [fixed('status', 'entered-in-error'), fixed('_status', null)];
