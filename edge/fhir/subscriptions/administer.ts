/** The part of subscriptions that staff use: the topics, the check of a filter, and a notification without events. */
import { Fault } from '../../../shared/fault.ts';
import { isStored, type ResourceType, typesOn } from '../../../shared/resource-type.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import type { Config } from '../../config.ts';
import type { SubscriptionStatus } from '../../store/subscription.ts';
import { FHIR_JSON } from '../media-type.ts';
import { rootOf } from '../resource-answer.ts';
import { readCriteria } from '../search/request.ts';
import { notificationText } from './notification.ts';

type AdministerConfig = Pick<
  Config,
  'INTEGRATION_FHIR_PUBLIC_BASE_URL' | 'FHIR_SEARCH' | 'FHIR_GROUPS' | 'FHIR_PROVENANCE'
>;

/** The types with a topic. */
export const topicTypes = (config: AdministerConfig): readonly ResourceType[] => typesOn(config).filter(isStored);

/** @param filter a search without its type @returns why it cannot be used, or undefined */
export function filterProblem(
  config: AdministerConfig,
  nowMs: number,
  type: ResourceType,
  filter: string,
): string | undefined {
  try {
    readCriteria(type, filter, { root: rootOf(config), now: nowMs, searches: config.FHIR_SEARCH });
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.issues[0]?.message ?? error.message;
  }
}

/** A handshake or a heartbeat, as the receiver gets it at other times too. */
export function testNotification(
  config: AdministerConfig,
  nowMs: number,
  subscription: {
    readonly id: string;
    readonly type: string;
    readonly status: SubscriptionStatus;
    readonly lastEvent: string;
  },
) {
  const bundleId = uuidv7(nowMs);
  const notification = subscription.status === 'requested' ? 'handshake' : 'heartbeat';
  const notified = { root: rootOf(config), ...subscription, notification, events: [] } as const;
  const body = notificationText(notified, bundleId, new Date(nowMs).toISOString());
  return { id: `${subscription.id}.${bundleId}`, notification, body, contentType: FHIR_JSON } as const;
}
