/** The page of one subscription: its facts, its delivery, and what an administrator can do. */
import { Confirm } from '../web/confirm.tsx';
import { counted } from '../web/counted.ts';
import { Copyable, Fact, Input, Notice, Section, When } from '../web/ui.tsx';
import { lagText, Status, topicText } from './list.tsx';
import type { SubscriptionView } from './view.ts';

interface Tested {
  readonly notification: string;
  readonly isDelivered: boolean;
  readonly answer: string;
}

interface SubscriptionPageProps {
  readonly subscription: SubscriptionView;
  readonly path: string;
  /** Undefined without the permission to see it. */
  readonly keyPath: string | undefined;
  readonly mayChange: boolean;
  readonly test?: Tested | undefined;
  /** Only after its creation. */
  readonly secret?: string | undefined;
}

const Test = ({ test: { notification, isDelivered, answer } }: { test: Tested }) =>
  isDelivered ? (
    <Notice tone="good">
      The receiver accepted the {notification} ({answer}).
    </Notice>
  ) : (
    <Notice tone="bad">
      The receiver did not accept the {notification}: {answer}. The gateway expects an answer 2xx within 5 s.
    </Notice>
  );

const Facts = ({ subscription: it, keyPath }: Pick<SubscriptionPageProps, 'subscription' | 'keyPath'>) => (
  <dl class="facts">
    <Fact name="Status">
      <Status of={it} />
    </Fact>
    <Fact name="API key">{keyPath === undefined ? it.keyName : <a href={keyPath}>{it.keyName}</a>}</Fact>
    <Fact name="Events">{topicText(it)}</Fact>
    <Fact name="Reason">{it.reason}</Fact>
    <Fact name="Receiver">
      <code>{it.endpoint ?? it.host}</code>
    </Fact>
    {it.hasHeaders ? <Fact name="Headers">of the receiver; their values are never shown</Fact> : null}
    <Fact name="Payload">
      {it.payload}, {counted(it.maxCount, 'event')} at most
    </Fact>
    {it.heartbeatSeconds === null ? null : <Fact name="Heartbeat">after {it.heartbeatSeconds} s</Fact>}
    {it.since === null ? null : (
      <Fact name="Versions after">
        <When at={it.since} />
      </Fact>
    )}
    {it.endsAt === null ? null : (
      <Fact name="End">
        <When at={it.endsAt} />
      </Fact>
    )}
    <Fact name="Subscription id">
      <Copyable text={it.subscriptionId} label="the id" />
    </Fact>
  </dl>
);

const Delivery = ({ subscription: it }: Pick<SubscriptionPageProps, 'subscription'>) => (
  <Section id="delivery" title="Delivery">
    <dl class="facts">
      <Fact name="Delivered">
        {it.delivered.toLocaleString('en')} of {counted(it.lastEvent, 'event')}
      </Fact>
      <Fact name="Lag">
        {lagText(it)}
        {it.lag.uncompared === 0 ? '' : `; ${counted(it.lag.uncompared, 'change')} of the site not compared yet`}
      </Fact>
      <Fact name="Throughput">
        {counted(it.throughput.hour, 'event')} in an hour, {it.throughput.day.toLocaleString('en')} in a day
      </Fact>
      <Fact name="Last accepted">{it.deliveredAt === null ? 'never' : <When at={it.deliveredAt} relative />}</Fact>
      <Fact name="Last answer">
        {it.lastAnswer ?? 'none'}
        {it.triedAt === null ? null : (
          <>
            , <When at={it.triedAt} relative />
          </>
        )}
      </Fact>
      {it.failingSince === null ? null : (
        <Fact name="Failing since">
          <When at={it.failingSince} /> ({counted(it.attempts, 'attempt')})
        </Fact>
      )}
      <Fact name="Next post">
        {it.isPosting ? 'under way' : it.nextAt === null ? 'none planned' : <When at={it.nextAt} />}
      </Fact>
    </dl>
  </Section>
);

const Actions = ({ subscription: it, path }: Pick<SubscriptionPageProps, 'subscription' | 'path'>) => {
  const isStopped = it.status === 'off' || it.status === 'error';
  return (
    <Section id="actions" title="Change the delivery">
      <div class="actions">
        {it.hasEnded ? null : (
          <form method="post" action={`${path}/resume`}>
            <button>{isStopped ? 'Resume' : 'Try now'}</button>
          </form>
        )}
        {it.status === 'off' ? null : (
          <form method="post" action={`${path}/pause`}>
            <button class="secondary">Pause</button>
          </form>
        )}
        <form method="post" action={`${path}/test`}>
          <button class="secondary">Send a test</button>
        </form>
      </div>
      <p class="quiet">A test posts a notification without events, and changes nothing. A pause loses no event.</p>
      {it.delivered === 0 ? null : (
        <form class="filter" method="post" action={`${path}/resend`} aria-label="Send again">
          <Input
            label="Send again from event"
            name="from"
            type="number"
            min={1}
            max={it.delivered}
            value={String(it.delivered)}
            required
          />
          <button class="secondary">Send again</button>
        </form>
      )}
      <Confirm label="Delete">
        <p>The client gets no further event, and cannot ask for the earlier ones.</p>
        <form method="post" action={`${path}/delete`}>
          <button class="danger">Delete the subscription</button>
        </form>
      </Confirm>
    </Section>
  );
};

export const SubscriptionPage = ({ subscription, path, keyPath, mayChange, test, secret }: SubscriptionPageProps) => (
  <>
    {secret === undefined ? null : (
      <Notice tone="good">
        <p>The subscription is created. Give its secret to the client now: the gateway does not show it again.</p>
        <Copyable text={secret} label="the secret" />
      </Notice>
    )}
    {test === undefined ? null : <Test test={test} />}
    {subscription.error === null ? null : <Notice tone="bad">{subscription.error}</Notice>}
    <Facts {...{ subscription, keyPath }} />
    <Delivery {...{ subscription }} />
    {mayChange ? <Actions {...{ subscription, path }} /> : null}
  </>
);
