/**
 * `npm run admin -- replay …`: replays of many messages, like `/admin/api/replays`; the gateway runs them in the background.
 * By default it only counts the messages.
 */
import { findingText } from '../../../shared/finding-text.ts';
import { askReplay, endReplay, findReplay, listReplays, replayRequest } from '../../admin/replays/operations.ts';
import { asOperator, CLIENT_ID, type Command, need, SITE, textOf } from './admin-command.ts';
import { UsageError } from './program.ts';

const FILTERS = ['outcome', 'reason', 'from', 'to'] as const;

const ending = (change: 'stop' | 'resume'): Command => ({
  usage: ['SITE', 'ID'],
  async run({ database }, _, [site = '', id = '']) {
    await endReplay(database, site, id, change);
    return findReplay(database, site, id);
  },
});

export const REPLAY_COMMANDS: Readonly<Record<string, Command>> = {
  'replay start': {
    next: 'with --apply newest the gateway replays them in the background, one at a time; replay list shows the progress',
    usage: [
      SITE,
      `[${CLIENT_ID}]`,
      '[--outcome AA|AE|AR|errors]',
      '[--reason REASON]',
      '[--from INSTANT]',
      '[--to INSTANT]',
      '[--apply nothing|newest]',
      '[--comment TEXT]',
    ],
    async run(deps, options) {
      const empty = FILTERS.find((name) => options[name] === '');
      // Such as of a variable without a value: it would replay the messages of the whole site.
      if (empty !== undefined) throw new UsageError(`--${empty} is empty: leave it out or give a value`);
      const given = Object.fromEntries(FILTERS.map((name) => [name, textOf(options, name)]));
      const asked = {
        ...given,
        clientId: textOf(options, 'client-id'),
        comment: textOf(options, 'comment'),
        apply: textOf(options, 'apply') || undefined,
      };
      const { data, error } = replayRequest.safeParse(asked, { error: findingText });
      if (data === undefined) {
        throw new UsageError(error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`).join('\n'));
      }
      const { actor, database } = asOperator(deps, need(options, 'site'));
      return askReplay(database, actor, data);
    },
  },
  'replay list': {
    usage: [SITE],
    async run({ database }, options) {
      return listReplays(database, need(options, 'site'));
    },
  },
  'replay stop': ending('stop'),
  'replay resume': ending('resume'),
};
