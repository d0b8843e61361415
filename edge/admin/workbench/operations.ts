/** The JSON API of the workbench: it checks an assertion, a message or a resource, and stores nothing. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { type Reading, ticketCopy } from '../../../shared/hl7/ticket-copy.ts';
import { isJsonObject, type Json, printJson } from '../../../shared/json.ts';
import { isClientId } from '../../../shared/oauth/client-id.ts';
import type { AssertionExplanation } from '../../assertion-explanation.ts';
import type { Database } from '../../deps.ts';
import type { AdminDeps } from '../web/console.ts';
import { listKeys } from '../keys/statements.ts';
import { noSuchKey } from '../keys/keys.ts';
import { ackErrorItem, moreSegments, ruleChangeItem, segmentItem } from '../messages/operations.ts';
import { type Operation, operation } from '../api/operation.ts';
import { viewAck, viewMessage } from '../messages/segments.ts';
import type { DryRunResult, Workbench } from './workbench.ts';
import { inSite } from '../../store/in-site.ts';

const text = z.string();

const check = z.object({
  code: text,
  title: text,
  result: z.enum(['passed', 'failed', 'skipped']),
  reason: text.nullable(),
  seen: text.nullable(),
});

/** The result of the token endpoint's checks. */
export function viewExplanation({ accepted, clientId, header, claims, checks }: AssertionExplanation) {
  return {
    accepted,
    clientId,
    header: header === null ? null : plain(header),
    claims: claims === null ? null : plain(claims),
    checks: checks.map(({ code, title, result, reason, seen }) => ({
      code,
      title,
      result,
      reason: reason ?? null,
      seen: seen ?? null,
    })),
  };
}

/** Numbers kept digit for digit become plain ones here: this is for people to look at. */
const plain = (value: Json): unknown => JSON.parse(printJson(value));

type Decided = Pick<DryRunResult, 'outcome' | 'ack' | 'findings' | 'resources'>;

function viewDecided({ outcome, ack, findings, resources }: Decided, bytes: Uint8Array, charset: string | null) {
  const { segments, moreSegments, problem } = viewMessage(bytes, charset, findings);
  return {
    outcome,
    ack: viewAck(ack),
    errors: findings,
    segments,
    moreSegments,
    problem,
    resources: resources.map(plain),
  };
}

export const viewDryRun = (result: DryRunResult, bytes: Uint8Array) => ({
  ...viewDecided(result, bytes, null),
  changes: result.changes,
  ruleChanges: result.ruleChanges,
});

const decidedAnswer = z.object({
  outcome: z.enum(['AA', 'AE', 'AR']),
  ack: text.nullable(),
  errors: z.array(ackErrorItem),
  segments: z.array(segmentItem),
  moreSegments,
  problem: text.nullable(),
  resources: z.array(z.looseObject({ resourceType: text })),
});

/** The resources of a check that are listed. */
const MAX_CHECKED = 500;

/** The answer of `POST /hl7/check`. */
export const checkAnswer = decidedAnswer.extend({
  judgedAs: z.literal('empty-site').meta({
    description:
      'The message was judged as in a site without patients, earlier messages and other API keys. In the real site the ' +
      'answer can differ: a patient may match, differ or be merged.',
  }),
  moreResources: z.number().int().meta({ description: 'The resources that are not listed: 500 are.' }),
  ticketCopy: text.nullable().meta({
    description:
      'With `?ticketCopy=true`: the message with invented names, identifiers, addresses, texts and dates, for a ticket. It has the ' +
      'same faults.',
  }),
});

export const viewCheck = (checked: Decided & Reading, bytes: Uint8Array, withTicketCopy: boolean) => ({
  judgedAs: 'empty-site' as const,
  ...viewDecided({ ...checked, resources: checked.resources.slice(0, MAX_CHECKED) }, bytes, checked.charset),
  moreResources: Math.max(0, checked.resources.length - MAX_CHECKED),
  ticketCopy: withTicketCopy ? viewMessage(ticketCopy(bytes, checked), checked.charset).text : null,
});

/** Line feeds of a text area are the segments' ends. */
export const messageBytes = (pasted: string): Uint8Array =>
  new TextEncoder().encode(pasted.replaceAll(/\r\n|\n/g, '\r'));

/** The resource itself, also where it is a member of what was sent. */
function resourceOf(given: unknown): Json {
  // `parseJson` returned it; its schema accepts any value.
  const body = given as Json;
  const isWrapped = isJsonObject(body) && body['resourceType'] === undefined && isJsonObject(body['resource']);
  return isWrapped ? (body['resource'] ?? null) : body;
}

/** @throws Fault `not-found` for an invalid Client ID */
export function requireClientId(clientId: string): void {
  if (!isClientId(clientId)) throw noSuchKey();
}

/** @throws Fault `not-found` where the site has no key that may send messages */
async function newestSender(database: Database, site: string): Promise<string> {
  const active = (protocol: string) => ({ text: '', status: 'active', protocol });
  const [[http], [mllp]] = await inSite(database, site).batch([
    listKeys(site, active('hl7'), null, 1),
    listKeys(site, active('hl7-mllp'), null, 1),
  ]);
  const found = http ?? mllp;
  if (found === undefined) throw new Fault('not-found', 'the site has no API key that may send HL7 messages');
  return found.client_id;
}

export function workbenchOperations({ config }: AdminDeps, workbench: Workbench): Operation[] {
  return [
    operation('post', '/workbench/assertion', 'site.api_keys.read', {
      summary: 'Make each check of the token endpoint on an assertion',
      body: z.strictObject({ assertion: text.max(16 * 1024).meta({ description: 'The signed JWT.' }) }),
      answer: z.object({
        accepted: z.boolean(),
        clientId: text.nullable(),
        header: z.looseObject({}).nullable(),
        claims: z.looseObject({}).nullable(),
        checks: z.array(check),
      }),
      handle: async ({ actor, database, body: { assertion } }) =>
        viewExplanation(await workbench.explainAssertion(database, actor.site, assertion.trim())),
    }),
    operation('post', '/workbench/message', 'site.messages.read', {
      summary: 'Preview an HL7 message of a key: segments, resources, ACK',
      body: z.strictObject({
        clientId: text
          .optional()
          .meta({ description: 'The key whose settings and scopes apply. Default: the newest active key for HL7.' }),
        message: text.meta({ description: 'Segments separated by carriage return or line feed.' }),
        rules: z.enum(['live', 'draft']).default('live').meta({ description: 'The version of its rules.' }),
      }),
      maxBodyBytes: 2 * config.HL7_MAX_TEXT_BYTES,
      answer: decidedAnswer.extend({
        changes: z
          .array(
            z.object({
              reference: text,
              change: z.enum(['created', 'changed', 'unchanged']),
              elements: z.array(z.object({ element: text, before: text.nullable(), after: text.nullable() })),
            }),
          )
          .nullable()
          .meta({ description: 'The changes of stored resources; null for a message that the key has never sent.' }),
        ruleChanges: z.array(ruleChangeItem),
      }),
      async handle({ actor, database, body: { clientId, message, rules }, requestId }) {
        const sender = clientId ?? (await newestSender(database, actor.site));
        requireClientId(sender);
        const bytes = messageBytes(message);
        const key = { site: actor.site, clientId: sender };
        const result = await workbench.dryRun(database, key, bytes, requestId, rules);
        return viewDryRun(result, bytes);
      },
    }),
    operation('post', '/workbench/resource', 'site.api_keys.read', {
      summary: 'Validate a FHIR resource: every fault, each at its place',
      body: z.unknown().meta({ type: 'object', description: 'The resource, or `{ "resource": … }`.' }),
      maxBodyBytes: config.FHIR_MAX_BODY_BYTES,
      answer: z.object({
        valid: z.boolean(),
        issues: z.array(z.object({ code: text, message: text, at: text.optional() })),
      }),
      async handle({ body }) {
        const issues = workbench.validate(resourceOf(body));
        return { valid: issues.length === 0, issues };
      },
    }),
  ];
}
