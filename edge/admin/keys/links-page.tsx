/** The page of the links of an API key. */
import type { Context } from 'hono';

import { tryPageOf } from '../../http/reference-address.ts';
import type { KeyLinkRow } from '../../store/key-link.ts';
import { parse } from '../api/parse.ts';
import type { Visitor } from '../staff/access.ts';
import type { Console } from '../web/console.ts';
import { readForm } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Badge, Code, Copyable, Empty, Notice, Table, When } from '../web/ui.tsx';
import { requireKey } from './keys.ts';
import { addLink, endLink, findLinks, newLink } from './links.ts';

const { path: PLACE } = PLACES.keys;

const LIFETIMES = [
  { hours: 8, title: '8 hours' },
  { hours: 24, title: '1 day' },
  { hours: 72, title: '3 days' },
  { hours: 168, title: '7 days' },
] as const;

const Standing = ({ row: { is_live: isLive, revoked_by: revokedBy } }: { row: KeyLinkRow }) => {
  if (isLive) return <Badge tone="good">usable</Badge>;
  return revokedBy === null ? <Badge tone="plain">expired</Badge> : <Badge tone="plain">revoked by {revokedBy}</Badge>;
};

const Links = ({ rows, path, mayUpdate }: { rows: readonly KeyLinkRow[]; path: string; mayUpdate: boolean }) => (
  <Table
    label="Links"
    rows={rows}
    columns={{
      Created: (row) => <When at={row.created_at} />,
      By: (row) => row.created_by,
      Expires: (row) => <When at={row.expires_at} />,
      Status: (row) => <Standing row={row} />,
      Action: (row) =>
        row.is_live && mayUpdate ? (
          <form method="post" action={`${path}/${row.link_id}/revoke`}>
            <button class="secondary small">Revoke</button>
          </form>
        ) : null,
    }}
  />
);

/** @param secret if a link was created */
async function show(
  { deps: { config } }: Console,
  session: Visitor,
  clientId: string,
  secret?: string,
): Promise<Response> {
  const { site, permissions } = session.actor;
  const key = await requireKey(session.database, site, clientId);
  const rows = await findLinks(session.database, site, clientId);
  const path = `${linkTo(config, PLACE)}/${clientId}/links`;
  const mayUpdate = permissions.has('site.api_keys.update');
  const hl7 = config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL ?? '';
  const oauth = config.INTEGRATION_OAUTH_PUBLIC_BASE_URL ?? '';
  const page = secret === undefined ? undefined : tryPageOf(config, secret);
  return respond(
    {
      title: 'Links for the integrator',
      config,
      session,
      place: PLACE,
      trail: [PLACES.keys, { title: key.name, path: `${PLACE}/${clientId}` }],
    },
    <p class="lead">
      With a link, an integrator checks messages and sees the rejected requests of this API key, before the client can
      sign. A link opens nothing else.
    </p>,
    secret === undefined ? null : (
      <Notice tone="good">
        <p>The link is created. Give its secret to the integrator now: the gateway does not show it again.</p>
        <Copyable text={secret} label="the secret" />
        {page === undefined ? null : (
          <>
            <p>Or send this address: it opens a page that uses the link in a browser. Treat it like the secret.</p>
            <Copyable text={page} label="the address" />
          </>
        )}
      </Notice>
    ),
    secret === undefined ? null : (
      <Code
        label="Use of the link"
        copy
        text={[
          `LINK=${secret}`,
          `curl -H "Authorization: Bearer $LINK" -H "Content-Type: text/plain" --data-binary @message.hl7 ${hl7}/hl7/check`,
          `curl -H "Authorization: Bearer $LINK" ${oauth}/oauth2/refusals`,
        ].join('\n')}
      />
    ),
    mayUpdate && key.status === 'active' ? (
      <form method="post" action={path} class="filter">
        <label>
          Lifetime{' '}
          <select name="hours">
            {LIFETIMES.map(({ hours, title }) => (
              <option value={`${hours}`} selected={hours === 24}>
                {title}
              </option>
            ))}
          </select>
        </label>{' '}
        <button>Create a link</button>
      </form>
    ) : null,
    rows.length === 0 ? <Empty>This API key has no links.</Empty> : <Links {...{ rows, path, mayUpdate }} />,
  );
}

export async function linksPage(console: Console, c: Context, clientId: string): Promise<Response> {
  return show(console, await console.access.page(c, 'site.api_keys.read'), clientId);
}

export async function createLinkPage(console: Console, c: Context, clientId: string): Promise<Response> {
  const session = await console.access.page(c, 'site.api_keys.update');
  const { hours } = parse(newLink, { hours: Number((await readForm(c)).get('hours') ?? '') });
  const { secret } = await addLink(session.database, session.actor, clientId, hours);
  return show(console, session, clientId, secret);
}

export async function revokeLinkPage(
  console: Console,
  c: Context,
  clientId: string,
  linkId: string,
): Promise<Response> {
  const { actor, database } = await console.access.page(c, 'site.api_keys.update');
  await endLink(database, actor, clientId, linkId);
  return c.redirect(`${linkTo(console.deps.config, PLACE)}/${clientId}/links`, 303);
}
