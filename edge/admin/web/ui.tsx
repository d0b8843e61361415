/**
 * The components that every page of the console is made of. The template engine escapes text. `When` shows and `Moment`
 * asks for times, both in the site's time zone. A list is a `Table`.
 */
import {
  type Child,
  cloneElement,
  createContext,
  Fragment,
  isValidElement,
  type JSX,
  type JSXNode,
  type PropsWithChildren,
  useContext,
} from 'hono/jsx';

import type { List } from '../api/cursor.ts';
import { counted } from './counted.ts';
import { OF_SITE } from './form.ts';
import { clockOf, fieldValue, wallTime } from './wall-clock.ts';

/** The IANA name of the site's time zone, set by `Page`. */
export const TimeZone = createContext('UTC');

/** The id of the session's site, set by `Page`. */
export const SiteId = createContext('');

/** The field of a form whose address names nothing of the site: another tab may move the session to another site. */
export const OfSite = () => <input type="hidden" name={OF_SITE} value={useContext(SiteId)} />;

/**
 * An instant in the site's time zone, to the second; UTC on hover and for machines. With `relative`, console.js shows
 * `4 min ago` instead, keeps it current, and shows the time on hover.
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
 * A section that console.js fetches again and replaces, except while it has the focus or the page is hidden. A refresh does
 * not extend the session. Scripts that change its content do so again at the document's event `refreshed`.
 */
export const Refreshed = ({ id, seconds, children }: PropsWithChildren<{ id: string; seconds: number }>) => (
  <section id={id} data-refresh={seconds}>
    {children}
  </section>
);

/** A field for an instant in the site's time zone (wall-clock.ts, readInstant). @param value the text of the query */
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

/** A labelled field of a form. */
export const Input = ({ label, ...input }: { label: Child } & JSX.IntrinsicElements['input']) => (
  <label>
    <span>{label}</span>
    <input {...input} />
  </label>
);

/** A section with its heading, whose id is its anchor too. */
export const Section = ({ id, title, children, ...section }: { title: Child } & JSX.IntrinsicElements['section']) => (
  <section aria-labelledby={id} {...section}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);

type Tone = 'good' | 'bad' | 'warn' | 'plain';

export const Badge = ({ tone, children }: PropsWithChildren<{ tone: Tone }>) => (
  <span class={`badge ${tone}`}>{children}</span>
);

export const KeyStatus = ({ status }: { status: 'active' | 'disabled' }) => (
  <Badge tone={status === 'active' ? 'good' : 'plain'}>{status}</Badge>
);

const OUTCOME_TONES = { AA: 'good', AE: 'warn', AR: 'bad' } as const;
const OUTCOME_TEXTS = { AA: 'accepted', AE: 'error', AR: 'rejected' } as const;

export const Outcome = ({ outcome }: { outcome: 'AA' | 'AE' | 'AR' }) => (
  <Badge tone={OUTCOME_TONES[outcome]}>
    {outcome} {OUTCOME_TEXTS[outcome]}
  </Badge>
);

/** The number of warnings beside an outcome; nothing for 0. */
export const Warnings = ({ count }: { count: number }) =>
  count === 0 ? null : <Badge tone="warn">{counted(count, 'warning')}</Badge>;

export const Notice = ({ tone, children }: PropsWithChildren<{ tone: Tone }>) => (
  <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
    {children}
  </div>
);

/** A text with a button that copies it (console.js). */
export const Copyable = ({ text, label }: { text: string; label: string }) => (
  <span class="copyable">
    <code>{text}</code>
    <button type="button" class="small" data-copy={text} aria-label={`Copy ${label}`}>
      Copy
    </button>
  </span>
);

/** Program text in a box that scrolls, by keyboard too. @param children the text with more than text */
export const Code = ({
  text,
  label,
  copy = false,
  children,
}: PropsWithChildren<{ text: string; label: string; copy?: boolean }>) => (
  <div class="code">
    <pre tabindex={0} role="group" aria-label={label}>
      <code>{children ?? text}</code>
    </pre>
    {copy ? (
      <button type="button" class="small" data-copy={text} aria-label={`Copy ${label}`}>
        Copy
      </button>
    ) : null}
  </div>
);

const isElement = (child: Child, ...tags: unknown[]): child is JSXNode =>
  isValidElement(child) && tags.includes(child.tag);

const isShown = (child: Child): boolean => {
  if (Array.isArray(child)) return child.some(isShown);
  if (isElement(child, Fragment)) return child.children.some(isShown);
  return child !== '' && child != null && typeof child !== 'boolean';
};

/** On a phone the content is one box beside its label; CSS hides a cell that is empty. */
function cellOf(title: string, content: Child, isFirst: boolean): Child {
  if (isElement(content, 'td', 'th')) {
    const held = content.children.filter(isShown);
    return cloneElement(content, { 'data-label': title }, held.length === 0 ? '' : <div>{held}</div>);
  }
  const box = isShown(content) ? <div>{content}</div> : '';
  return isFirst ? (
    <th scope="row" data-label={title}>
      {box}
    </th>
  ) : (
    <td data-label={title}>{box}</td>
  );
}

interface TableProps<Of> {
  readonly label: string;
  readonly rows: readonly Of[];
  /** By its title, what a column shows of a row: the content, or a `<td>` or `<th>` if it has a class. The first column heads the row. */
  readonly columns: Readonly<Record<string, (row: Of, at: number) => Child>>;
  /** Shown in place of a table without rows. */
  readonly empty?: Child;
  readonly idOf?: (row: Of) => string | undefined;
}

/** A table that scrolls in a narrow window. On a phone each row is a card, and each value has the title of its column. */
export const Table = <Of,>({ label, rows, columns, empty, idOf }: TableProps<Of>) =>
  rows.length === 0 && empty !== undefined ? (
    <Empty>{empty}</Empty>
  ) : (
    <div class="table" tabindex={0} role="group" aria-label={label}>
      <table>
        <thead>
          <tr>
            {Object.keys(columns).map((title) => (
              <th scope="col">{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr id={idOf?.(row)} data-mark={idOf?.(row)}>
              {Object.entries(columns).map(([title, show], column) => cellOf(title, show(row, at), column === 0))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );

/** A name and value in a list of facts. */
export const Fact = ({ name, children }: PropsWithChildren<{ name: string }>) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** A page of a list, with the address of its place and its filters. */
export interface ListProps<Item> {
  readonly list: List<Item>;
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
}

/** The link to the next page of a list, with its filters. */
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

/**
 * A filter above a list: a GET form, so that the result has an address.
 *
 * @param postTo for a filter with patient data, which must not be in an address (sealed-query.ts)
 */
export const Filter = ({ children, label, postTo }: PropsWithChildren<{ label: string; postTo?: string }>) => (
  <form class="filter" method={postTo === undefined ? 'get' : 'post'} action={postTo} role="search" aria-label={label}>
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

/** The text in place of an empty list. */
export const Empty = ({ children }: { children: Child }) => <p class="empty">{children}</p>;

/** In place of a list whose time span ends before it begins. */
export const Backwards = () => <Empty>“From” is after “To”: nothing can lie between them.</Empty>;

/** The faults of a form or a file, one a line; nothing without faults. */
export const Faults = ({ of }: { of: readonly Child[] }) =>
  of.length === 0 ? null : (
    <ul class="faults">
      {of.map((fault) => (
        <li>{fault}</li>
      ))}
    </ul>
  );

/** Why a version is made live. */
export const ReleaseComment = ({ value }: { value?: string | undefined }) => (
  <label class="grow">
    <span>Why (no patient data)</span>
    <input name="comment" value={value} maxlength={500} required autocomplete="off" />
  </label>
);
