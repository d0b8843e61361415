/** The JSON API of the rules of an API key. */
import * as z from 'zod';

import { senderRules } from '../../members/sender-rules.ts';
import { type Operation, operation } from '../api/operation.ts';
import { RELEASE_DESCRIPTION } from '../code-tables/tables.ts';
import { draftBody, release, releaseBody, requireRules, requireVersion, saveDraft } from './rules.ts';

const version = z.number().int();

const rulesAnswer = z.object({
  liveVersion: version.nullable().meta({ description: 'The version that messages are read by; null for none.' }),
  live: senderRules.nullable().meta({ description: 'The rules of the live version.' }),
  draftVersion: version.meta({ description: 'The version that the draft becomes.' }),
  draft: senderRules,
  isDraftChanged: z.boolean().meta({ description: 'The draft has other rules than the live version.' }),
  edits: z.number().int().meta({ description: 'Counts saves and releases. Send it with the next one.' }),
  savedAt: z.iso.datetime().nullable().meta({ description: 'When the draft was saved; null without a draft.' }),
  savedBy: z.string().nullable(),
  releases: z
    .array(z.object({ version: version.nullable(), at: z.iso.datetime(), by: z.string(), comment: z.string() }))
    .meta({
      description:
        'The steps that made a version live, or switched the rules off (null). The newest first, 200 at most.',
    }),
});

const PATH = '/api-keys/{clientId}/rules';

export function rulesOperations(): Operation[] {
  return [
    operation('get', PATH, 'site.rules.read', {
      summary: 'Read the rules for the messages of an API key: live version, draft, and what was live when',
      answer: rulesAnswer,
      handle: async ({ actor, database, param }) => await requireRules(database, actor.site, param('clientId')),
    }),
    operation('put', PATH, 'site.rules.write', {
      summary: 'Replace the draft of the rules of an API key',
      description: 'It changes no message before it is live.',
      body: draftBody,
      needsFingerprint: true,
      answer: rulesAnswer,
      async handle({ actor, database, param, body }) {
        await saveDraft(database, actor, param('clientId'), body);
        return requireRules(database, actor.site, param('clientId'));
      },
    }),
    operation('post', `${PATH}/release`, 'site.rules.write', {
      summary: 'Make a version of the rules of an API key live, or none',
      description: RELEASE_DESCRIPTION,
      body: releaseBody,
      needsFingerprint: true,
      answer: rulesAnswer,
      async handle({ actor, database, param, body }) {
        await release(database, actor, param('clientId'), body);
        return requireRules(database, actor.site, param('clientId'));
      },
    }),
    operation('get', `${PATH}/{version}`, 'site.rules.read', {
      summary: 'Read the rules of a version that is or was live',
      answer: z.object({ version, rules: senderRules }),
      handle: async ({ actor, database, param }) =>
        await requireVersion(database, actor.site, param('clientId'), param('version')),
    }),
  ];
}
