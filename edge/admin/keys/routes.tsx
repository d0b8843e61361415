/** `/admin/keys` and `/admin/refusals`: API keys listed, made, changed, and why they were refused. */
import type { Context } from 'hono';

import { Fault } from '../../../shared/fault.ts';
import { readJwks } from '../../../shared/oauth/jwks.ts';
import { fetchJwks } from '../../http/fetch-jwks.ts';
import type { Surface } from '../../http/surface.ts';
import { changesOf, type KeyRow, listKeys, readKey } from '../../store/admin-key.ts';
import { findRefusals } from '../../store/admin-refusal.ts';
import { CLIENT_ID_PART, fromCursor, INSTANT_PART, toList, UUID_PART } from '../api/cursor.ts';
import { examplesFor } from './examples.ts';
import type { JwksFindings } from './rules.ts';
import { changeKey, createKey, noSuchKey } from './keys.ts';
import type { Session } from '../staff/session.ts';
import type { Console } from '../web/console.ts';
import { errorsByField, readForm } from '../web/form.ts';
import { EMPTY_KEY, fieldsOfForm, fieldsOfKey, type KeyFields, toInput } from './fields.ts';
import { KeyForm } from './form.tsx';
import { KeyList } from './list.tsx';
import { KeyPage } from './page.tsx';
import { linkTo, Page, respond } from '../web/layout.tsx';
import { RefusalPage } from '../refusals/list.tsx';
import { Notice } from '../web/ui.tsx';

const PAGE_ITEMS = 50;
const PLACE = '/admin/keys';
const RECENT_REFUSALS = 5;
const RECENT_CHANGES = 50;

const SAVED: Readonly<Record<string, string>> = {
  created: 'The API key is created. Give its Client ID to the integrator.',
  changed: 'The change is saved.',
  active: 'The API key is enabled.',
  disabled: 'The API key is disabled: it gets no more tokens, and those it has no longer work.',
};

export function addKeyPages(app: Surface, { deps, access }: Console): void {
  const { config, database } = deps;
  const keysPath = linkTo(config, PLACE);

  const requireKey = async (site: string, clientId: string): Promise<KeyRow> => {
    const [key] = await database.run(readKey(site, clientId));
    if (key === undefined) throw noSuchKey();
    return key;
  };

  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.api_keys.read');
    const query = c.req.query();
    const after = fromCursor(query['cursor'], INSTANT_PART, CLIENT_ID_PART);
    const filter = { text: query['q'] ?? '', status: query['status'] ?? '', protocol: query['protocol'] ?? '' };
    const rows = await database.run(listKeys(session.actor.site, filter, after, PAGE_ITEMS + 1));
    const list = toList(
      rows,
      PAGE_ITEMS,
      (row) => [row.created_at, row.client_id],
      (row) => row,
    );
    const mayCreate = session.actor.permissions.has('site.api_keys.create');
    const page = (
      <Page title="API keys" config={config} session={session} place={PLACE}>
        <KeyList {...{ list, query, mayCreate }} path={keysPath} />
      </Page>
    );
    return respond(config, page);
  });

  interface FormState {
    readonly fields: KeyFields;
    readonly fault?: Fault;
    /** The key that is edited; undefined to create. */
    readonly key?: KeyRow;
  }

  const formPage = (session: Session, { fields, fault, key }: FormState): Promise<Response> => {
    const path = key === undefined ? keysPath : `${keysPath}/${key.client_id}`;
    const page = (
      <Page
        title={key === undefined ? 'New API key' : `Edit ${key.name}`}
        config={config}
        session={session}
        place={PLACE}
      >
        {fault === undefined ? null : (
          <Notice tone="bad">
            {fault.kind === 'invalid' ? 'Not saved: look at the fields marked below.' : `Not saved: ${fault.message}. `}
            {fault.kind === 'invalid' ? null : <a href={`${path}/edit`}>Edit it as it is now</a>}
          </Notice>
        )}
        <KeyForm
          action={path}
          cancel={path}
          fields={fields}
          errors={fault === undefined ? new Map() : errorsByField(fault)}
          button={key === undefined ? 'Create API key' : 'Save'}
          version={key?.version}
        />
      </Page>
    );
    return respond(config, page, fault === undefined ? 200 : fault.kind === 'invalid' ? 422 : 409);
  };

  /** What a form that was not accepted is answered with; other failures are not the form's. */
  const isOfForm = (error: unknown): error is Fault =>
    error instanceof Fault && (error.kind === 'invalid' || error.kind === 'precondition-failed');

  app.get(`${PLACE}/new`, async (c) => formPage(await access.page(c, 'site.api_keys.create'), { fields: EMPTY_KEY }));

  app.post(PLACE, async (c) => {
    const session = await access.page(c, 'site.api_keys.create');
    const fields = fieldsOfForm(await readForm(c.req.raw));
    try {
      const { key } = await createKey(deps, session.actor, toInput(fields));
      return c.redirect(`${keysPath}/${key.client_id}?saved=created&look=1`, 303);
    } catch (error) {
      if (!isOfForm(error)) throw error;
      return formPage(session, { fields, fault: error });
    }
  });

  /** The keys as far as they can be known without asking anyone, or, asked for, as the JWKS URI has them now. */
  const lookAt = async (
    key: KeyRow,
    isAsked: boolean,
  ): Promise<{ findings: JwksFindings | null; problems: readonly string[] }> => {
    if (key.jwks !== null) {
      const { keys, problems } = readJwks(key.jwks);
      return { findings: { keys }, problems };
    }
    if (key.jwks_uri === null || !isAsked) return { findings: null, problems: [] };
    const fetched = await fetchJwks(deps, key.jwks_uri);
    if ('failed' in fetched) return { findings: { keys: [], unreachable: fetched.reason }, problems: [] };
    return { findings: { keys: fetched.jwks.keys }, problems: fetched.jwks.problems };
  };

  app.get(`${PLACE}/:clientId`, async (c) => {
    const session = await access.page(c, 'site.api_keys.read');
    const { site, permissions } = session.actor;
    const clientId = c.req.param('clientId');
    const [[key], refusals, changes] = await database.batch([
      readKey(site, clientId),
      findRefusals(site, { clientId, surface: '', code: '', text: '' }, null, RECENT_REFUSALS),
      changesOf(site, clientId, null, RECENT_CHANGES),
    ]);
    if (key === undefined) throw noSuchKey();
    const { findings, problems } = await lookAt(key, c.req.query('look') === '1');
    const saved = SAVED[c.req.query('saved') ?? ''];
    const page = (
      <Page title={key.name} config={config} session={session} place={PLACE}>
        {saved === undefined ? null : <Notice tone="good">{saved}</Notice>}
        <KeyPage
          keyRow={key}
          path={`${keysPath}/${clientId}`}
          refusalsPath={linkTo(config, `/admin/refusals?clientId=${clientId}`)}
          {...{ findings, problems, refusals, changes }}
          examples={examplesFor(key, findings?.keys ?? [], config)}
          may={{ update: permissions.has('site.api_keys.update'), disable: permissions.has('site.api_keys.disable') }}
        />
      </Page>
    );
    return respond(config, page);
  });

  app.get(`${PLACE}/:clientId/edit`, async (c) => {
    const session = await access.page(c, 'site.api_keys.update');
    const key = await requireKey(session.actor.site, c.req.param('clientId'));
    return formPage(session, { fields: fieldsOfKey(key), key });
  });

  const versionOf = (form: URLSearchParams): number[] => {
    const version = form.get('version') ?? '';
    if (!/^\d{1,9}$/.test(version)) throw new Fault('malformed', 'the form does not say which version it changes');
    return [Number(version)];
  };

  app.post(`${PLACE}/:clientId`, async (c) => {
    const session = await access.page(c, 'site.api_keys.update');
    const clientId = c.req.param('clientId');
    const form = await readForm(c.req.raw);
    const fields = fieldsOfForm(form);
    try {
      await changeKey(deps, session.actor, clientId, versionOf(form), toInput(fields));
      return c.redirect(`${keysPath}/${clientId}?saved=changed&look=1`, 303);
    } catch (error) {
      if (!isOfForm(error)) throw error;
      // The version stays the one that was read, so that saving again cannot overwrite what nobody has seen.
      const key = await requireKey(session.actor.site, clientId);
      return formPage(session, { fields, fault: error, key: { ...key, version: versionOf(form)[0] ?? 0 } });
    }
  });

  app.post(`${PLACE}/:clientId/status`, async (c) => switchStatus(c));

  const switchStatus = async (c: Context): Promise<Response> => {
    const session = await access.page(c, 'site.api_keys.read');
    const clientId = c.req.param('clientId') ?? '';
    const form = await readForm(c.req.raw);
    const status = form.get('status') ?? '';
    await changeKey(deps, session.actor, clientId, versionOf(form), { status });
    return c.redirect(`${keysPath}/${clientId}?saved=${status}`, 303);
  };

  app.get('/admin/refusals', async (c) => {
    const session = await access.page(c, 'site.api_keys.read');
    const query = c.req.query();
    const before = fromCursor(query['cursor'], UUID_PART)?.[0] ?? null;
    const filter = {
      clientId: query['clientId'] ?? '',
      surface: query['surface'] ?? '',
      code: query['code'] ?? '',
      text: query['q'] ?? '',
    };
    const rows = await database.run(findRefusals(session.actor.site, filter, before, PAGE_ITEMS + 1));
    const list = toList(
      rows,
      PAGE_ITEMS,
      (row) => [row.refusal_id],
      (row) => row,
    );
    const page = (
      <Page title="Why was I refused?" config={config} session={session} place="/admin/refusals">
        <RefusalPage {...{ list, query }} path={linkTo(config, '/admin/refusals')} keyPath={keysPath} />
      </Page>
    );
    return respond(config, page);
  });
}
