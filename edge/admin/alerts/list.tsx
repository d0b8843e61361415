/** The list of alerts: the cause, what to do, who acknowledged it, and whether the webhook got it. */
import type { AlertState } from '../../store/admin-alert.ts';
import { ALERT_STATES } from '../../store/admin-alert.ts';
import { counted } from '../web/counted.ts';
import { Badge, Empty, Filter, type ListProps, Pager, Select, When } from '../web/ui.tsx';
import type { AlertView } from './listing.ts';

/** The choices of the form, in minutes; '' has no end. */
const SILENCES = [
  { value: '60', label: 'for an hour' },
  { value: '480', label: 'for 8 hours' },
  { value: '1440', label: 'for a day' },
  { value: '10080', label: 'for a week' },
  { value: '', label: 'until you end it' },
];

const WEBHOOK_STATES = { waiting: 'not delivered yet', delivered: 'delivered', 'given-up': 'given up' } as const;

interface ItemProps {
  readonly alert: AlertView;
  readonly path: string;
  readonly keysPath: string;
  /** Link to what the alert counts. */
  readonly countedAt: (alert: AlertView) => { readonly href: string; readonly title: string } | undefined;
  readonly mayAct: boolean;
}

const Subject = ({ alert: { subject, keyName }, keysPath }: Pick<ItemProps, 'alert' | 'keysPath'>) => {
  if (subject === '') return null;
  if (keyName === null) return <code>{subject}</code>;
  return <a href={`${keysPath}/${subject}`}>{keyName}</a>;
};

const Measured = ({ alert, countedAt }: Pick<ItemProps, 'alert' | 'countedAt'>) => {
  const link = countedAt(alert);
  if (alert.measured === '' && link === undefined) return null;
  return (
    <p>
      {alert.measured} {link === undefined ? null : <a href={link.href}>{link.title}</a>}
    </p>
  );
};

const Item = ({ alert, path, keysPath, countedAt, mayAct }: ItemProps) => (
  <section class="item" aria-label={`${alert.summary} ${alert.firingSince}`}>
    <p>
      <strong>{alert.summary}</strong>
      {alert.subject === '' ? null : ': '}
      <Subject {...{ alert, keysPath }} />{' '}
      {alert.resolvedAt === null ? <Badge tone="bad">firing</Badge> : <Badge tone="good">resolved</Badge>}{' '}
      {alert.acknowledged === null ? null : <Badge tone="plain">acknowledged</Badge>}{' '}
      {alert.silenced === null ? null : <Badge tone="plain">silenced</Badge>}
    </p>
    <Measured {...{ alert, countedAt }} />
    <p>{alert.todo}</p>
    <p class="quiet">
      Since <When at={alert.firingSince} relative={alert.resolvedAt === null} />
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
      {alert.silenced === null ? null : (
        <>
          . Silenced by {alert.silenced.by}{' '}
          {alert.silenced.until === null ? (
            'without an end'
          ) : (
            <>
              until <When at={alert.silenced.until} />
            </>
          )}
        </>
      )}
      {alert.webhook === null
        ? null
        : `. Webhook: ${WEBHOOK_STATES[alert.webhook.state]} (attempts: ${alert.webhook.attempts}, last answer: ${alert.webhook.answer ?? 'none'})`}
    </p>
    {mayAct ? (
      <div class="actions">
        {alert.resolvedAt === null && alert.acknowledged === null ? (
          <form method="post" action={`${path}/${alert.alertId}/acknowledge`}>
            <button class="secondary">Acknowledge</button>
          </form>
        ) : null}
        {alert.silenced === null ? (
          <form class="filter" method="post" action={`${path}/${alert.alertId}/silence`}>
            <Select name="minutes" label="Post no notices" value="480" options={SILENCES} />
            <button class="secondary">Silence</button>
          </form>
        ) : (
          <form method="post" action={`${path}/${alert.alertId}/unsilence`}>
            <button class="secondary">End the silence</button>
          </form>
        )}
      </div>
    ) : null}
  </section>
);

interface AlertListProps extends ListProps<AlertView>, Omit<ItemProps, 'alert'> {
  readonly state: AlertState;
}

export const AlertList = ({ list, state, query, ...at }: AlertListProps) => (
  <>
    <Filter label="Alerts">
      <Select
        name="state"
        label="State"
        value={state}
        options={ALERT_STATES.map((value) => ({ value, label: value }))}
      />
    </Filter>
    {list.items.length === 0 ? null : (
      <p class="count">
        <strong>
          {counted(list.items.length, 'alert')} {state}
        </strong>
        {list.next === null ? '' : ', and older ones'}
      </p>
    )}
    {list.items.length === 0 ? (
      <Empty>{state === 'firing' ? 'No alert is firing.' : 'No alert was resolved.'}</Empty>
    ) : null}
    {list.items.map((alert) => (
      <Item {...{ alert }} {...at} />
    ))}
    <Pager path={at.path} query={query} next={list.next} />
  </>
);
