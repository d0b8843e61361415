/** `/admin/signing-keys`: the ring of keys that sign access tokens, and how to rotate it. */
import type { Child } from 'hono/jsx';

import { SIGNING_KEY_MAX_AGE_DAYS } from '../../../shared/oauth/signing-kid.ts';
import type { Surface } from '../../http/surface.ts';
import { signingKeysSeen } from '../../store/signing-key.ts';
import type { Console } from '../web/console.ts';
import { counted } from '../web/counted.ts';
import { respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Badge, Code, Notice, Section, Table, When } from '../web/ui.tsx';
import { type SigningKeyView, viewRing } from './ring.ts';

const { path: PLACE } = PLACES.signingKeys;

const STATES: Readonly<Record<SigningKeyView['state'], Child>> = {
  signs: <Badge tone="good">signs</Badge>,
  waits: <Badge tone="plain">published, waits to sign</Badge>,
  'has-signed': <Badge tone="plain">published, has signed</Badge>,
};

const SignsSince = ({ item: { signsSince, state } }: { item: SigningKeyView }) =>
  signsSince !== null ? <When at={signsSince} /> : <>{state === 'signs' ? 'about a minute ago' : 'not yet'}</>;

const Until = ({ item, now }: { item: SigningKeyView; now: number }) => {
  if (item.rotateBy !== null) {
    return (
      <>
        rotate by <When at={item.rotateBy} />
      </>
    );
  }
  if (item.state === 'signs') return <>rotate it within a year: its age is unknown</>;
  if (item.state === 'waits') return <>may sign 10 minutes after it was published</>;
  if (item.neededUntil === null) return <>needed for an hour after its last signature</>;
  if (Date.parse(item.neededUntil) <= now) return <>all its tokens have expired: retire it</>;
  return (
    <>
      needed until <When at={item.neededUntil} />, when its tokens expire
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
    return respond(
      { title: 'Signing keys', config, session, place: PLACE },
      isOld ? <Notice tone="bad">The key that signs is older than a year: rotate it.</Notice> : null,
      <p class="lead">
        The gateway signs the access tokens of every site with the first of these keys. All keys are published, so that
        every token can be verified. The private keys are in the secret TOKEN_SIGNING_KEYS, which no page shows.
      </p>,
      <Table
        label="Signing keys"
        rows={items}
        columns={{
          'Key (kid)': (item) => <code>{item.kid}</code>,
          State: (item) => STATES[item.state],
          Algorithm: (item) => item.algorithm,
          Age: (item) => (item.ageDays === null ? 'not known' : counted(item.ageDays, 'day')),
          'Signs since': (item) => <SignsSince item={item} />,
          'Next step': (item) => <Until {...{ item }} now={at} />,
        }}
      />,
      <Section id="rotate" title="How to rotate">
        <p>
          Rotate once a year, and at once if a private key may have leaked. There are three steps on the machine that
          deploys; each prints the next ring, and no request fails. If a key has leaked, retire it without waiting: the
          gateway then rejects its tokens, and clients request new ones.
        </p>
        <Code text={STEPS} label="The three steps" copy />
      </Section>,
    );
  });
}
