/** The file of the caller's site over JSON: export, plan, apply. */
import * as z from 'zod';

import { documented } from '../../members/member.ts';
import { ALL_PERMISSIONS } from '../../permissions.ts';
import { type Operation, operation } from '../api/operation.ts';
import { parse } from '../api/parse.ts';
import type { AdminDeps } from '../web/console.ts';
import { applyFile } from './apply.ts';
import { exportFile } from './export.ts';
import { documentedFile, MAX_FILE_BYTES } from './file.ts';
import { type Plan, planFile } from './plan.ts';
import { readState } from './state.ts';

/** Cloudflare Workers limit the requests that one request may make. */
const MAX_FETCHES = 40;

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
});
const describedPlan = z.strictObject({ file: documentedFile, ...options });
const describedApply = describedPlan.extend({ fingerprint: z.string() });

const names = z.array(z.string());
const planned = {
  fingerprint: z
    .string()
    .meta({ description: 'Identifies the changes, and the versions of the records that they change.' }),
  changes: z.array(
    z.object({
      kind: z.enum(['settings', 'address', 'api-key']),
      action: z.enum(['create', 'update', 'disable']),
      name: z.string(),
      clientId: z.string().nullable().meta({ description: 'Null for settings, addresses and a new API key.' }),
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
    })
    .meta({ description: 'Records of the site that the file does not have. They stay.' }),
  diff: z.string().meta({ description: 'The changes as text.' }),
};
export const planAnswer = z.object(planned);
const applyAnswer = planAnswer.extend({
  clientIds: z.array(z.object({ name: z.string(), clientId: z.string() })).meta({
    description: 'The API keys of the file, in its order.',
  }),
});

export const viewPlan = ({ fingerprint, items, warnings, unmentioned, diff }: Plan) => ({
  fingerprint,
  changes: items,
  warnings,
  notInFile: unmentioned,
  diff,
});

export const viewApplied = (plan: Plan) => ({ ...viewPlan(plan), clientIds: plan.clientIds });

export function siteFileOperations(deps: AdminDeps): Operation[] {
  const reads = ['site.settings.read'] as const;
  return [
    operation({
      method: 'get',
      path: '/export',
      permission: reads,
      summary: 'Export the site as a file for `POST /plan` and `POST /apply`',
      description:
        'Settings, addresses and API keys, without secrets: public keys only, and no webhook. Also needs `site.api_keys.read`.',
      answer: documented(documentedFile),
      handle: async ({ actor, database }) => ({ body: exportFile(await readState(database, actor)) }),
    }),
    operation({
      method: 'post',
      path: '/plan',
      permission: reads,
      summary: 'Show what a file would change in the site',
      description:
        'Changes nothing. The file has the rules of the forms, and the place of each error in the file is in `errors`. The gateway ' +
        'loads new JWKS URIs if the caller may create or change API keys. Also needs `site.api_keys.read`.',
      body: documented(describedPlan),
      maxBodyBytes: MAX_FILE_BYTES,
      answer: planAnswer,
      async handle({ actor, database, body }) {
        const { file, ...given } = parse(planBody, body);
        return {
          body: viewPlan(await planFile({ ...deps, database }, actor, file, { ...given, maxFetches: MAX_FETCHES })),
        };
      },
    }),
    operation({
      method: 'post',
      path: '/apply',
      permission: reads,
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
        const options = { ...given, maxFetches: MAX_FETCHES, isOperator: false };
        return { body: viewApplied(await applyFile({ ...deps, database }, actor, auditActor, file, options)) };
      },
    }),
  ];
}
