/** The page for the integrator of a key, to be printed, copied, or sent as one Markdown file. */
import type { Context } from 'hono';

import type { Visitor } from '../staff/access.ts';
import type { Console } from '../web/console.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Code, Fact } from '../web/ui.tsx';
import { handoverOf, type HandoverPart, toMarkdown } from './handover.ts';
import { requireKey } from './keys.ts';
import { inspectStored } from './stored-keys.ts';

const { path: PLACE } = PLACES.keys;

const Part = ({ part: { title, lead, facts = [], steps = [], examples = [] } }: { part: HandoverPart }) => (
  <section>
    <h2>{title}</h2>
    {lead === undefined ? null : <p>{lead}</p>}
    {facts.length === 0 ? null : (
      <dl class="facts">
        {facts.map(([name, value]) => (
          <Fact name={name}>
            <code>{value}</code>
          </Fact>
        ))}
      </dl>
    )}
    {steps.length === 0 ? null : (
      <ol>
        {steps.map((step) => (
          <li>{step}</li>
        ))}
      </ol>
    )}
    {examples.map((example) => (
      <>
        <h3>{example.title}</h3>
        <Code text={example.text} label={example.title} copy />
      </>
    ))}
  </section>
);

interface Handover {
  readonly session: Visitor;
  readonly title: string;
  readonly parts: readonly HandoverPart[];
}

/** Reads the JWKS URI, so that the programs sign with the client's algorithm. */
async function prepare({ deps, access }: Console, c: Context, clientId: string): Promise<Handover> {
  const session = await access.page(c, 'site.api_keys.read');
  const key = await requireKey(session.database, session.actor.site, clientId);
  const { findings } = await inspectStored(deps, key, true);
  const title = `How to connect to ${session.siteName}`;
  return { session, title, parts: handoverOf(key, findings?.keys ?? [], session.siteName, deps.config) };
}

export async function handoverPage(console: Console, c: Context, clientId: string): Promise<Response> {
  const { session, title, parts } = await prepare(console, c, clientId);
  const { config } = console.deps;
  const path = `${linkTo(config, PLACE)}/${clientId}`;
  return respond(
    {
      title,
      config,
      session,
      place: PLACE,
      trail: [PLACES.keys, { title: 'The API key', path: `${PLACE}/${clientId}` }],
    },
    <p class="actions">
      <a class="button" href={`${path}/handover/markdown`} download={`${clientId}.md`}>
        Download as Markdown
      </a>
      <button type="button" class="secondary" data-copy={toMarkdown(title, parts)}>
        Copy as Markdown
      </button>
    </p>,
    <p class="quiet">
      Print it or send it to the integrator. It has no secret, no notes, and not the name of the key.
    </p>,
    parts.map((part) => <Part part={part} />),
  );
}

export async function handoverFile(console: Console, c: Context, clientId: string): Promise<Response> {
  const { title, parts } = await prepare(console, c, clientId);
  return new Response(toMarkdown(title, parts), {
    headers: {
      'Content-Type': 'text/markdown; charset=utf-8',
      'Content-Disposition': `attachment; filename="${clientId}.md"`,
      'Cache-Control': 'no-store',
    },
  });
}
