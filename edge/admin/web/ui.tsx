/**
 * The few building blocks that every page of the console is made of. Text is escaped by the template engine.
 * Times are shown by `When` and asked for by `Moment`, both on the site's clocks. A list is a `Table` of `Row`s, which
 * become cards on a phone, each value with the title of its column.
 */
import { type Child, cloneElement, createContext, isValidElement, type PropsWithChildren, useContext } from 'hono/jsx';

import { counted } from './counted.ts';
import { clockOf, fieldValue, wallTime } from './wall-clock.ts';

/** Whose clocks a page shows: the IANA name of the site's time zone. The page's frame says it. */
export const TimeZone = createContext('UTC');

/**
 * An instant on the site's clocks, to the second, with the name of the zone; the exact one in UTC on hover and for
 * machines. `relative` has console.js say `4 min ago` instead, with the time itself on hover, and keep it true.
 */
export const When = ({ at, relative = false }: { at: string; relative?: boolean }) => {
  const { day, time, zone } = wallTime(at, useContext(TimeZone));
  const exact = `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
  return (
    <time datetime={at} title={exact} data-relative={relative ? '' : undefined}>
      {day} {time} {zone}
    </time>
  );
};

/**
 * A section that keeps itself up to date (console.js): what the page shows under this id is fetched again and put in its
 * place, but not while somebody is at it, or the page is hidden. Being refreshed is no use of the session. Scripts that have
 * changed something in it do so again at the event `refreshed`, which the document gets.
 */
export const Refreshed = ({ id, seconds, children }: PropsWithChildren<{ id: string; seconds: number }>) => (
  <section id={id} data-refresh={seconds}>
    {children}
  </section>
);

/** A field that asks for an instant, on the site's clocks (wall-clock.ts, instantMeant). @param value as it was given */
export const Moment = ({ name, label, value }: { name: string; label: string; value: string }) => {
  const timeZone = useContext(TimeZone);
  const local = fieldValue(value, timeZone);
  return (
    <label>
      <span>
        {label} ({clockOf(timeZone)})
      </span>
      <input type="datetime-local" name={name} value={local} step={local.length > 16 ? 1 : undefined} />
    </label>
  );
};

type Tone = 'good' | 'bad' | 'warn' | 'plain';

export const Badge = ({ tone, children }: PropsWithChildren<{ tone: Tone }>) => (
  <span class={`badge ${tone}`}>{children}</span>
);

export const KeyStatus = ({ status }: { status: 'active' | 'disabled' }) => (
  <Badge tone={status === 'active' ? 'good' : 'plain'}>{status}</Badge>
);

const OUTCOME_TONES = { AA: 'good', AE: 'warn', AR: 'bad' } as const;
const OUTCOME_WORDS = { AA: 'accepted', AE: 'error', AR: 'rejected' } as const;

export const Outcome = ({ outcome }: { outcome: 'AA' | 'AE' | 'AR' }) => (
  <Badge tone={OUTCOME_TONES[outcome]}>
    {outcome} {OUTCOME_WORDS[outcome]}
  </Badge>
);

/** Beside an outcome; nothing where there are none. */
export const Warnings = ({ count }: { count: number }) =>
  count === 0 ? null : <Badge tone="warn">{counted(count, 'warning')}</Badge>;

export const Notice = ({ tone, children }: PropsWithChildren<{ tone: Tone }>) => (
  <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
    {children}
  </div>
);

/** A text to take away, with a button that copies it (console.js). */
export const Copyable = ({ text, label }: { text: string; label: string }) => (
  <span class="copyable">
    <code>{text}</code>
    <button type="button" class="small" data-copy={text} aria-label={`Copy ${label}`}>
      Copy
    </button>
  </span>
);

/** Program text that may be wide: it scrolls, also by keyboard. */
export const Code = ({ text, label, copy = false }: { text: string; label: string; copy?: boolean }) => (
  <div class="code">
    <pre tabindex={0} role="group" aria-label={label}>
      <code>{text}</code>
    </pre>
    {copy ? (
      <button type="button" class="small" data-copy={text} aria-label={`Copy ${label}`}>
        Copy
      </button>
    ) : null}
  </div>
);

/** The titles of the columns that a row is in. */
const Columns = createContext<readonly string[]>([]);

/**
 * A table that scrolls by itself when the window is narrow, and on a phone is a card for each row. What identifies a row
 * is its `<th scope="row">`, which heads the card.
 *
 * @param head a title for each cell
 */
export const Table = ({ label, head, children }: PropsWithChildren<{ label: string; head: readonly string[] }>) => (
  <div class="table" tabindex={0} role="group" aria-label={label}>
    <table>
      <thead>
        <tr>
          {head.map((title) => (
            <th scope="col">{title}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        <Columns.Provider value={head}>{children}</Columns.Provider>
      </tbody>
    </table>
  </div>
);

const isShown = (child: Child): boolean =>
  Array.isArray(child) ? child.some(isShown) : child !== '' && child != null && typeof child !== 'boolean';

/** A row of a table: `<th>` and `<td>` themselves, one for each title of the table's head. */
export const Row = ({ children }: { children: Child[] }) => {
  const head = useContext(Columns);
  return (
    <tr>
      {children
        .flat(2)
        .filter(isValidElement)
        .map((cell, at) => {
          const held = cell.children.filter(isShown);
          // One box for whatever the cell holds, beside its label on a phone; an empty cell stays empty, and is not shown.
          return cloneElement(cell, { 'data-label': head[at] }, held.length === 0 ? '' : <div>{held}</div>);
        })}
    </tr>
  );
};

/** One pair of a list of facts. */
export const Fact = ({ name, children }: PropsWithChildren<{ name: string }>) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** The link to the next page of a list, with the filters that hold. */
export const Pager = ({
  path,
  query,
  next,
}: {
  path: string;
  query: Readonly<Record<string, string>>;
  next: string | null;
}) => {
  if (next === null) return null;
  const given = Object.entries(query).filter(([name, value]) => value !== '' && name !== 'cursor');
  return (
    <p class="pager">
      <a href={`${path}?${new URLSearchParams([...given, ['cursor', next]]).toString()}`} rel="next">
        Older
      </a>
    </p>
  );
};

export interface Option {
  readonly value: string;
  readonly label: string;
}

export const Select = ({
  name,
  label,
  options,
  value,
}: {
  name: string;
  label: string;
  options: readonly Option[];
  value: string;
}) => (
  <label>
    <span>{label}</span>
    <select name={name}>
      {options.map((option) => (
        <option value={option.value} selected={option.value === value}>
          {option.label}
        </option>
      ))}
    </select>
  </label>
);

/** A filter above a list: a GET form, so that what is shown has an address. */
export const Filter = ({ children, label }: PropsWithChildren<{ label: string }>) => (
  <form class="filter" method="get" role="search" aria-label={label}>
    {children}
    <button class="secondary">Show</button>
  </form>
);

export const Search = ({ label, value, hint }: { label: string; value: string; hint?: string }) => (
  <label class="grow">
    <span>{label}</span>
    <input type="search" name="q" value={value} placeholder={hint ?? ''} />
  </label>
);

/** What stands where a list is empty. */
export const Empty = ({ children }: { children: Child }) => <p class="empty">{children}</p>;
