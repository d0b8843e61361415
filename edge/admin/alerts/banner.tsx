/** What needs people, above everything else of a page: nothing where somebody is at all of it. */
import { ALERT_WORDS } from '../../alert-words.ts';
import type { OpenAlertRow } from '../../store/admin-alert.ts';
import { Notice, When } from '../web/ui.tsx';

interface AlertBannerProps {
  /** What `openAlerts` (edge/store/admin-alert.ts) found, the newest first. */
  readonly alerts: readonly OpenAlertRow[];
  /** Of the list of alerts, as a link has it. */
  readonly path: string;
}

export const AlertBanner = ({ alerts, path }: AlertBannerProps) => {
  const [first] = alerts;
  if (first === undefined) return null;
  const more = first.total - alerts.length;
  return (
    <Notice tone="bad">
      <p>
        <strong>{first.total === 1 ? 'One alert is open' : `${first.total} alerts are open`}</strong>, and nobody has
        said that they are at it. <a href={path}>What to do</a>
      </p>
      <ul>
        {alerts.map(({ kind, subject, key_name: name, opened_at: at }) => (
          <li>
            {ALERT_WORDS[kind].title}
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
