/** `/admin/settings/file`: the site as a file, for people. */
import type { Context } from 'hono';
import type { Child } from 'hono/jsx';

import { Fault } from '../../../shared/fault.ts';
import { parseJson } from '../../../shared/json.ts';
import type { GatewayEnv, Surface } from '../../http/surface.ts';
import { API_PATH } from '../api/operation.ts';
import type { Visitor } from '../staff/access.ts';
import { requirePermission } from '../staff/actor.ts';
import type { Notifications } from '../subscriptions/notifications.ts';
import type { Console } from '../web/console.ts';
import { readForm } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Notice } from '../web/ui.tsx';
import { applyFile } from './apply.ts';
import { API_LIMITS, createdSubscriptions, planDeps } from './operations.ts';
import { Applied, type FileForm, PlanView, SiteFilePage } from './page.tsx';
import { planFile } from './plan.ts';

const PLACE = `${PLACES.settings.path}/file`;
/** A form needs three characters for an escaped one. The command line takes larger files. */
const MAX_FORM_BYTES = 3 * 1024 * 1024;
const NOTHING: FileForm = { file: '', prune: false, copy: false };

export function addSiteFilePages(app: Surface, { deps, access }: Console, notifications: Notifications): void {
  const { config } = deps;
  const path = linkTo(config, PLACE);
  const planning = planDeps(deps, notifications);

  const show = (session: Visitor, form: FileForm, content: Child, fault?: Fault): Promise<Response> => {
    return respond(
      {
        title: 'Site as a file',
        config,
        session,
        place: PLACES.settings.path,
        trail: [PLACES.settings],
        scripts: ['site-file.js'],
        status: fault === undefined ? 200 : 422,
      },
      <SiteFilePage {...form} {...{ path, fault }} exportPath={linkTo(config, `${API_PATH}/export`)}>
        {content}
      </SiteFilePage>,
    );
  };

  const enter = async (c: Context<GatewayEnv>): Promise<Visitor> => {
    const session = await access.page(c, 'site.settings.read');
    requirePermission(session.actor, 'site.api_keys.read');
    return session;
  };

  /** Runs a step of the form; a fault of its file is shown above the form. */
  const step = (use: (session: Visitor, form: FileForm, file: unknown, given: URLSearchParams) => Promise<Child>) =>
    async function answer(c: Context<GatewayEnv>): Promise<Response> {
      const session = await enter(c);
      const given = await readForm(c, MAX_FORM_BYTES);
      const form = { file: given.get('file') ?? '', prune: given.has('prune'), copy: given.has('copy') };
      try {
        return await show(session, form, await use(session, form, parseJson(form.file), given));
      } catch (error) {
        if (!(error instanceof Fault) || !['malformed', 'invalid', 'conflict', 'too-large'].includes(error.kind))
          throw error;
        return show(session, form, null, error);
      }
    };

  const planned = async (session: Visitor, form: FileForm, file: unknown): Promise<Child> => {
    const { actor, database } = session;
    const options = { prune: form.prune, copy: form.copy, ...API_LIMITS };
    const plan = await planFile({ ...planning, database }, actor, file, options);
    return <PlanView {...form} {...{ plan, actor, path }} />;
  };

  app.get(PLACE, async (c) => show(await enter(c), NOTHING, null));

  app.post(`${PLACE}/plan`, step(planned));

  app.post(
    `${PLACE}/apply`,
    step(async (session, form, file, given) => {
      const { actor, auditActor, database } = session;
      const { prune, copy } = form;
      const fingerprint = given.get('fingerprint') ?? '';
      const comment = given.get('comment')?.trim() || undefined;
      const options = { prune, copy, fingerprint, comment, ...API_LIMITS, isOperator: false };
      try {
        const plan = await applyFile({ ...planning, database }, actor, auditActor, file, options);
        if (plan.items.some(({ kind }) => kind === 'subscription')) deps.wake?.(actor.site);
        return <Applied {...{ plan }} subscriptions={await createdSubscriptions(deps, actor.site, plan)} />;
      } catch (error) {
        if (!(error instanceof Fault) || error.kind !== 'precondition-failed') throw error;
        return (
          <>
            <Notice tone="bad">
              The site has changed since the plan. Nothing was written. This is the plan of now:
            </Notice>
            {await planned(session, form, file)}
          </>
        );
      }
    }),
  );
}
