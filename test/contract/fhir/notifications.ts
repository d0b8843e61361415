/** Reads the events of a notification as a subscriber does (Subscriptions R5 Backport IG 1.1). */

interface Parameter {
  readonly name: string;
  readonly part?: readonly Parameter[];
  readonly valueString?: string;
  readonly valueInstant?: string;
  readonly valueReference?: { readonly reference: string };
}

export interface NotifiedEvent {
  readonly event: number;
  /** `Patient/[id]/_history/[version]`, without the base. */
  readonly focus: string;
}

/** The parts of each event, by name. */
function partsIn(bundle: unknown): ReadonlyMap<string, Parameter>[] {
  const { entry } = bundle as {
    readonly entry: readonly { readonly resource: { readonly parameter: readonly Parameter[] } }[];
  };
  return (entry[0]?.resource.parameter ?? [])
    .filter(({ name }) => name === 'notification-event')
    .map(({ part = [] }) => new Map(part.map((one) => [one.name, one])));
}

/** The events of a notification, or of an answer of `$events`. */
export const eventsIn = (bundle: unknown): NotifiedEvent[] =>
  partsIn(bundle).map((parts) => ({
    event: Number(parts.get('event-number')?.valueString),
    focus: (parts.get('focus')?.valueReference?.reference ?? '').replace(/^.*\/fhir\//, ''),
  }));

/** The time of each event's version, in milliseconds since the epoch. */
export const eventTimesIn = (bundle: unknown) =>
  partsIn(bundle).map((parts) => ({
    event: parts.get('event-number')?.valueString ?? '',
    time: Date.parse(parts.get('timestamp')?.valueInstant ?? ''),
  }));
