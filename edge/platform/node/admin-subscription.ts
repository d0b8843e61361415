/** `npm run admin -- subscription …`: lists and changes subscriptions, like `/admin/api/subscriptions`. */
import {
  changeSubscription,
  findSubscriptions,
  removeSubscription,
  requireSubscription,
  resendBody,
  subscriptionQuery,
} from '../../admin/subscriptions/subscriptions.ts';
import { viewSubscription } from '../../admin/subscriptions/view.ts';
import type { SubscriptionChange } from '../../store/admin-subscription.ts';
import {
  asOperator,
  CLIENT_ID,
  type Command,
  need,
  NEWEST,
  operator,
  type Options,
  SITE,
  textOf,
} from './admin-command.ts';
import { UsageError } from './program.ts';

function firstEventOf(options: Options): number {
  const { data } = resendBody.safeParse({ from: Number(textOf(options, 'from')) });
  if (data === undefined) throw new UsageError('--from must be the number of an event');
  return data.from;
}

/** A change of one subscription of a site, with a row of the audit. The background work notices it within a minute. */
const changing = (change: SubscriptionChange, options: readonly string[] = []): Command => ({
  usage: ['SITE', 'ID', ...options],
  async run(deps, given, [site = '', id = '']) {
    const from = change === 'resend' ? firstEventOf(given) : null;
    const { actor, database } = asOperator(deps, site);
    return viewSubscription(await changeSubscription({}, database, actor, id, change, from), actor.permissions);
  },
});

export const SUBSCRIPTION_COMMANDS: Readonly<Record<string, Command>> = {
  'subscription list': {
    usage: [SITE, `[${CLIENT_ID}]`, '[--status requested|active|error|off]'],
    async run({ database }, options) {
      const { site, permissions } = operator(need(options, 'site'));
      const given = { clientId: textOf(options, 'client-id'), status: textOf(options, 'status'), limit: NEWEST };
      const { data } = subscriptionQuery.safeParse(given);
      if (data === undefined) throw new UsageError('--status must be requested, active, error or off');
      const { items } = await findSubscriptions(database, site, data);
      return items.map((row) => viewSubscription(row, permissions));
    },
  },
  'subscription show': {
    usage: ['SITE', 'ID'],
    async run({ database }, _, [site = '', id = '']) {
      return viewSubscription(await requireSubscription(database, site, id), operator(site).permissions);
    },
  },
  'subscription pause': changing('pause'),
  'subscription resume': changing('resume'),
  'subscription resend': changing('resend', ['--from NUMBER']),
  'subscription delete': {
    usage: ['SITE', 'ID'],
    async run(deps, _, [site = '', id = '']) {
      const { actor, database } = asOperator(deps, site);
      await removeSubscription(database, actor, id);
      return { subscriptionId: id };
    },
  },
};
