/** `/admin/workbench`: three benches, which check a pasted text and store nothing. */
import type { Child } from 'hono/jsx';

import { Fault } from '../../../shared/fault.ts';
import { parseJson } from '../../../shared/json.ts';
import { needOf } from '../../http/memory.ts';
import type { Surface } from '../../http/surface.ts';
import type { Config } from '../../config.ts';
import { type KeyRow, listKeys } from '../keys/statements.ts';
import { requirePermission } from '../staff/actor.ts';
import type { Visitor } from '../staff/access.ts';
import { messageBytes, requireClientId, viewDryRun, viewExplanation } from './operations.ts';
import type { Console } from '../web/console.ts';
import { readForm } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { type Bench, BENCHES } from './benches.ts';
import { WorkbenchPage } from './page.tsx';
import { DryRun, Explanation, Validation } from './results.tsx';
import { SAMPLES } from './samples.ts';
import type { Workbench } from './workbench.ts';
import { PLACES } from '../web/places.ts';
import { Notice } from '../web/ui.tsx';
import { inSite } from '../../store/in-site.ts';

const { path: PLACE } = PLACES.workbench;
const MAX_KEYS = 200;
const NOTHING = { text: '', clientId: '', sample: '', rules: 'live' } as const;

interface Pasted {
  readonly text: string;
  readonly clientId: string;
  /** The name of the sample that is asked for, or none. */
  readonly sample: string;
  /** The rules of the key that count for a message. */
  readonly rules: 'live' | 'draft';
}

const rulesNamed = (name: string | null | undefined): Pasted['rules'] => (name === 'draft' ? name : 'live');

const ANY_KEY = { text: '', status: '', protocol: '' };

/** Without a configured token service no assertion is valid; a sample then has an example address. */
const tokenEndpointOf = (config: Config): string =>
  `${config.INTEGRATION_OAUTH_PUBLIC_BASE_URL ?? 'https://oauth.example.org'}/oauth2/token`;

export function addWorkbench(app: Surface, { deps, access }: Console, workbench: Workbench): void {
  const { config } = deps;
  const path = linkTo(config, PLACE);
  const benchOf = (name: string | undefined) => BENCHES.find((bench) => bench.name === name);

  /** The keys that a bench is about: whose assertion it may be, or who may send messages. */
  const keysOf = async ({ actor, database }: Visitor, bench: Bench): Promise<KeyRow[] | undefined> => {
    if (bench === 'resource') return undefined;
    const found = await inSite(database, actor.site).run(listKeys(actor.site, ANY_KEY, null, MAX_KEYS));
    // Disabled keys are last, so that none of them is chosen at first.
    const keys = found.toSorted((a, b) => Number(a.status === 'disabled') - Number(b.status === 'disabled'));
    if (bench === 'assertion') return keys;
    return keys.filter(({ protocols }) => protocols.some((protocol) => protocol.startsWith('hl7')));
  };

  const show = async (
    session: Visitor,
    bench: Bench,
    { text, clientId, sample, rules }: Pasted,
    result: Child,
    status = 200,
  ): Promise<Response> => {
    const { permissions } = session.actor;
    const benches = BENCHES.filter(({ permission }) => permissions.has(permission)).map(({ name }) => name);
    const keys = await keysOf(session, bench);
    const chosen = SAMPLES[bench].find(({ name }) => name === sample);
    const key = keys?.find(({ client_id: id }) => id === clientId) ?? keys?.[0];
    const facts = { key, tokenEndpoint: tokenEndpointOf(config), now: deps.now() };
    return respond(
      { title: 'Workbench', config, session, place: PLACE, scripts: ['workbench.js'], status },
      <WorkbenchPage
        {...{ path, bench, benches, sample, clientId, rules }}
        pasted={chosen?.text(facts) ?? text}
        {...(keys === undefined ? {} : { keys })}
      >
        {result}
      </WorkbenchPage>,
    );
  };

  const results: Readonly<Record<Bench, (session: Visitor, pasted: Pasted, requestId: string) => Promise<Child>>> = {
    async assertion({ actor, database }, { text }) {
      return (
        <Explanation explained={viewExplanation(await workbench.explainAssertion(database, actor.site, text.trim()))} />
      );
    },
    async message({ actor, database }, { text, clientId, rules }, requestId) {
      requireClientId(clientId);
      const bytes = messageBytes(text);
      const run = await workbench.dryRun(database, { site: actor.site, clientId }, bytes, requestId, rules);
      return <DryRun run={viewDryRun(run, bytes)} />;
    },
    // Not a promise by itself, but a fault of parseJson must be one.
    async resource({ actor }, { text }) {
      await deps.share().reserve(actor.site, needOf('json', new TextEncoder().encode(text)));
      return <Validation issues={workbench.validate(parseJson(text))} />;
    },
  };

  app.get(PLACE, async (c) => show(await access.page(c, 'site.api_keys.read'), 'assertion', NOTHING, null));

  app.get(`${PLACE}/:bench`, async (c) => {
    const session = await access.page(c);
    const bench = benchOf(c.req.param('bench'));
    if (bench === undefined) return c.notFound();
    requirePermission(session.actor, bench.permission);
    const { sample = '', clientId = '', rules } = c.req.query();
    return show(session, bench.name, { text: '', clientId, sample, rules: rulesNamed(rules) }, null);
  });

  app.post(`${PLACE}/:bench`, async (c) => {
    const session = await access.page(c);
    const bench = benchOf(c.req.param('bench'));
    if (bench === undefined) return c.notFound();
    requirePermission(session.actor, bench.permission);
    // A form needs three characters for an escaped one.
    const form = await readForm(c, 3 * Math.max(config.FHIR_MAX_BODY_BYTES, config.HL7_MAX_TEXT_BYTES));
    const [text, clientId] = [form.get('pasted') ?? '', form.get('clientId') ?? ''];
    const pasted = { text, clientId, sample: '', rules: rulesNamed(form.get('rules')) };
    try {
      return await show(session, bench.name, pasted, await results[bench.name](session, pasted, c.get('requestId')));
    } catch (error) {
      if (!(error instanceof Fault) || (error.kind !== 'malformed' && error.kind !== 'not-found')) throw error;
      return show(session, bench.name, pasted, <Notice tone="bad">{error.message}</Notice>, 422);
    }
  });
}
