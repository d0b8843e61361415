/** `npm run admin -- alert …`: lists and changes alerts, like `/admin/api/alerts`. */
import {
  acknowledge,
  alertQuery,
  findAlerts,
  silence,
  MAX_SILENCE_MINUTES,
  silenceBody,
  unsilence,
  viewAlert,
} from '../../admin/alerts/listing.ts';
import type { Actor } from '../../admin/staff/actor.ts';
import type { Database } from '../../deps.ts';
import { asOperator, type Command, need, NEWEST, type Options, SITE, textOf } from './admin-command.ts';
import { UsageError } from './program.ts';

/** A change of one alert of a site, with a row of the audit. */
const acting = (
  options: readonly string[],
  act: (database: Database, actor: Actor, id: string, options: Options) => Promise<{ alertId: string }>,
): Command => ({
  usage: ['SITE', 'ID', ...options],
  async run(deps, given, [site = '', id = '']) {
    const { actor, database } = asOperator(deps, site);
    return act(database, actor, id, given);
  },
});

/** Null means until a person ends the silence. @throws UsageError */
function minutesOf(options: Options): number | null {
  const text = textOf(options, 'minutes');
  const { data } = silenceBody.safeParse({ minutes: text === '' ? null : Number(text) });
  if (data === undefined) throw new UsageError(`--minutes must be a whole number from 1 to ${MAX_SILENCE_MINUTES}`);
  return data.minutes;
}

export const ALERT_COMMANDS: Readonly<Record<string, Command>> = {
  'alert list': {
    next: 'alert acknowledge SITE ID marks an alert as being handled; alert silence SITE ID stops its notices',
    usage: [SITE, '[--state firing|resolved]'],
    async run({ database }, options) {
      const { data } = alertQuery.safeParse({ state: textOf(options, 'state') || undefined, limit: NEWEST });
      if (data === undefined) throw new UsageError('--state must be firing or resolved');
      return (await findAlerts(database, need(options, 'site'), data)).items.map(viewAlert);
    },
  },
  'alert acknowledge': acting([], acknowledge),
  'alert silence': acting(['[--minutes NUMBER]'], (database, actor, id, options) =>
    silence(database, actor, id, minutesOf(options)),
  ),
  'alert unsilence': acting([], unsilence),
};
