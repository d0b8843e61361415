/** `/admin/workbench`: three benches; what is pasted is looked at and forgotten. */
import type { Child } from 'hono/jsx';

import { Fault } from '../../../shared/fault.ts';
import { parseJson } from '../../../shared/json.ts';
import type { Surface } from '../../http/surface.ts';
import { listKeys } from '../keys/statements.ts';
import { requirePermission } from '../staff/permissions.ts';
import type { Visitor } from '../staff/access.ts';
import { messageBytes, requireClientId, viewDryRun, viewExplanation } from './operations.ts';
import type { Console } from '../web/console.ts';
import { readForm } from '../web/form.ts';
import { linkTo, Page, respond } from '../web/layout.tsx';
import { type Bench, BENCHES, DryRun, Explanation, Validation, WorkbenchPage } from './page.tsx';
import { PLACES } from '../web/places.ts';
import { Notice } from '../web/ui.tsx';
import { inSite } from '../../store/in-site.ts';

const { path: PLACE } = PLACES.workbench;
const MAX_KEYS = 200;

interface Pasted {
  readonly text: string;
  readonly clientId: string;
}

export function addWorkbench(app: Surface, { deps, workbench, access }: Console): void {
  const { config } = deps;
  const path = linkTo(config, PLACE);
  const benchOf = (name: string | undefined) => BENCHES.find((bench) => bench.name === name);

  const show = async (
    session: Visitor,
    bench: Bench,
    pasted: Pasted,
    result: Child,
    status = 200,
  ): Promise<Response> => {
    const { site, permissions } = session.actor;
    const benches = BENCHES.filter(({ permission }) => permissions.has(permission)).map(({ name }) => name);
    const filter = { text: '', status: '', protocol: '' };
    const keys =
      bench === 'message'
        ? await inSite(session.database, site).run(listKeys(site, filter, null, MAX_KEYS))
        : undefined;
    const senders = keys?.filter(({ protocols }) => protocols.some((protocol) => protocol.startsWith('hl7')));
    const page = (
      <Page title="Workbench" config={config} session={session} place={PLACE}>
        <WorkbenchPage
          {...{ path, bench, benches }}
          pasted={pasted.text}
          clientId={pasted.clientId}
          {...(senders === undefined ? {} : { keys: senders })}
        >
          {result}
        </WorkbenchPage>
      </Page>
    );
    return respond(config, page, status);
  };

  const results: Readonly<Record<Bench, (session: Visitor, pasted: Pasted, requestId: string) => Promise<Child>>> = {
    async assertion({ actor, database }, { text }) {
      return (
        <Explanation explained={viewExplanation(await workbench.explainAssertion(database, actor.site, text.trim()))} />
      );
    },
    async message({ actor, database }, { text, clientId }, requestId) {
      requireClientId(clientId);
      const bytes = messageBytes(text);
      const run = await workbench.dryRun(database, { site: actor.site, clientId }, bytes, requestId);
      return <DryRun run={viewDryRun(run, bytes)} />;
    },
    // Not a promise by itself, but a fault of parseJson must be one.
    async resource(_session, { text }) {
      return <Validation issues={workbench.validate(parseJson(text))} />;
    },
  };

  app.get(PLACE, async (c) =>
    show(await access.page(c, 'site.api_keys.read'), 'assertion', { text: '', clientId: '' }, null),
  );

  app.get(`${PLACE}/:bench`, async (c) => {
    const session = await access.page(c);
    const bench = benchOf(c.req.param('bench'));
    if (bench === undefined) return c.notFound();
    requirePermission(session.actor, bench.permission);
    return show(session, bench.name, { text: '', clientId: '' }, null);
  });

  app.post(`${PLACE}/:bench`, async (c) => {
    const session = await access.page(c);
    const bench = benchOf(c.req.param('bench'));
    if (bench === undefined) return c.notFound();
    requirePermission(session.actor, bench.permission);
    // A form takes three characters for one that it must escape.
    const form = await readForm(c, 3 * Math.max(config.FHIR_MAX_BODY_BYTES, config.HL7_MAX_MESSAGE_BYTES));
    const pasted = { text: form.get('pasted') ?? '', clientId: form.get('clientId') ?? '' };
    try {
      return await show(session, bench.name, pasted, await results[bench.name](session, pasted, c.get('requestId')));
    } catch (error) {
      if (!(error instanceof Fault) || (error.kind !== 'malformed' && error.kind !== 'not-found')) throw error;
      return show(session, bench.name, pasted, <Notice tone="bad">{error.message}</Notice>, 422);
    }
  });
}
