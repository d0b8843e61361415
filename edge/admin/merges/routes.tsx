/** `/admin/merges`: merges of patients, and their undo. */
import { Fault } from '../../../shared/fault.ts';
import type { Surface } from '../../http/surface.ts';
import { viewList } from '../api/cursor.ts';
import type { FailedForm } from '../record/form.tsx';
import type { Visitor } from '../staff/access.ts';
import { authorOf } from '../staff/actor.ts';
import type { Console } from '../web/console.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Notice } from '../web/ui.tsx';
import { findMerges, mergeId, mergeQuery, undoRequest, viewMerge, type MergeUndo } from './merges.ts';
import { MergeList, UndoPage } from './page.tsx';

const { path: PLACE } = PLACES.merges;

export function addMergePages(app: Surface, { deps: { config }, access }: Console, merges: MergeUndo): void {
  const path = linkTo(config, PLACE);
  const messagePath = linkTo(config, PLACES.messages.path);

  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.patients.unmerge');
    const { undone, ...query } = c.req.query();
    const asked = readQuery(mergeQuery, query);
    const list = viewList(await findMerges(session.database, session.actor.site, asked), viewMerge);
    return respond(
      { title: 'Merges', config, session, place: PLACE },
      undone === undefined ? null : <Notice tone="good">The merge was undone.</Notice>,
      <MergeList {...{ list, query, path, messagePath }} />,
    );
  });

  const show = async (session: Visitor, id: string, failed?: FailedForm): Promise<Response> => {
    const preview = await merges.previewUndo(session.database, session.actor.site, id);
    return respond(
      {
        title: 'Undo a merge',
        config,
        session,
        place: PLACE,
        trail: [PLACES.merges],
        status: failed === undefined ? 200 : 409,
      },
      <UndoPage {...{ preview, messagePath, failed }} path={`${path}/${id}`} />,
    );
  };

  app.get(`${PLACE}/:id`, async (c) => show(await access.page(c, 'site.patients.unmerge'), mergeId(c.req.param('id'))));

  app.post(`${PLACE}/:id/undo`, async (c) => {
    const session = await access.page(c, 'site.patients.unmerge');
    const { actor, database } = session;
    const asked = readQuery(undoRequest, Object.fromEntries(await readForm(c)));
    const id = mergeId(c.req.param('id'));
    try {
      await merges.undoMerge(database, actor.site, id, { author: authorOf(actor), ...asked });
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'conflict') throw error;
      return show(session, id, { fault: error, given: asked });
    }
    return c.redirect(`${path}?undone=1`, 303);
  });
}
