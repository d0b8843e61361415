/** The feeds: a sentence about all, then each sender, those with problems first. */
import type { Child } from 'hono/jsx';

import { senderText } from '../../../shared/hl7/sender-text.ts';
import { labelFor } from '../../refusals.ts';
import { counted } from '../web/counted.ts';
import { Badge, Empty, Notice, When } from '../web/ui.tsx';
import { closeReason, securityOf } from './connections.ts';
import type { FeedLinks } from './links.ts';
import type { Feed, Feeds, Sender } from './schema.ts';

const VERDICTS = {
  silent: { tone: 'bad', badge: 'silent', text: 'but usually sends at this hour' },
  fewer: { tone: 'warn', badge: 'less', text: 'less than usual at this hour' },
  more: { tone: 'warn', badge: 'more', text: 'more than usual at this hour' },
  usual: { tone: 'good', badge: 'usual', text: 'usual' },
  'too-new': { tone: 'plain', badge: 'new', text: 'too new to know what is usual' },
} as const;

const ORDER = ['silent', 'fewer', 'more', 'usual', 'too-new', null] as const;

/** Keys with problems come first. */
const rank = ({ senders, status, refusals }: Feed): number => {
  if (status === 'disabled') return refusals > 0 ? 0 : 9;
  const worst = Math.min(...senders.map(({ verdict }) => ORDER.indexOf(verdict)), ORDER.length);
  return senders.some(({ refusedLately }) => refusedLately > 0) ? Math.min(worst, 1.5) : worst;
};

/** A number, as a link if there is one. */
const Counted = ({ to, children }: { to: string | undefined; children: Child }) =>
  to === undefined ? <span>{children}</span> : <a href={to}>{children}</a>;

const text = (number: number): string => number.toLocaleString('en');

interface LineProps {
  readonly feed: Feed;
  readonly sender: Sender;
  readonly links: FeedLinks;
}

/** A bar with the shares of today's answers. */
const Mix = ({ today: { accepted, refused, rejected } }: Pick<Sender, 'today'>) => {
  const all = accepted + refused + rejected;
  if (all === 0) return null;
  const parts = [
    { tone: 'good', number: accepted, x: 0 },
    { tone: 'warn', number: refused, x: accepted },
    { tone: 'bad', number: rejected, x: accepted + refused },
  ];
  return (
    <svg class="mix" viewBox={`0 0 ${all} 1`} preserveAspectRatio="none" aria-hidden="true">
      {parts.map(({ tone, number, x }) => (
        <rect class={tone} x={x} y={0} width={number} height={1}></rect>
      ))}
    </svg>
  );
};

const HL7_OUTCOMES = ['AA', 'AE', 'AR'] as const;
const FHIR_OUTCOMES = ['answered', 'rejected', 'failed'] as const;

const Line = ({ feed, sender, links }: LineProps) => {
  const { clientId } = feed;
  const { surface, today, verdict } = sender;
  const isFhir = surface === 'fhir';
  const counts = [today.accepted, today.refused, today.rejected];
  const all = counts.reduce((sum, number) => sum + number, 0);
  const ofAll = isFhir ? undefined : links.messages(clientId);
  const of = (at: number): string | undefined => {
    if (!isFhir) return links.messages(clientId, HL7_OUTCOMES[at]);
    return at === 0 ? undefined : links.requests(clientId, { surface: 'fhir', status: at === 1 ? '4xx' : '5xx' });
  };
  const name = senderText(sender);
  return (
    <p class="line">
      {verdict === null ? null : <Badge tone={VERDICTS[verdict].tone}>{VERDICTS[verdict].badge}</Badge>}
      {name === '' ? null : <code title="MSH-3 / MSH-4">{name}</code>}
      <span>
        {isFhir ? (
          <>
            last in the 15 minutes from <When at={sender.lastAt} />
          </>
        ) : (
          <When at={sender.lastAt} relative />
        )}
        {', '}
        <Counted to={ofAll}>
          {text(all)} {isFhir ? 'requests ' : ''}today
        </Counted>
        {verdict === null
          ? null
          : `, ${sender.isSingle && verdict === 'too-new' && all < 2 ? 'sent once' : VERDICTS[verdict].text}`}
      </span>
      <Mix today={today} />
      <span class="counts">
        {counts.map((number, at) =>
          number === 0 ? null : (
            <Counted to={of(at)}>
              {text(number)} {isFhir ? FHIR_OUTCOMES[at] : HL7_OUTCOMES[at]}
            </Counted>
          ),
        )}
      </span>
    </p>
  );
};

const Fault = ({ feed: { clientId, refusals, fault }, links }: { feed: Feed; links: FeedLinks }) => {
  if (refusals === 0) return null;
  const reason = fault === null ? '' : fault.reason === '' ? labelFor(fault.code) : fault.reason;
  return (
    <p class="fault quiet">
      <Counted to={links.requests(clientId)}>
        {text(refusals)} rejected or failed in the last 24 hours, token requests included
      </Counted>
      {fault === null ? null : (
        <span>
          : {reason} (<When at={fault.at} relative />)
        </span>
      )}
    </p>
  );
};

/** More would push the other keys off the screen. */
const MAX_SOURCES = 5;

/** The connections from each source address, and a link to those of a day. */
const Sources = ({ feed: { clientId, connections }, links }: { feed: Feed; links: FeedLinks }) => {
  if (connections.length === 0) return null;
  const more = connections.length - MAX_SOURCES;
  return (
    <>
      {connections.slice(0, MAX_SOURCES).map((source) => (
        <p class="line quiet">
          {source.open > 0 ? <Badge tone="good">connected</Badge> : <Badge tone="plain">not connected</Badge>}
          <span>
            <code>{source.sourceAddress}</code> {securityOf(source)}
          </span>
          {source.openSince === null ? null : (
            <span>
              {source.open === 1 ? 'since ' : `${counted(source.open, 'connection')}, the oldest since `}
              <When at={source.openSince} relative />
            </span>
          )}
          {source.lastClosedAt === null ? null : (
            <span>
              {source.open > 0 ? 'an earlier one closed ' : 'closed '}
              <When at={source.lastClosedAt} relative />: {closeReason(source.lastReason ?? '')}
            </span>
          )}
        </p>
      ))}
      <p class="line quiet">
        <a href={links.connections(clientId)}>
          Connections of the last 24 hours{more > 0 ? `, from ${text(more)} more addresses too` : ''}
        </a>
      </p>
    </>
  );
};

const WAYS = { fhir: 'FHIR', hl7: 'HL7 over HTTP', mllp: 'HL7 over MLLP' } as const;

/** The surfaces that it used, else those that it may use. */
const waysOf = ({ senders, protocols }: Feed): string => {
  const used = [...new Set(senders.map(({ surface }) => WAYS[surface]))];
  const may = protocols.map((protocol) =>
    protocol === 'hl7-mllp' ? WAYS.mllp : protocol === 'hl7' ? WAYS.hl7 : WAYS.fhir,
  );
  return (used.length > 0 ? used : may).join(', ');
};

const Item = ({ feed, links }: { feed: Feed; links: FeedLinks }) => (
  <li>
    <p class="name">
      <Counted to={links.key(feed.clientId)}>
        <strong>{feed.name}</strong>
      </Counted>
      <span class="quiet">{waysOf(feed)}</span>
      {feed.status === 'disabled' ? <Badge tone="warn">disabled</Badge> : null}
    </p>
    {feed.senders.length === 0 ? <p class="line quiet">No requests yet.</p> : null}
    {feed.senders.map((sender) => (
      <Line {...{ feed, sender, links }} />
    ))}
    <Sources {...{ feed, links }} />
    <Fault {...{ feed, links }} />
  </li>
);

const FiringAlerts = ({ alerts, path }: { alerts: Feeds['alerts']; path: string }) => {
  const firing = alerts.filter(({ acknowledged, silenced }) => acknowledged === null && silenced === null);
  const [first] = firing;
  if (first === undefined) return null;
  const about = first.keyName ?? first.subject;
  return (
    <Notice tone="bad">
      <a href={path}>{firing.length === 1 ? 'An alert is firing' : `${firing.length} alerts are firing`}</a>:{' '}
      {first.summary}
      {about === '' ? '' : ` (${about})`}, since <When at={first.firingSince} relative />
      {firing.length > 1 ? ', and others' : ''}.
    </Notice>
  );
};

const Sidecars = ({ sidecars }: Pick<Feeds, 'sidecars'>) => (
  <ul class="feeds">
    {sidecars.map(({ issuer, lastSeenAt, isLate, clockSeconds, version, connections }) => (
      <li>
        <p class="line">
          {isLate ? <Badge tone="bad">late</Badge> : <Badge tone="good">ok</Badge>}
          <strong>{issuer}</strong>
          <span>
            called <When at={lastSeenAt} relative />
            {clockSeconds === null || Math.abs(clockSeconds) < 2
              ? ''
              : `, its clock is ${Math.abs(clockSeconds)} s ${clockSeconds < 0 ? 'ahead' : 'behind'}`}
          </span>
          {connections === null ? null : <span>{counted(connections, 'connection')} open</span>}
          {version === null ? null : <span class="quiet">version {version}</span>}
        </p>
      </li>
    ))}
  </ul>
);

const isHl7 = ({ protocols, senders }: Feed): boolean =>
  protocols.some((protocol) => protocol !== 'fhir') || senders.some(({ surface }) => surface !== 'fhir');

export const FeedsPage = ({ health, feeds, sidecars, alerts, links }: Feeds & { readonly links: FeedLinks }) => {
  const byNeed = feeds.toSorted((a, b) => rank(a) - rank(b));
  const heard = byNeed.filter(({ senders, refusals }) => senders.length > 0 || refusals > 0);
  const never = byNeed.filter((feed) => !heard.includes(feed));
  const [hl7, fhir] = [heard.filter(isHl7), heard.filter((feed) => !isHl7(feed))];
  const list = (items: readonly Feed[]) => (
    <ul class="feeds">
      {items.map((feed) => (
        <Item {...{ feed, links }} />
      ))}
    </ul>
  );
  return (
    <>
      <FiringAlerts alerts={alerts} path={links.alerts} />
      <p class={`health ${health.isUsual ? 'good' : 'bad'}`} role="status">
        {health.sentence}.
      </p>
      <h2>HL7</h2>
      {hl7.length === 0 ? <Empty>No messages yet. A message appears here after a few seconds.</Empty> : list(hl7)}
      {fhir.length === 0 ? null : (
        <>
          <h2>FHIR</h2>
          {list(fhir)}
        </>
      )}
      {sidecars.length === 0 ? null : (
        <>
          <h2>MLLP sidecars</h2>
          <Sidecars sidecars={sidecars} />
        </>
      )}
      {never.length === 0 ? null : (
        <details>
          <summary>API keys without requests ({text(never.length)})</summary>
          {list(never)}
        </details>
      )}
    </>
  );
};
