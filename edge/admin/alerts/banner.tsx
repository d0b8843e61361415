/** A notice at the top of every page about alerts that are neither acknowledged nor silenced. */
import { ALERT_KINDS } from '../../alert-kinds.ts';
import type { OpenAlertRow } from '../../store/admin-alert.ts';
import { Notice, When } from '../web/ui.tsx';

interface AlertBannerProps {
  /** The newest first (`openAlerts`). */
  readonly alerts: readonly OpenAlertRow[];
  /** Link to the list of alerts. */
  readonly path: string;
}

export const AlertBanner = ({ alerts, path }: AlertBannerProps) => {
  const [first] = alerts;
  if (first === undefined) return null;
  const more = first.total - alerts.length;
  return (
    <Notice tone="bad">
      <p>
        <strong>{first.total === 1 ? 'One alert is firing' : `${first.total} alerts are firing`}</strong> and not
        acknowledged. <a href={path}>See Alerts</a>
      </p>
      <ul>
        {alerts.map(({ kind, subject, key_name: name, opened_at: at }) => (
          <li>
            {ALERT_KINDS[kind].title}
            {subject === '' ? null : (
              <>
                {': '}
                {name ?? <code>{subject}</code>}
              </>
            )}
            , since <When at={at} />
          </li>
        ))}
        {more === 0 ? null : <li>and {more} more</li>}
      </ul>
    </Notice>
  );
};
