/** What needs people: what is wrong since when, who is at it, who was told, and what there is to do. */
import type { AlertState } from '../../store/admin-alert.ts';
import { ALERT_STATES } from '../../store/admin-alert.ts';
import type { List } from '../api/cursor.ts';
import { Badge, Empty, Filter, Pager, Select, When } from '../web/ui.tsx';
import type { AlertView } from './listing.ts';

/** How long a form mutes, in minutes; '' is until it is unmuted. */
const MUTES = [
  { value: '60', label: 'for an hour' },
  { value: '480', label: 'for 8 hours' },
  { value: '1440', label: 'for a day' },
  { value: '10080', label: 'for a week' },
  { value: '', label: 'until it is unmuted' },
];

const WEBHOOK_WORDS = { waiting: 'not delivered yet', delivered: 'delivered', 'given-up': 'given up' } as const;

interface ItemProps {
  readonly alert: AlertView;
  readonly path: string;
  readonly keysPath: string;
  readonly mayAct: boolean;
}

const Subject = ({ alert: { subject, keyName }, keysPath }: Pick<ItemProps, 'alert' | 'keysPath'>) => {
  if (subject === '') return null;
  if (keyName === null) return <code>{subject}</code>;
  return <a href={`${keysPath}/${subject}`}>{keyName}</a>;
};

const Item = ({ alert, path, keysPath, mayAct }: ItemProps) => (
  <section class="item" aria-label={`${alert.summary} ${alert.openedAt}`}>
    <p>
      <strong>{alert.summary}</strong>
      {alert.subject === '' ? null : ': '}
      <Subject {...{ alert, keysPath }} />{' '}
      {alert.resolvedAt === null ? <Badge tone="bad">open</Badge> : <Badge tone="good">resolved</Badge>}{' '}
      {alert.acknowledged === null ? null : <Badge tone="plain">acknowledged</Badge>}{' '}
      {alert.muted === null ? null : <Badge tone="plain">muted</Badge>}
    </p>
    <p>{alert.todo}</p>
    <p class="quiet">
      Since <When at={alert.openedAt} relative={alert.resolvedAt === null} />
      {alert.times > 1 ? `, the ${alert.times}th time` : ''}
      {alert.resolvedAt === null ? null : (
        <>
          , resolved <When at={alert.resolvedAt} />
        </>
      )}
      {alert.acknowledged === null ? null : (
        <>
          . Acknowledged <When at={alert.acknowledged.at} /> by {alert.acknowledged.by}
        </>
      )}
      {alert.muted === null ? null : (
        <>
          . Muted by {alert.muted.by}, until{' '}
          {alert.muted.until === null ? 'somebody ends it' : <When at={alert.muted.until} />}
        </>
      )}
      {alert.webhook === null
        ? null
        : `. Webhook: ${WEBHOOK_WORDS[alert.webhook.state]} (tries: ${alert.webhook.attempts}, last answer: ${alert.webhook.answer ?? 'none'})`}
    </p>
    {mayAct ? (
      <div class="actions">
        {alert.resolvedAt === null && alert.acknowledged === null ? (
          <form method="post" action={`${path}/${alert.alertId}/acknowledge`}>
            <button class="secondary">Acknowledge</button>
          </form>
        ) : null}
        {alert.muted === null ? (
          <form class="filter" method="post" action={`${path}/${alert.alertId}/mute`}>
            <Select name="minutes" label="Tell nobody" value="480" options={MUTES} />
            <button class="secondary">Mute</button>
          </form>
        ) : (
          <form method="post" action={`${path}/${alert.alertId}/unmute`}>
            <button class="secondary">Unmute</button>
          </form>
        )}
      </div>
    ) : null}
  </section>
);

interface AlertListProps extends Omit<ItemProps, 'alert'> {
  readonly list: List<AlertView>;
  readonly state: AlertState;
  readonly query: Readonly<Record<string, string>>;
}

export const AlertList = ({ list, state, query, ...at }: AlertListProps) => (
  <>
    <Filter label="Which alerts">
      <Select
        name="state"
        label="State"
        value={state}
        options={ALERT_STATES.map((value) => ({ value, label: value }))}
      />
    </Filter>
    {list.items.length === 0 ? (
      <Empty>{state === 'open' ? 'Nothing is wrong that the gateway knows of.' : 'None was resolved.'}</Empty>
    ) : null}
    {list.items.map((alert) => (
      <Item {...{ alert }} {...at} />
    ))}
    <Pager path={at.path} query={query} next={list.next} />
  </>
);
