/** The functions of the FHIR slice for subscriptions. edge/workbench.ts passes them in, because no slice imports another. */
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { SubscriptionStatus } from '../../store/subscription.ts';

interface TestNotification {
  /** The `webhook-id`. */
  readonly id: string;
  readonly notification: 'handshake' | 'heartbeat';
  readonly body: string;
  readonly contentType: string;
}

export interface Notifications {
  /** The types with a topic. */
  readonly topicTypes: () => readonly ResourceType[];
  /** Why a search cannot be a filter; undefined if it can. */
  readonly filterProblem: (type: ResourceType, filter: string) => string | undefined;
  /** A notification without events. */
  readonly testNotification: (subscription: {
    readonly id: string;
    readonly type: string;
    readonly status: SubscriptionStatus;
    readonly lastEvent: string;
  }) => TestNotification;
}
