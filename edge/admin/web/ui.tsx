/** The few building blocks that every page of the console is made of. Text is escaped by the template engine. */
import type { Child, PropsWithChildren } from 'hono/jsx';

/** An instant as people read it, to the second, in UTC; the machine's form beside it. */
export const When = ({ at }: { at: string }) => (
  <time datetime={at}>
    {at.slice(0, 10)} {at.slice(11, 19)} <abbr title="Coordinated Universal Time">UTC</abbr>
  </time>
);

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

/** A table that scrolls by itself when the window is narrow. */
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
      <tbody>{children}</tbody>
    </table>
  </div>
);

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
