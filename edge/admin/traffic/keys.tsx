/** The requests of each key in the span. */
import type { KeyTrafficRow } from '../../store/key-traffic.ts';
import { Section, Table } from '../web/ui.tsx';
import type { Between, KeyLinks } from './links.ts';

/** A site with more keys sees the busiest. */
export const MAX_KEYS = 50;

/** A number, and the way to what is behind it. */
export const Count = ({ count, href }: { count: number; href: string | undefined }) => {
  const text = count.toLocaleString('en');
  return count === 0 || href === undefined ? <>{text}</> : <a href={href}>{text}</a>;
};

const shareOf = ({ answered, refused }: KeyTrafficRow): string =>
  refused === 0 ? 'none' : `${((refused / (answered + refused)) * 100).toFixed(1)}%`;

export const KeyTraffic = ({
  keys,
  links,
  between,
}: {
  keys: readonly KeyTrafficRow[];
  links: KeyLinks;
  between: Between;
}) => (
  <Section id="keys" title="By API key">
    <Table
      label="By API key"
      rows={keys}
      empty="No key was used in this time."
      columns={{
        'API key': (row) => (links.key === undefined ? row.name : <a href={links.key(row.client_id)}>{row.name}</a>),
        Answered: (row) => <td class="number">{row.answered.toLocaleString('en')}</td>,
        'Rejected and failed': (row) => (
          <td class="number">
            <Count count={row.refused} href={links.refused?.(row.client_id, between)} />
          </td>
        ),
        Share: (row) => <td class="number">{shareOf(row)}</td>,
      }}
    />
    {keys.length < MAX_KEYS ? null : <p class="quiet">The {MAX_KEYS} busiest keys.</p>}
  </Section>
);
