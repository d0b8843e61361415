/** `/admin/health`: the checks of the doctor. */
import type { Surface } from '../../http/surface.ts';
import type { Console } from '../web/console.ts';
import { respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { counted } from '../web/counted.ts';
import { Badge, Notice, Table } from '../web/ui.tsx';
import { checkDeployment } from './checks.ts';
import type { Finding } from './finding.ts';

const { path: PLACE } = PLACES.health;

const MARKS = {
  bad: <Badge tone="bad">problem</Badge>,
  doubtful: <Badge tone="warn">to check</Badge>,
  unknown: <Badge tone="plain">not checked</Badge>,
  good: <Badge tone="good">OK</Badge>,
} as const satisfies Record<Finding['state'], unknown>;

const ORDER = Object.keys(MARKS);

export function addHealthPage(app: Surface, { deps, access }: Console): void {
  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'site.endpoints.read');
    const found = await checkDeployment(deps, session.database, session.actor.site);
    const wrong = found.filter(({ state }) => state === 'bad').length;
    return respond(
      { title: 'Health', config: deps.config, session, place: PLACE },
      <Notice tone={wrong === 0 ? 'good' : 'bad'}>
        {wrong === 0 ? 'No known problems.' : `${counted(wrong, 'problem')}.`}
      </Notice>,
      <Table
        label="Checks"
        rows={found.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))}
        columns={{
          State: ({ state }) => <td>{MARKS[state]}</td>,
          Subject: ({ subject }) => <th scope="row">{subject}</th>,
          Result: ({ says }) => says,
          'What to do': ({ next }) => next ?? '',
        }}
      />,
      <p>
        Checked now, from inside. To check it as clients see it, run <code>npm run -s doctor -- BASE_URL</code>.
      </p>,
    );
  });
}
