/**
 * A date of birth as a range of days, with prefixes and partial dates (FHIR R4 search, 3.1.1.4.5, 3.1.1.4.8). Both sides are
 * dates without a time, so time zones do not matter.
 *
 * Stored and requested dates are `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. The order of their texts is the order of their first days,
 * and a longer date follows the dates that contain it. So all comparisons are comparisons of texts, in the order of the index.
 */
import { oneOf } from '../compare.ts';
import type { DateRange, Kind } from '../kind.ts';
import { PATIENT_SEARCH } from '../source.ts';
import { BIRTHDATE_SORT } from './birthdate.ts';

/** `[from, before)` in the order of texts, without `except`. */
interface Span {
  readonly from: string;
  readonly before: string;
  readonly except: readonly string[];
}

interface BirthRangeCriterion {
  readonly kind: 'birth-range';
  /** The date of birth is in one of `spans`, or is one of `among`. */
  readonly spans: readonly Span[];
  readonly among: readonly string[];
  /** The range depends on the day of the request (`ap`). */
  readonly isApproximate: boolean;
}

const DATE = /^\d{4}(?:-\d\d(?:-\d\d)?)?$/;
/** Before every date, but after the empty text of an absent date; after every date. */
const FIRST = '0';
const LAST = '~';
/** Sorts after a date and all dates that it contains, before the next date: `.` follows `-`. */
const AFTER = '.';
const DAY_MS = 86_400_000;

/** The shortest date that begins on the day: `1975` for `1975-01-01`. */
function beginning(ms: number): string {
  const day = new Date(Math.ceil(ms / DAY_MS) * DAY_MS).toISOString();
  return day.startsWith('+') ? LAST : day.slice(0, 10).replace(/(?:-01)?-01$/, '');
}

/** The dates that contain a date and begin before it. */
const containing = (date: string): string[] =>
  [4, 7].filter((length) => length < date.length).map((length) => date.slice(0, length));

type Selected = Pick<BirthRangeCriterion, 'spans' | 'among'>;

/** R4's table of prefixes, 3.1.1.4.5: each compares the requested range with the stored one. */
function selected(prefix: string, date: string, range: DateRange): Selected {
  const [starts, ends] = [beginning(range.from), beginning(range.before)];
  const span = (from: string, before: string, except: readonly string[] = []): Span => ({ from, before, except });
  const within = span(date, date + AFTER);
  switch (prefix) {
    case 'ne':
      return { spans: [span(FIRST, date), span(date + AFTER, LAST)], among: [] };
    case 'lt':
      return { spans: [span(FIRST, starts)], among: [] };
    case 'le':
      return { spans: [span(FIRST, starts), within], among: [] };
    case 'eb':
      return { spans: [span(FIRST, starts, containing(starts))], among: [] };
    case 'gt':
      return { spans: [span(ends, LAST)], among: containing(ends) };
    case 'ge':
      return { spans: [span(ends, LAST), within], among: containing(ends) };
    case 'sa':
      return { spans: [span(ends, LAST)], among: [] };
    case 'ap':
      return { spans: [span(starts, ends)], among: containing(starts) };
    default:
      return { spans: [within], among: [] };
  }
}

export const birthRange = {
  type: 'date',
  read: (value) => {
    const given = value.dates();
    const any: Selected[] = [];
    for (const { prefix, text, range } of given) {
      if (!DATE.test(text) || range === undefined) return { problem: 'must be a date: YYYY, YYYY-MM or YYYY-MM-DD' };
      any.push(selected(prefix ?? 'eq', text, range));
    }
    return {
      kind: 'birth-range',
      spans: any.flatMap(({ spans }) => spans),
      among: any.flatMap(({ among }) => among),
      isApproximate: given.some(({ prefix }) => prefix === 'ap'),
    };
  },
  meets: ({ search }, { spans, among }) => {
    const date = search?.birthDate ?? '';
    return (
      among.includes(date) ||
      spans.some(({ from, before, except }) => date >= from && date < before && !except.includes(date))
    );
  },
  rank: 3,
  planAnew: true,
  source: () => PATIENT_SEARCH,
  sql: ({ spans, among }, alias, { bind }) => {
    const column = `${alias}.birth_date`;
    const each = spans.map(({ from, before, except }) => {
      const without = except.length === 0 ? '' : ` and not ${oneOf(column, except, 'text', bind)}`;
      return `${column} >= ${bind(from)} and ${column} < ${bind(before)}${without}`;
    });
    if (among.length === 0 && each.length === 1) return each.join('');
    const exactly = among.length === 0 ? [] : [oneOf(column, among, 'text', bind)];
    // One range of the index, so that it, or the order of ids, is walked: of several, all would be read and then sorted.
    const starts = [...spans.map(({ from }) => from), ...among].toSorted();
    const ends = [...spans.map(({ before }) => before), ...among.map((one) => one + AFTER)].toSorted();
    return `${column} >= ${bind(starts[0] ?? LAST)} and ${column} < ${bind(ends.at(-1) ?? LAST)}
     and case when ${[...each, ...exactly].join(' or ')} then true else false end`;
  },
  sort: BIRTHDATE_SORT,
} as const satisfies Kind<BirthRangeCriterion>;
