/** Reads the events of a notification as a subscriber does (Subscriptions R5 Backport IG 1.1). */

interface Parameter {
  readonly name: string;
  readonly part?: readonly Parameter[];
  readonly valueString?: string;
  readonly valueReference?: { readonly reference: string };
}

export interface NotifiedEvent {
  readonly event: number;
  /** `Patient/[id]/_history/[version]`, without the base. */
  readonly focus: string;
}

/** The events of a notification, or of an answer of `$events`. */
export function eventsIn(bundle: unknown): NotifiedEvent[] {
  const { entry } = bundle as {
    readonly entry: readonly { readonly resource: { readonly parameter: readonly Parameter[] } }[];
  };
  return (entry[0]?.resource.parameter ?? [])
    .filter(({ name }) => name === 'notification-event')
    .map(({ part = [] }) => ({
      event: Number(part.find(({ name }) => name === 'event-number')?.valueString),
      focus: (part.find(({ name }) => name === 'focus')?.valueReference?.reference ?? '').replace(/^.*\/fhir\//, ''),
    }));
}
