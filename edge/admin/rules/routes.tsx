/** `/admin/keys/:clientId/rules`: the rules of an API key, for people. */
import type { Context } from 'hono';
import type { Child } from 'hono/jsx';

import { Fault } from '../../../shared/fault.ts';
import { parseJson } from '../../../shared/json.ts';
import { MAX_RULES_BYTES } from '../../members/sender-rules.ts';
import type { GatewayEnv, Surface } from '../../http/surface.ts';
import { parse } from '../api/parse.ts';
import { requireKey } from '../keys/keys.ts';
import type { Visitor } from '../staff/access.ts';
import type { Console } from '../web/console.ts';
import { readForm } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Notice } from '../web/ui.tsx';
import { type Failed, RulesPage } from './page.tsx';
import { addRulePages, moveRule } from './rule-routes.tsx';
import { draftBody, release, releaseBody, requireRules, requireVersion, saveDraft } from './rules.ts';

const PLACE = `${PLACES.keys.path}/:clientId/rules` as const;
const READ = 'site.rules.read';
const CHANGE = 'site.rules.write';
/** Printed rules have white space, and a form needs three characters for an escaped one. */
const MAX_FORM_BYTES = 12 * MAX_RULES_BYTES;

const STATUS: Partial<Readonly<Record<Fault['kind'], number>>> = {
  malformed: 422,
  invalid: 422,
  conflict: 409,
  'precondition-failed': 409,
};

export function addRulesPages(app: Surface, console: Console): void {
  const { deps, access } = console;
  const { config } = deps;
  const pathOf = (clientId: string) => `${linkTo(config, PLACES.keys.path)}/${clientId}/rules`;

  const doneOf = (done: string | undefined, session: Visitor, clientId: string): Child => {
    if (done === 'draft')
      return <Notice tone="good">The draft is saved. It changes no message before it is live.</Notice>;
    if (done !== 'release') return null;
    const messages = linkTo(config, `${PLACES.messages.path}?clientId=${clientId}`);
    return (
      <Notice tone="good">
        It applies from the next message on.{' '}
        {session.actor.permissions.has(PLACES.messages.permission) ? (
          <>
            Stored messages stay as they were read: <a href={messages}>replay messages of this API key</a> to read them
            again.
          </>
        ) : null}
      </Notice>
    );
  };

  const show = async (
    session: Visitor,
    clientId: string,
    query: Readonly<Record<string, string>>,
    failed?: Failed,
  ): Promise<Response> => {
    const { database, actor } = session;
    const { name } = await requireKey(database, actor.site, clientId);
    const rules = await requireRules(database, actor.site, clientId);
    const version =
      query['version'] === undefined
        ? undefined
        : await requireVersion(database, actor.site, clientId, query['version']);
    return respond(
      {
        title: `Rules of ${name}`,
        config,
        session,
        place: PLACES.keys.path,
        trail: [PLACES.keys, { title: name, path: `${PLACES.keys.path}/${clientId}` }],
        status: failed === undefined ? 200 : STATUS[failed.fault.kind],
      },
      doneOf(query['done'], session, clientId),
      <RulesPage {...{ rules, version, failed }} path={pathOf(clientId)} mayChange={actor.permissions.has(CHANGE)} />,
    );
  };

  /** A form of the page: the page again with the fault, or with the result. */
  const form = (
    of: Failed['of'],
    use: (session: Visitor, clientId: string, given: Readonly<Record<string, string>>) => Promise<void>,
  ) =>
    async function answer(c: Context<GatewayEnv>): Promise<Response> {
      const session = await access.page(c, CHANGE);
      const clientId = c.req.param('clientId') ?? '';
      const given = Object.fromEntries(await readForm(c, MAX_FORM_BYTES));
      try {
        await use(session, clientId, given);
      } catch (error) {
        if (!(error instanceof Fault) || STATUS[error.kind] === undefined || !session.actor.permissions.has(READ))
          throw error;
        return show(session, clientId, {}, { fault: error, of, given });
      }
      return c.redirect(`${pathOf(clientId)}?done=${of === 'release' ? of : 'draft'}`, 303);
    };

  addRulePages(app, console);
  app.get(PLACE, async (c) => show(await access.page(c, READ), c.req.param('clientId'), c.req.query()));
  app.post(
    PLACE,
    form('draft', async ({ database, actor }, clientId, { rules = '', edits = '' }) => {
      const body = { rules: parseJson(rules), edits: Number(edits) };
      await saveDraft(database, actor, clientId, parse(draftBody, body));
    }),
  );
  app.post(`${PLACE}/move`, form('move', moveRule));
  app.post(
    `${PLACE}/release`,
    form('release', async ({ database, actor }, clientId, { version = '', edits = '', comment = '' }) => {
      const body = { version: version === '' ? null : Number(version), edits: Number(edits), comment };
      await release(database, actor, clientId, parse(releaseBody, body));
    }),
  );
}
