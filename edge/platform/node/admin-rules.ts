/** `npm run admin -- rules …`: shows, saves and releases the rules of an API key, like `/admin/api/api-keys/{clientId}/rules`. */
import { parse } from '../../admin/api/parse.ts';
import { draftBody, release, releaseBody, requireRules, requireVersion, saveDraft } from '../../admin/rules/rules.ts';
import { parseJson } from '../../../shared/json.ts';
import { asOperator, CLIENT_ID, type Command, need, type Options, readText, SITE, textOf } from './admin-command.ts';
import { UsageError } from './program.ts';

const EDITS = '[--edits NUMBER]';

/** `--edits`, or the current ones. */
function editsOf(options: Options, current: number): number {
  const given = textOf(options, 'edits');
  if (given === '') return current;
  if (!/^\d{1,9}$/.test(given)) throw new UsageError('--edits must be a number: rules show prints it');
  return Number(given);
}

/** The version of `--version`; the draft without one, null for `none`. */
function versionOf(options: Options, draft: number): number | null {
  const given = textOf(options, 'version') || 'draft';
  if (given === 'draft') return draft;
  if (given === 'none') return null;
  if (!/^[1-9]\d{0,8}$/.test(given)) throw new UsageError('--version must be a number, draft or none');
  return Number(given);
}

export const RULES_COMMANDS: Readonly<Record<string, Command>> = {
  'rules show': {
    usage: [SITE, CLIENT_ID, '[--version NUMBER]'],
    async run({ database }, options) {
      const site = need(options, 'site');
      const clientId = need(options, 'client-id');
      const version = textOf(options, 'version');
      return version === ''
        ? requireRules(database, site, clientId)
        : requireVersion(database, site, clientId, version);
    },
  },
  'rules save': {
    next: 'messages are read by these rules after rules release',
    usage: [SITE, CLIENT_ID, '--file FILE.json', EDITS],
    async run(deps, options) {
      const { actor, database } = asOperator(deps, need(options, 'site'));
      const clientId = need(options, 'client-id');
      const rules = parseJson(await readText(need(options, 'file')));
      const { edits } = await requireRules(database, actor.site, clientId);
      await saveDraft(database, actor, clientId, parse(draftBody, { rules, edits: editsOf(options, edits) }));
      return requireRules(database, actor.site, clientId);
    },
  },
  'rules release': {
    next: 'it applies to the next message; replay earlier messages to read them by these rules',
    usage: [SITE, CLIENT_ID, '--comment TEXT', '[--version NUMBER|draft|none]', EDITS],
    async run(deps, options) {
      const { actor, database } = asOperator(deps, need(options, 'site'));
      const clientId = need(options, 'client-id');
      const { edits, draftVersion } = await requireRules(database, actor.site, clientId);
      const version = versionOf(options, draftVersion);
      const body = { version, edits: editsOf(options, edits), comment: need(options, 'comment') };
      await release(database, actor, clientId, parse(releaseBody, body));
      return requireRules(database, actor.site, clientId);
    },
  },
};
