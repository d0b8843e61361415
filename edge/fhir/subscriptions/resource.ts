/** A Subscription of FHIR R4 (Subscriptions R5 Backport IG 1.1): what the gateway accepts, and how it shows one. */
import * as z from 'zod';

import { Fault, type Issue } from '../../../shared/fault.ts';
import { type Json, type JsonObject } from '../../../shared/json.ts';
import { isStored, type ResourceType } from '../../../shared/resource-type.ts';
import type { Config } from '../../config.ts';
import { checkForeignUrl, type GuardedFetching } from '../../http/guarded-fetch.ts';
import {
  MAX_RECEIVER_HEADERS,
  RECEIVER_HEADERS,
  readReceiverHeaders,
  type ReceiverHeaders,
} from '../../http/receiver-headers.ts';
import {
  MAX_EVENTS,
  MAX_HEARTBEAT_SECONDS,
  MAX_SUBSCRIPTION_TEXT,
  MIN_HEARTBEAT_SECONDS,
  PAYLOADS,
  SUBSCRIPTION_STATUSES,
  type SubscriptionRecord,
  type SubscriptionRow,
} from '../../store/subscription.ts';
import type { RequestContext } from '../interaction.ts';
import { FHIR_JSON } from '../media-type.ts';
import { readCriteria } from '../search/request.ts';
import { readInstant } from '../prefixed-date.ts';
import { BACKPORT, topicUrl } from './notification.ts';

const PROFILE = `${BACKPORT}/backport-subscription`;
const FILTER = `${BACKPORT}/backport-filter-criteria`;
const HEARTBEAT = `${BACKPORT}/backport-heartbeat-period`;
const MAX_COUNT = `${BACKPORT}/backport-max-count`;
const CONTENT = `${BACKPORT}/backport-payload-content`;

/** The gateway's own extensions. @param root our own `{base}/fhir` */
const startUrl = (root: string): string => `${root}/StructureDefinition/subscription-start`;
const secretUrl = (root: string): string => `${root}/StructureDefinition/subscription-secret`;

const extension = <Value extends z.ZodRawShape>(url: string, value: Value) =>
  z.strictObject({ url: z.literal(url), ...value });
/** At most one of each URL. */
const extensions = <Schema extends z.ZodType>(item: Schema) => z.array(item).max(8).optional();

const schemaOf = (root: string) =>
  z.strictObject({
    resourceType: z.literal('Subscription'),
    id: z.string().optional(),
    meta: z.unknown().optional(),
    extension: extensions(
      z.union([
        extension(startUrl(root), { valueInstant: z.string().max(40) }),
        // The answer to a write has it. It is ignored, so that a client can send back what it got.
        extension(secretUrl(root), { valueString: z.string() }),
      ]),
    ),
    status: z.enum(SUBSCRIPTION_STATUSES),
    end: z.iso.datetime({ offset: true }).optional(),
    reason: z.string().min(1).max(MAX_SUBSCRIPTION_TEXT),
    criteria: z.string().max(MAX_SUBSCRIPTION_TEXT),
    _criteria: z
      .strictObject({
        extension: z.array(extension(FILTER, { valueString: z.string().max(MAX_SUBSCRIPTION_TEXT) })).max(1),
      })
      .optional(),
    error: z.string().optional(),
    channel: z.strictObject({
      extension: extensions(
        z.union([
          extension(HEARTBEAT, {
            valueUnsignedInt: z.int().min(MIN_HEARTBEAT_SECONDS).max(MAX_HEARTBEAT_SECONDS),
          }),
          extension(MAX_COUNT, { valuePositiveInt: z.int().min(1).max(MAX_EVENTS) }),
        ]),
      ),
      type: z.literal('rest-hook'),
      endpoint: z.string().max(MAX_SUBSCRIPTION_TEXT),
      header: z.array(z.string()).min(1).optional(),
      payload: z.enum([FHIR_JSON, 'application/json']),
      _payload: z
        .strictObject({ extension: z.array(extension(CONTENT, { valueCode: z.enum(PAYLOADS) })).max(1) })
        .optional(),
    }),
  });

const TEXTS: Readonly<Record<string, string>> = {
  'channel.type': 'must be rest-hook',
  'channel.payload': `must be ${FHIR_JSON}`,
  'channel._payload': `must be the extension backport-payload-content with ${PAYLOADS.join(' or ')}`,
  'channel.extension': `may be backport-heartbeat-period (${MIN_HEARTBEAT_SECONDS} to ${MAX_HEARTBEAT_SECONDS} s) and backport-max-count (1 to ${MAX_EVENTS})`,
  'channel.header': `must be one to ${MAX_RECEIVER_HEADERS} headers, each "Name: value", of ${RECEIVER_HEADERS.join(', ')}`,
  _criteria: 'may be one extension backport-filter-criteria; join its parameters with &',
  extension: 'may be subscription-start with valueInstant, the transactionTime of an export',
};

function issueOf(path: readonly PropertyKey[], keys: readonly string[] = []): Issue {
  const names = [...path, ...keys.slice(0, 1)].filter((step) => typeof step === 'string');
  const place = names.slice(0, names[0] === 'channel' ? 2 : 1).join('.');
  const known = TEXTS[place];
  const what =
    known ?? (keys.length > 0 ? 'is not supported' : 'is missing, or has another form than the gateway supports');
  return {
    code: keys.length > 0 ? 'not-supported' : 'value',
    message: `${place} ${what}`,
    at: `Subscription.${place}`,
  };
}

/** A Fault about a member of the Subscription. */
export const faultAt = (message: string, at: string): Fault =>
  new Fault('invalid', message, { issues: [{ code: 'business-rule', message, at: `Subscription.${at}` }] });

export interface SentSubscription {
  readonly record: Omit<SubscriptionRecord, 'headers'>;
  /** Null: not sent. */
  readonly headers: ReceiverHeaders | null;
  /** Instant: only versions after it; null: those that follow. */
  readonly since: string | null;
}

/** @returns the search without its type; `''` without a filter */
function filterOf(context: RequestContext, type: ResourceType, text: string | undefined): string {
  if (text === undefined) return '';
  const at = 'criteria.extension';
  if (!text.startsWith(`${type}?`))
    throw faultAt(`the filter must be ${type}?[parameters], as the topic names ${type}`, at);
  const query = text.slice(type.length + 1);
  try {
    readCriteria(type, query, context);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw faultAt(`the filter cannot be used: ${error.issues[0]?.message ?? error.message}`, at);
  }
  return query;
}

/** @throws Fault `invalid` (422) for what the gateway does not support, with a place for each fault */
export function readSubscription(
  config: GuardedFetching['config'] & Pick<Config, 'FHIR_SEARCH'>,
  context: RequestContext,
  content: Json,
): SentSubscription {
  const { root, types } = context;
  const parsed = schemaOf(root).safeParse(content);
  if (!parsed.success) {
    const found = parsed.error.issues.map((issue) =>
      issueOf(issue.path, issue.code === 'unrecognized_keys' ? issue.keys : []),
    );
    const issues = [...new Map(found.map((issue) => [issue.message, issue])).values()];
    throw new Fault('invalid', issues[0]?.message ?? 'the Subscription is not valid', { issues });
  }
  const { criteria, _criteria, channel, reason, end, status, extension: own = [] } = parsed.data;
  const type = types.find((one) => isStored(one) && topicUrl(root, one) === criteria);
  if (type === undefined) {
    const supported = types.filter(isStored).map((one) => topicUrl(root, one));
    throw faultAt(`criteria must be one of the topics: ${supported.join(', ')}`, 'criteria');
  }
  const problem = checkForeignUrl(config, channel.endpoint);
  if (problem !== undefined) throw faultAt(`the endpoint cannot be used: ${problem}`, 'channel.endpoint');
  const headers = channel.header === undefined ? null : readReceiverHeaders(channel.header);
  if (typeof headers === 'string') throw faultAt(`channel.header ${headers}`, 'channel.header');
  const start = own.find((one) => 'valueInstant' in one);
  const since = start === undefined ? null : readInstant(start.valueInstant);
  if (since === undefined) throw faultAt('subscription-start must be an instant: send a transactionTime', 'extension');
  const heartbeat = channel.extension?.find((one) => 'valueUnsignedInt' in one);
  const maxCount = channel.extension?.find((one) => 'valuePositiveInt' in one);
  return {
    since,
    headers,
    record: {
      type,
      filter: filterOf(context, type, _criteria?.extension[0]?.valueString),
      payload: channel['_payload']?.extension[0]?.valueCode ?? 'id-only',
      endpoint: channel.endpoint,
      host: new URL(channel.endpoint).host,
      reason,
      heartbeatSeconds: heartbeat?.valueUnsignedInt ?? null,
      maxCount: maxCount?.valuePositiveInt ?? MAX_EVENTS,
      endsAt: end ?? null,
      status: status === 'off' ? 'off' : 'requested',
    },
  };
}

/** Why the last post was not accepted; undefined if there is no error. */
export function errorOf({ status, last_answer: answer, attempts }: SubscriptionRow): string | undefined {
  if (status !== 'error' && (status === 'off' || attempts === 0)) return undefined;
  if (answer === 'headers') return 'the gateway cannot decrypt channel.header any more: send it again';
  return `the last notification was not accepted: ${answer ?? 'no answer'}`;
}

/** @param secret only in the answer to a write */
export function showSubscription(root: string, row: SubscriptionRow, secret?: string): JsonObject {
  const error = errorOf(row);
  const own: JsonObject[] = [
    ...(row.since === null ? [] : [{ url: startUrl(root), valueInstant: row.since }]),
    ...(secret === undefined ? [] : [{ url: secretUrl(root), valueString: secret }]),
  ];
  const ofChannel: JsonObject[] = [
    ...(row.heartbeat_seconds === null ? [] : [{ url: HEARTBEAT, valueUnsignedInt: row.heartbeat_seconds }]),
    { url: MAX_COUNT, valuePositiveInt: row.max_count },
  ];
  const filter = { extension: [{ url: FILTER, valueString: `${row.type}?${row.filter}` }] };
  return {
    resourceType: 'Subscription',
    id: row.subscription_id,
    meta: { versionId: String(row.version), lastUpdated: row.updated_at, profile: [PROFILE] },
    ...(own.length === 0 ? {} : { extension: own }),
    status: row.status,
    ...(row.ends_at === null ? {} : { end: row.ends_at }),
    reason: row.reason,
    criteria: topicUrl(root, row.type),
    ...(row.filter === '' ? {} : { _criteria: filter }),
    ...(error === undefined ? {} : { error }),
    channel: {
      extension: ofChannel,
      type: 'rest-hook',
      endpoint: row.endpoint,
      payload: FHIR_JSON,
      _payload: { extension: [{ url: CONTENT, valueCode: row.payload }] },
    },
  };
}
