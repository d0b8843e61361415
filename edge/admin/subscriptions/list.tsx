/** The list of subscriptions: how far each is, and its last answer. */
import { SUBSCRIPTION_STATUSES } from '../../store/subscription.ts';
import { counted } from '../web/counted.ts';
import { Badge, Filter, Input, type ListProps, Pager, Select, Table, When } from '../web/ui.tsx';
import type { SubscriptionView } from './view.ts';

const TONES = { requested: 'warn', active: 'good', error: 'bad', off: 'plain' } as const;

export const Status = ({ of: { status, hasEnded, blockedBy, attempts } }: { of: SubscriptionView }) => (
  <>
    <Badge tone={TONES[status]}>{hasEnded ? 'ended' : status === 'off' ? 'paused' : status}</Badge>
    {blockedBy === null ? null : (
      <>
        {' '}
        <Badge tone="bad">blocked</Badge>
      </>
    )}
    {status === 'off' || status === 'error' || attempts === 0 ? null : (
      <>
        {' '}
        <Badge tone="warn">failing</Badge>
      </>
    )}
  </>
);

/** `3 events, 2 min`. */
export function lagText({ lag: { events, seconds } }: SubscriptionView): string {
  if (events === 0) return 'none';
  const [unit, size] =
    seconds < 120 ? (['s', 1] as const) : seconds < 7200 ? (['min', 60] as const) : (['h', 3600] as const);
  return `${counted(events, 'event')}, ${Math.floor(seconds / size)} ${unit}`;
}

/** `Observation?code=x`; with names of parameters only, `Observation by code`. */
export function topicText({ type, filter, filterParameters }: SubscriptionView): string {
  if (filterParameters.length === 0) return type;
  return filter === null ? `${type} by ${filterParameters.join(', ')}` : `${type}?${filter}`;
}

export const SubscriptionList = ({ list, query, path }: ListProps<SubscriptionView>) => (
  <>
    <Filter label="Subscriptions">
      <Select
        name="status"
        label="Status"
        value={query['status'] ?? ''}
        options={[
          { value: '', label: 'any' },
          ...SUBSCRIPTION_STATUSES.map((value) => ({ value, label: value === 'off' ? 'paused or ended' : value })),
        ]}
      />
      {(query['clientId'] ?? '') === '' ? null : <Input label="Client ID" name="clientId" value={query['clientId']} />}
    </Filter>
    <Table
      label="Subscriptions"
      rows={list.items}
      empty="No subscription matches."
      columns={{
        Subscription: (item) => <a href={`${path}/${item.subscriptionId}`}>{topicText(item)}</a>,
        'API key': (item) => item.keyName,
        Status: (item) => <Status of={item} />,
        Receiver: (item) => <td class="value">{item.host}</td>,
        Lag: (item) => lagText(item),
        'Last accepted': (item) => (item.deliveredAt === null ? 'never' : <When at={item.deliveredAt} relative />),
        'Last answer': (item) => item.lastAnswer ?? '',
      }}
    />
    <Pager path={path} query={query} next={list.next} />
  </>
);
