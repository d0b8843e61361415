/** `npm run admin -- link …`: creates, lists and revokes links of an API key, like `/admin/api/api-keys/{clientId}/links`. */
import { addLink, endLink, findLinks, newLink, viewLink } from '../../admin/keys/links.ts';
import { tryPageOf } from '../../http/reference-address.ts';
import { asOperator, CLIENT_ID, type Command, need, SITE, textOf } from './admin-command.ts';
import { UsageError } from './program.ts';

export const LINK_COMMANDS: Readonly<Record<string, Command>> = {
  'link create': {
    usage: [SITE, CLIENT_ID, '[--hours HOURS]'],
    next: 'Give the address in `page` to the integrator, or the secret, a Bearer token for /hl7/check and /oauth2/refusals.',
    async run(deps, options) {
      const { data } = newLink.safeParse({ hours: Number(textOf(options, 'hours') || 24) });
      if (data === undefined) throw new UsageError('--hours must be a number from 1 to 168');
      const { actor, database } = asOperator(deps, need(options, 'site'));
      const { row, secret } = await addLink(database, actor, need(options, 'client-id'), data.hours);
      return { ...viewLink(row), secret, page: tryPageOf(deps.config, secret) };
    },
  },
  'link list': {
    usage: [SITE, CLIENT_ID],
    async run({ database }, options) {
      return (await findLinks(database, need(options, 'site'), need(options, 'client-id'))).map(viewLink);
    },
  },
  'link revoke': {
    usage: [SITE, CLIENT_ID, '--link-id UUID'],
    async run(deps, options) {
      const { actor, database } = asOperator(deps, need(options, 'site'));
      return viewLink(await endLink(database, actor, need(options, 'client-id'), need(options, 'link-id')));
    },
  },
};
