/** `/admin/signing-keys`: the ring of keys that sign access tokens, and how it is turned. */
import type { Child } from 'hono/jsx';

import { SIGNING_KEY_MAX_AGE_DAYS } from '../../../shared/oauth/signing-kid.ts';
import type { Surface } from '../../http/surface.ts';
import { signingKeysSeen } from '../../store/signing-key.ts';
import type { Console } from '../web/console.ts';
import { counted } from '../web/counted.ts';
import { Page, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Badge, Code, Notice, Row, Table, When } from '../web/ui.tsx';
import { type SigningKeyView, viewRing } from './ring.ts';

const { path: PLACE } = PLACES.signingKeys;

const STATES: Readonly<Record<SigningKeyView['state'], Child>> = {
  signs: <Badge tone="good">signs</Badge>,
  waits: <Badge tone="plain">published, waits to sign</Badge>,
  'has-signed': <Badge tone="plain">published, has signed</Badge>,
};

const SignsSince = ({ item: { signsSince, state } }: { item: SigningKeyView }) =>
  signsSince !== null ? <When at={signsSince} /> : <>{state === 'signs' ? 'a minute or so ago' : 'not yet'}</>;

const Until = ({ item, now }: { item: SigningKeyView; now: number }) => {
  if (item.rotateBy !== null) {
    return (
      <>
        rotate by <When at={item.rotateBy} />
      </>
    );
  }
  if (item.state === 'signs') return <>rotate it within a year: its kid does not say how old it is</>;
  if (item.state === 'waits') return <>10 minutes after it was published it may sign</>;
  if (item.neededUntil === null) return <>needed for an hour after it has signed last</>;
  if (Date.parse(item.neededUntil) <= now) return <>none of its tokens is good any more: it may be retired</>;
  return (
    <>
      needed until <When at={item.neededUntil} />, for tokens that are out
    </>
  );
};

const STEPS = `npm run -s keys -- publish < ring.json > ring2.json     # deploy it, wait 10 minutes
npm run -s keys -- sign < ring2.json > ring3.json       # deploy it, wait an hour
npm run -s keys -- retire < ring3.json > ring4.json     # deploy it`;

export function addSigningKeyPage(app: Surface, { deps: { config, now }, access }: Console): void {
  const ring = config.TOKEN_SIGNING_KEYS;

  app.get(PLACE, async (c) => {
    const session = await access.page(c, 'gateway.operate');
    const rows = await session.database.run(signingKeysSeen(ring.keys.map(({ kid }) => kid)));
    const at = now();
    const items = viewRing(ring, rows, at);
    const isOld = items.some(({ ageDays, state }) => state === 'signs' && (ageDays ?? 0) > SIGNING_KEY_MAX_AGE_DAYS);
    const page = (
      <Page title="Signing keys" config={config} session={session} place={PLACE}>
        {isOld ? <Notice tone="bad">The key that signs is older than a year: rotate it.</Notice> : null}
        <p class="lead">
          Access tokens of every site are signed with the first of these keys; all of them are published, so that
          whoever checks a token finds its key. The private halves are in the secret TOKEN_SIGNING_KEYS and are shown
          nowhere.
        </p>
        <Table label="Signing keys" head={['Key (kid)', 'State', 'Algorithm', 'Age', 'Signs since', 'What comes next']}>
          {items.map((item) => (
            <Row>
              <th scope="row">
                <code>{item.kid}</code>
              </th>
              <td>{STATES[item.state]}</td>
              <td>{item.algorithm}</td>
              <td>{item.ageDays === null ? 'not known' : counted(item.ageDays, 'day')}</td>
              <td>
                <SignsSince item={item} />
              </td>
              <td>
                <Until {...{ item }} now={at} />
              </td>
            </Row>
          ))}
        </Table>
        <section aria-labelledby="rotate">
          <h2 id="rotate">How to rotate</h2>
          <p>
            Once a year, and at once where a private half may be known to somebody. Three steps on the machine that
            deploys, each printing the next one; no request fails on the way. Where a key is known to somebody, retire
            without waiting: tokens of the old key are then refused, and clients ask for new ones.
          </p>
          <Code text={STEPS} label="The three steps" copy />
        </section>
      </Page>
    );
    return respond(config, page);
  });
}
