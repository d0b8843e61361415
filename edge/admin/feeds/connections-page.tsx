/** The MLLP connections of a key in the last 24 hours: for each source address a bar and a line for each record. */
import { counted } from '../web/counted.ts';
import { Badge, Empty, When } from '../web/ui.tsx';
import { closeReason, type ConnectionItem, securityOf } from './connections.ts';

/** A bar is a day in minutes. */
const DAY = 24 * 60;
/** A short connection stays visible. */
const LEAST = 5;

/** When an address was connected: the bar is a day, its right end is now. */
const Day = ({ of, nowMs, label }: { of: readonly ConnectionItem[]; nowMs: number; label: string }) => {
  const minuteOf = (at: string): number => Math.max(0, DAY - (nowMs - Date.parse(at)) / 60_000);
  return (
    <svg class="day" viewBox={`0 0 ${DAY} 1`} preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="ground" x={0} y={0} width={DAY} height={1}></rect>
      {of.map(({ openedAt, closedAt, hasSent }) => {
        const from = minuteOf(openedAt);
        const to = closedAt === null ? DAY : minuteOf(closedAt);
        const width = Math.max(LEAST, to - from);
        const x = Math.min(from, DAY - width).toFixed(1);
        return <rect class={hasSent ? 'ok' : 'bad'} x={x} y={0} width={width.toFixed(1)} height={1}></rect>;
      })}
    </svg>
  );
};

const Line = ({ one, security }: { one: ConnectionItem; security: string }) => (
  <p class="line">
    {one.closedAt === null ? <Badge tone="good">open</Badge> : null}
    <span>
      {one.closedAt === null ? 'since ' : ''}
      <When at={one.openedAt} />
      {one.closedAt === null ? null : (
        <>
          {' to '}
          <When at={one.closedAt} />
        </>
      )}
    </span>
    {one.connections === 1 ? null : <span>{counted(one.connections, 'connection')}</span>}
    {one.reason === null ? null : <span>{closeReason(one.reason)}</span>}
    {one.senders.length === 0 ? null : <code title="MSH-3 / MSH-4">{one.senders.join(', ')}</code>}
    {one.hasSent && securityOf(one) !== security ? <span class="quiet">{securityOf(one)}</span> : null}
  </p>
);

export const ConnectionsPage = ({
  connections,
  nowMs,
}: {
  readonly connections: readonly ConnectionItem[];
  readonly nowMs: number;
}) => {
  if (connections.length === 0) return <Empty>No MLLP connections in the last 24 hours.</Empty>;
  const sources = [...Map.groupBy(connections, ({ sourceAddress, sidecar }) => `${sourceAddress} ${sidecar}`).values()];
  return (
    <>
      <p>
        A bar is the last 24 hours, up to now. Red: no message was sent. Closed connections that are alike count as one
        line in each quarter of an hour.
      </p>
      <ul class="feeds">
        {sources.map((of) => {
          const [first] = of;
          if (first === undefined) return null;
          const { sourceAddress, sidecar } = first;
          const security = securityOf(of.find(({ hasSent }) => hasSent) ?? first);
          return (
            <li>
              <p class="name">
                <strong>{sourceAddress}</strong>
                <span class="quiet">
                  {security}, sidecar {sidecar}
                </span>
              </p>
              <Day {...{ of, nowMs }} label={`The last 24 hours of ${sourceAddress}`} />
              {of.map((one) => (
                <Line {...{ one, security }} />
              ))}
            </li>
          );
        })}
      </ul>
    </>
  );
};
