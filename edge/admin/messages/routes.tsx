/** `/admin/messages`: the log of HL7 messages, one of them, and replay. */
import { getCookie, setCookie } from 'hono/cookie';
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { pagedStream } from '../../http/paged-stream.ts';
import type { Surface } from '../../http/surface.ts';
import { RANGE_HOURS } from '../../store/message-candidates.ts';
import { isBackwards } from '../api/instant.ts';
import { parse } from '../api/parse.ts';
import { exportMessages, findMessages, messageFilter, messageQuery } from './listing.ts';
import { copyForTicket, findMessage, replayComment } from './operations.ts';
import type { Console } from '../web/console.ts';
import { authorOf, requirePermission } from '../staff/actor.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { readInstant } from '../web/wall-clock.ts';
import { FILE_TYPES, fileOf } from './file.ts';
import { MessageList } from './list.tsx';
import { readColumns } from './table.tsx';
import type { MessageReplay } from './message-replay.ts';
import { MessagePage } from './page.tsx';
import { ReplayPage } from './replay.tsx';
import { findResource, resourceQuery } from './find-resource.ts';
import { ResourcePage } from './resource.tsx';
import { Code, Notice } from '../web/ui.tsx';

const { path: PLACE } = PLACES.messages;
/** The columns that this browser's reader has chosen, for a year. */
const COLUMNS_COOKIE = 'gateway-columns';
const COOKIE_OF_CHOICE = {
  prefix: 'host',
  path: '/',
  secure: true,
  httpOnly: true,
  sameSite: 'Lax',
  maxAge: 365 * 86_400,
} as const;
/** Filters that are not in an address. */
const PATIENT_DATA = ['patient', 'q'];
const fileType = z.enum(['csv', 'ndjson']);

/** The filter of the form, with its times as instants. */
const asked = (query: Record<string, string>, timeZone: string): Record<string, string> => ({
  ...query,
  from: readInstant(query['from'], timeZone),
  to: readInstant(query['to'], timeZone),
});
/** The query of the replay of the same messages; undefined for a filter that replays do not have, and without one. */
function replayQuery(
  {
    patient,
    q,
    reason = '',
    range = '',
    outcome = '',
    type = '',
    clientId = '',
    from = '',
    to = '',
    unmapped = '',
  }: Query,
  nowMs: number,
): string | undefined {
  // `today` depends on the site's midnight.
  const hours = new Map<string, number>(Object.entries(RANGE_HOURS)).get(range);
  const hasOther =
    [patient, q].some((text) => (text ?? '') !== '') ||
    outcome === 'warnings' ||
    // Both times apply to the list.
    (range !== '' && (hours === undefined || from !== '')) ||
    !/^(?:[a-z][a-z-]*)?$/.test(reason);
  const since = hours === undefined ? from : new Date(nowMs - hours * 3_600_000).toISOString();
  const given = Object.entries({ outcome, type, reason, clientId, from: since, to, unmapped }).filter(
    ([, value]) => value !== '',
  );
  return hasOther || given.length === 0 ? undefined : new URLSearchParams([...given, ['count', '1']]).toString();
}
type Query = Readonly<Record<string, string | undefined>>;

const replayForm = z.object({ comment: replayComment });

export function addMessagePages(app: Surface, { deps, access, queries }: Console, replays: MessageReplay): void {
  const { config } = deps;
  const path = linkTo(config, PLACE);

  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.messages.read');
    const address = c.req.query();
    if ((address['patient'] ?? '') !== '') {
      return c.redirect(await queries.addressOf(session.actor, path, address, PATIENT_DATA), 303);
    }
    const query = asked(await queries.open(session.actor, address), session.timeZone);
    const term = query['patient'] || query['q'] || '';
    const elsewherePaths = {
      patient: await queries.addressOf(session.actor, path, { patient: term }, PATIENT_DATA),
      controlId: await queries.addressOf(session.actor, path, { q: term }, PATIENT_DATA),
    };
    const keyPath = linkTo(config, PLACES.keys.path);
    const requestsPath = linkTo(config, PLACES.requests.path);
    const replays = replayQuery(query, deps.now());
    const replayPath =
      replays === undefined || !session.actor.permissions.has(PLACES.replays.permission)
        ? undefined
        : `${linkTo(config, PLACES.replays.path)}?${replays}`;
    const columns = readColumns(getCookie(c, COLUMNS_COOKIE, 'host'));
    const withPatients = columns.includes('patient') ? 'true' : '';
    const parsed = readQuery(messageQuery, { ...query, withPatients });
    const list = isBackwards(parsed) ? null : await findMessages(session, parsed);
    return respond(
      { title: 'Messages', config, session, place: PLACE },
      <MessageList {...{ list, query, address, elsewherePaths, columns, replayPath, path, keyPath, requestsPath }} />,
    );
  });

  app.post(PLACE, async (c) => {
    const { actor } = await access.page(c, 'site.messages.read');
    const typed = Object.fromEntries(await readForm(c));
    return c.redirect(await queries.addressOf(actor, path, typed, PATIENT_DATA), 303);
  });

  app.post(`${PLACE}/columns`, async (c) => {
    await access.page(c, 'site.messages.read');
    const form = await readForm(c);
    const columns = readColumns(form.getAll('columns').join('.'));
    setCookie(c, COLUMNS_COOKIE, columns.join('.'), COOKIE_OF_CHOICE);
    const address = new URLSearchParams(form.get('address') ?? '').toString();
    return c.redirect(address === '' ? path : `${path}?${address}`, 303);
  });

  app.get(`${PLACE}/file/:type`, async (c) => {
    const session = await access.page(c, 'site.messages.read');
    const type = fileType.safeParse(c.req.param('type')).data;
    if (type === undefined) throw new Fault('not-found', 'there is nothing at this address');
    const query = await queries.open(session.actor, c.req.query());
    const filter = readQuery(messageFilter, asked(query, session.timeZone));
    const pages = fileOf(type, exportMessages(session, filter));
    // Before the first byte of the body: a fault can still be answered, and the search is recorded.
    const { value: first = '' } = await pages.next();
    return new Response(pagedStream(deps, first, pages), {
      headers: {
        'Content-Type': FILE_TYPES[type],
        'Content-Disposition': `attachment; filename="messages.${type}"`,
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
      },
    });
  });

  app.get(`${PLACE}/resources/:type/:id`, async (c) => {
    const session = await access.page(c, 'site.messages.read');
    const { type, id } = c.req.param();
    const { version } = readQuery(resourceQuery, c.req.query());
    const resource = await findResource(session.database, session.actor.site, type, id, version);
    return respond(
      { title: `${type}/${id}`, config, session, place: PLACE, trail: [PLACES.messages] },
      <ResourcePage {...{ resource, path }} keyPath={linkTo(config, PLACES.keys.path)} />,
    );
  });

  app.get(`${PLACE}/:id`, async (c) => {
    const session = await access.page(c, 'site.messages.read');
    const message = await findMessage(replays, session, c.req.param('id'), c.get('requestId'));
    return respond(
      {
        title: message.controlId === '' ? 'Message without a control id' : `Message ${message.controlId}`,
        config,
        session,
        place: PLACE,
        trail: [PLACES.messages],
      },
      c.req.query('replayed') === undefined ? null : (
        <Notice tone="good">The message was replayed. This is its new outcome.</Notice>
      ),
      <MessagePage
        {...{ message, path }}
        isRaw={c.req.query('view') === 'raw'}
        keyPath={linkTo(config, PLACES.keys.path)}
        mayReplay={session.actor.permissions.has('site.messages.replay')}
      />,
    );
  });

  app.get(`${PLACE}/:id/ticket-copy`, async (c) => {
    const session = await access.page(c, 'site.messages.read');
    const id = messageId(c.req.param('id'));
    const text = await copyForTicket(session.database, session.actor.site, id);
    return respond(
      {
        title: 'Copy for a ticket',
        config,
        session,
        place: PLACE,
        trail: [PLACES.messages, { title: 'The message', path: `${PLACE}/${id}` }],
      },
      <p>
        Names, addresses, telephone numbers, identifiers and texts are replaced, and all dates are moved by one number
        of days. Codes, structure and faults are those of the message.
      </p>,
      <p>
        Read the copy before you send it. Do not send the real time of the message with it: it shows by how much the
        dates moved.
      </p>,
      <Code text={text} label="The copy" copy />,
    );
  });

  app.get(`${PLACE}/:id/replay`, async (c) => {
    const session = await access.page(c, 'site.messages.replay');
    const id = messageId(c.req.param('id'));
    requirePermission(session.actor, 'site.messages.read');
    const { site } = session.actor;
    const isTrial = c.req.query('rules') === 'draft';
    const which = isTrial ? 'draft' : 'live';
    const preview = await replays.previewReplay(session.database, site, id, c.get('requestId'), which);
    return respond(
      {
        title: isTrial ? 'Preview with the draft of its rules' : 'Preview of a replay',
        config,
        session,
        place: PLACE,
        trail: [PLACES.messages, { title: 'The message', path: `${PLACE}/${id}` }],
      },
      <ReplayPage {...{ preview, isTrial }} path={`${path}/${id}`} />,
    );
  });

  app.post(`${PLACE}/:id/replay`, async (c) => {
    const session = await access.page(c, 'site.messages.replay');
    const id = messageId(c.req.param('id'));
    const form = await readForm(c);
    const isForced = form.get('apply') === 'everything';
    const { comment } = parse(replayForm, { comment: form.get('comment') ?? '' }, 'malformed', 'the form');
    const asked = { author: authorOf(session.actor), comment, by: session.auditActor, isForced };
    await replays.replay(session.database, session.actor.site, id, asked, c.get('requestId'));
    return c.redirect(`${path}/${id}?replayed=1`, 303);
  });
}

/** @throws Fault `not-found` for a text that is not a UUID */
function messageId(id: string): string {
  if (!isUuid(id)) throw new Fault('not-found', 'no such message');
  return id;
}
