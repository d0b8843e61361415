/** The file of the caller's site over JSON: export, plan, apply. */
import * as z from 'zod';

import { documented } from '../../members/member.ts';
import { ALL_PERMISSIONS } from '../../permissions.ts';
import { type Operation, operation } from '../api/operation.ts';
import { parse } from '../api/parse.ts';
import { subscriptionPurpose, webhookSecret } from '../../http/webhook-signature.ts';
import { releaseBody } from '../code-tables/tables.ts';
import type { Notifications } from '../subscriptions/notifications.ts';
import type { AdminDeps } from '../web/console.ts';
import { applyFile } from './apply.ts';
import { exportSite } from './export.ts';
import { documentedFile, MAX_FILE_BYTES } from './file.ts';
import type { PlanDeps } from './part.ts';
import { type Plan, planFile } from './plan.ts';
import type { NewSubscription } from './plan-subscriptions.ts';

/**
 * Cloudflare Workers limit the requests that one request may make. PostgreSQL needs 1 ms of CPU for a change
 * (measured), and a small computer several times as much. A statement may take 8 s. 10,000 rows of a code table need some 5 MB of a
 * Worker's memory.
 */
export const API_LIMITS = { maxFetches: 40, maxChanges: 1000, maxRows: 50_000 } as const;

const options = {
  prune: z
    .boolean()
    .default(false)
    .meta({ description: 'Disables active API keys that the file does not have, if it has `apiKeys`.' }),
  copy: z
    .boolean()
    .default(false)
    .meta({ description: 'For a file of another site or deployment: ids are ignored, and names find API keys.' }),
};

const planBody = z.strictObject({ file: z.unknown(), ...options });
const applyBody = planBody.extend({
  fingerprint: z.string({ error: 'is required: the fingerprint of the plan' }),
  comment: releaseBody.shape.comment.optional().meta({
    description: 'The comment of new versions of rules and code tables. Without it, the comment names the fingerprint.',
  }),
});
const describedPlan = z.strictObject({ file: documentedFile, ...options });
const describedApply = describedPlan.extend({
  fingerprint: z.string(),
  comment: applyBody.shape.comment,
});

const names = z.array(z.string());
const planned = {
  fingerprint: z
    .string()
    .meta({ description: 'Identifies the changes, and the versions of the records that they change.' }),
  changes: z.array(
    z.object({
      kind: z.enum(['settings', 'address', 'api-key', 'subscription', 'rules', 'code-table']),
      action: z.enum(['create', 'update', 'disable']),
      name: z.string(),
      clientId: z.string().nullable().meta({
        description: 'Null for settings, addresses, code tables, and a new API key with its subscriptions and rules.',
      }),
      permissions: z
        .array(z.enum(ALL_PERMISSIONS))
        .nullable()
        .meta({ description: 'The permissions that applying it needs. Null: only the operator may.' }),
      members: z.array(z.object({ member: z.string(), before: z.unknown(), after: z.unknown() })),
    }),
  ),
  warnings: z.array(z.string()),
  notInFile: z
    .object({
      apiKeys: z.array(z.object({ name: z.string(), clientId: z.string() })),
      addresses: names,
      assigningAuthorities: names,
      codeSystems: names,
      subscriptions: names,
      codeTables: names,
    })
    .meta({ description: 'Records of the site that the file does not have. They stay.' }),
  diff: z.string().meta({ description: 'The changes as text.' }),
};
export const planAnswer = z.object(planned);
const applyAnswer = planAnswer.extend({
  clientIds: z.array(z.object({ name: z.string(), clientId: z.string() })).meta({
    description: 'The API keys of the file, in its order.',
  }),
  subscriptions: z
    .array(
      z.object({
        apiKey: z.string(),
        type: z.string(),
        filter: z.string(),
        subscriptionId: z.uuid(),
        secret: z.string(),
      }),
    )
    .meta({ description: 'The new subscriptions. Only this answer has the `secret` of their signatures.' }),
});

export const viewPlan = ({ fingerprint, items, warnings, unmentioned, diff }: Plan) => ({
  fingerprint,
  changes: items,
  warnings,
  notInFile: unmentioned,
  diff,
});

export const viewApplied = (plan: Plan, subscriptions: readonly CreatedSubscription[] = []) => ({
  ...viewPlan(plan),
  clientIds: plan.clientIds,
  subscriptions,
});

export interface CreatedSubscription extends NewSubscription {
  readonly secret: string;
}

/** The new subscriptions of an applied plan, with the secrets of their signatures. */
export const createdSubscriptions = (
  { config: { GATEWAY_SECRET } }: AdminDeps,
  site: string,
  { created }: Plan,
): Promise<CreatedSubscription[]> =>
  Promise.all(
    created.map(async (each) => ({
      ...each,
      secret: await webhookSecret(GATEWAY_SECRET, subscriptionPurpose(site, each.subscriptionId)),
    })),
  );

/** The dependencies of plans, except the caller's database. */
export const planDeps = (deps: AdminDeps, notifications: Notifications): Omit<PlanDeps, 'database'> => ({
  ...deps,
  subscribing: { isOn: deps.config.FHIR_SUBSCRIPTIONS, notifications, now: deps.now },
});

export function siteFileOperations(deps: AdminDeps, notifications: Notifications): Operation[] {
  const planning = planDeps(deps, notifications);
  const reads = ['site.settings.read'] as const;
  return [
    operation('get', '/export', reads, {
      summary: 'Export the site as a file for `POST /plan` and `POST /apply`',
      description:
        'Settings, addresses, API keys and subscriptions, without secrets: public keys only, and no webhook. Also needs `site.api_keys.read`. ' +
        'Without `site.api_keys.update`, or without `site.messages.read` where a filter may name a patient, the file has no subscriptions. ' +
        'Without `site.rules.read` it has no rules and code tables. Code tables after the first 50,000 rows are without their rows.',
      answer: documented(documentedFile),
      handle: async ({ actor, database }) => await exportSite(database, actor, API_LIMITS),
    }),
    operation('post', '/plan', reads, {
      summary: 'Show what a file would change in the site',
      description:
        'Changes nothing. The file has the rules of the forms, and the place of each error in the file is in `errors`. The gateway ' +
        'loads new JWKS URIs if the caller may create or change API keys. Also needs `site.api_keys.read`, and `site.messages.read` for ' +
        'a subscription whose filter may name a patient, and `site.rules.read` for rules and code tables. At most 1,000 changes and 50,000 rows ' +
        'of code tables at once.',
      body: documented(describedPlan),
      maxBodyBytes: MAX_FILE_BYTES,
      answer: planAnswer,
      async handle({ actor, database, body }) {
        const { file, ...given } = parse(planBody, body);
        return viewPlan(await planFile({ ...planning, database }, actor, file, { ...given, ...API_LIMITS }));
      },
    }),
    operation('post', '/apply', reads, {
      summary: 'Apply a planned file in one transaction',
      description:
        'Needs the permission of each change, as the plan lists them. If the plan of the file now is another one than ' +
        '`fingerprint`, the answer is 412 and nothing is written. Records that the file does not have stay; nothing is deleted. ' +
        'A file without changes writes nothing, with any fingerprint. Also needs `site.api_keys.read`.',
      body: documented(describedApply),
      needsFingerprint: true,
      maxBodyBytes: MAX_FILE_BYTES,
      answer: applyAnswer,
      async handle({ actor, auditActor, database, body }) {
        const { file, ...given } = parse(applyBody, body);
        const options = { ...given, ...API_LIMITS, isOperator: false };
        const plan = await applyFile({ ...planning, database }, actor, auditActor, file, options);
        if (plan.items.some(({ kind }) => kind === 'subscription')) deps.wake?.(actor.site);
        return viewApplied(plan, await createdSubscriptions(deps, actor.site, plan));
      },
    }),
  ];
}
