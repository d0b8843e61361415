/**
 * The messages that match the filters of the log: SQL that finds `received_at` and `message_id`. The filter that few messages match
 * (a patient, a reason, a control id) leads. It is read in the order of the page, so that a page costs only its rows.
 */
import { withSynonyms, authoritiesOf, authorityNames } from './authority-synonyms.ts';
import { type PatientText, REASON, termsText } from './message-key.ts';
import { BEHIND_ALL, containing } from './search/like.ts';
import type { Bind } from './sql.ts';
import type { UnmappedName } from './unmapped-name.ts';

/** `errors`: AE and AR; `warnings`: AA with warnings. */
export const MESSAGE_OUTCOMES = ['AA', 'AE', 'AR', 'errors', 'warnings'] as const;
/** Hours back from now. */
export const RANGE_HOURS = { '24h': 24, '7d': 168, '30d': 720 } as const;
/** `today` begins at midnight in the site's time zone. */
export const MESSAGE_RANGES = ['today', '24h', '7d', '30d'] as const;

export interface MessageFilter {
  /** The patient that the message names; null for any patient. */
  readonly patient: PatientText | null;
  /** Part of MSH-10, or of the sending application and facility, in any case; or a whole request id; '' for all. */
  readonly text: string;
  /** A part of an error or warning: its reason, its code (205), or its position (PID-3, PID); '' for all. */
  readonly reason: string;
  /** MSH-9 from its start: `ADT`, `ADT^A04`. */
  readonly type: string;
  readonly outcome: (typeof MESSAGE_OUTCOMES)[number] | '';
  readonly clientId: string;
  readonly range: (typeof MESSAGE_RANGES)[number] | '';
  /** Instants, '' for open. */
  readonly from: string;
  readonly to: string;
  /** Only messages that have this name without a URI. */
  readonly unmapped?: UnmappedName | undefined;
}

/** A filter that all messages match. */
export const ANY_MESSAGE: MessageFilter = {
  patient: null,
  text: '',
  reason: '',
  type: '',
  outcome: '',
  clientId: '',
  range: '',
  from: '',
  to: '',
};

/** The position of a page: the newest, or next to a message that was shown. */
export interface MessagePlace {
  readonly side: 'older' | 'newer';
  /** received_at and message_id. */
  readonly than: readonly string[];
}

/** The highest total: further messages are not counted. */
export const MAX_COUNTED = 1000;
/** The most names that begin with a typed word. With more, messages are missing: the reader must type more letters. */
const MAX_NAMES = 200;

/** Without three letters or digits in a row, the index of trigrams is not used (migrations/0004_hl7.sql). */
const TRIGRAM = /[\p{L}\p{N}]{3}/u;
/** So many of the newest messages show whether many have a part of a control id. */
const NEWEST_READ = 1_000;
/** Up to so many are listed and sorted: two digits after a letter are in one of ninety numbers. */
const MAX_LISTED = 11_500;

export interface Selection {
  readonly filter: MessageFilter;
  readonly place: MessagePlace | null;
  /** The limit of the candidates. */
  readonly limit: string;
  readonly site: string;
  readonly bind: Bind;
}

/**
 * SQL: the message of a row, looked up by its key, one at a time. The limit ensures that no estimate leads to a scan.
 *
 * @param all the conditions that it must fulfil
 */
export const messageOf = (site: string, alias: string, all: readonly string[] = []): string =>
  `cross join lateral (
    select * from hl7_message m
     where ${[`m.site_id = ${site}`, `m.message_id = ${alias}.message_id`, ...all].join(' and ')} limit 1) m`;

export interface Candidates {
  /** Common table expressions that come before. */
  readonly before: string;
  /** SQL that yields received_at and message_id, each message once. */
  readonly candidates: string;
  /** SQL: the field in which the message names the requested patient. */
  readonly named?: string;
}

export function candidatesOf(selection: Selection): Candidates {
  const { patient, text, reason, outcome } = selection.filter;
  if (patient !== null) return ofPatient(selection, patient);
  if (reason !== '' || outcome === 'warnings') return ofReason(selection);
  if (text !== '') return ofText(selection);
  return {
    before: '',
    candidates: page(selection, 'hl7_message', [...conditions(selection), ...window(selection, 'm')]),
  };
}

const orderOf = ({ place }: Selection, alias: string): string =>
  place?.side === 'newer'
    ? `${alias}.received_at asc, ${alias}.message_id asc`
    : `${alias}.received_at desc, ${alias}.message_id desc`;

/** SQL: the newest of a table of messages that fulfil all of these. */
const page = (selection: Selection, table: string, all: readonly string[]): string =>
  `select m.received_at, m.message_id from ${table} m where ${all.join('\n     and ')}
    order by ${orderOf(selection, 'm')} limit ${selection.limit}`;

/** SQL: the filter's period, and the messages behind the place of the page. */
function window({ filter: { range, from, to }, place, site, bind }: Selection, alias: string): string[] {
  const at = `${alias}.received_at`;
  return [
    ...(from === '' ? [] : [`${at} >= ${bind(from)}::timestamptz`]),
    ...(to === '' ? [] : [`${at} < ${bind(to)}::timestamptz`]),
    ...(range === '' ? [] : [`${at} >= ${startOf(range, site)}`]),
    ...(place === null
      ? []
      : [
          `(${at}, ${alias}.message_id) ${place.side === 'newer' ? '>' : '<'} (${bind(place.than[0] ?? '')}::timestamptz, ${bind(place.than[1] ?? '')}::uuid)`,
        ]),
  ];
}

/** SQL: the first instant of a range. */
const startOf = (range: (typeof MESSAGE_RANGES)[number], site: string): string =>
  range === 'today'
    ? `(select date_trunc('day', now() at time zone z) at time zone z from search_zone(${site}) z)`
    : `now() - interval '${RANGE_HOURS[range]} hours'`;

const OUTCOMES: Readonly<Record<(typeof MESSAGE_OUTCOMES)[number], readonly string[]>> = {
  AA: [`m.outcome = 'AA'`],
  // With the condition of the indexes of rejected messages.
  AE: [`m.outcome <> 'AA'`, `m.outcome = 'AE'`],
  AR: [`m.outcome <> 'AA'`, `m.outcome = 'AR'`],
  errors: [`m.outcome <> 'AA'`],
  warnings: [`m.outcome = 'AA'`],
};

/** SQL: the condition of the index of a key's messages; no other query uses it (migrations/0004_hl7.sql). */
const OF_KEY = `m.client_id <> ''`;

type Lead = 'patient' | 'reason' | 'text';

/** SQL over `m`: the conditions of the filter. @param lead the filter that finds the candidates, and needs no condition */
function conditions({ filter, site, bind }: Selection, lead?: Lead): string[] {
  const { type, outcome, clientId, text, reason, unmapped } = filter;
  return [
    `m.site_id = ${site}`,
    ...(type === '' ? [] : [`starts_with(m.message_type, upper(${bind(type)}))`]),
    ...(outcome === '' ? [] : OUTCOMES[outcome]),
    ...(clientId === '' ? [] : [`m.client_id = ${bind(clientId)}`, OF_KEY]),
    ...(text === '' || lead === 'text' ? [] : [ofTextOrRequest(site, bind(text))]),
    ...((reason === '' && outcome !== 'warnings') || lead === 'reason'
      ? []
      : [
          `exists (select from hl7_message_key r where r.site_id = m.site_id and r.message_id = m.message_id and ${reasonOf(filter, bind)})`,
        ]),
    // Only with a name, so that PostgreSQL plans the query for it.
    ...(unmapped === undefined
      ? []
      : [
          `m.message_id in (select u.message_id from unmapped_name u
             where u.site_id = ${site} and u.kind = ${bind(unmapped.kind)} and u.name = ${bind(unmapped.name)})`,
        ]),
  ];
}

/** SQL over `m`. */
const ofTextOrRequest = (site: string, text: string): string =>
  `(strpos(lower(concat_ws(' ', m.control_id, m.sending_application, m.sending_facility)), lower(${text})) > 0
      or exists (select from hl7_attempt a where a.site_id = ${site} and a.message_id = m.message_id and a.request_id = ${text}))`;

/** SQL over `r`, a row with an error or warning. */
function reasonOf({ reason, outcome }: MessageFilter, bind: Bind): string {
  const all = [`r.key >= '${REASON}'`, `r.key < '"'`];
  if (outcome === 'warnings') all.push(`starts_with(r.value, 'W')`);
  if (reason !== '') {
    const asked = bind(reason);
    all.push(`(r.key = '${REASON}' || lower(${asked}) or split_part(r.value, ' ', 2) = ${asked}
        or r.field = upper(${asked}) or starts_with(r.field, upper(${asked}) || '-'))`);
  }
  return all.join(' and ');
}

/** SQL: the newest messages that have one of `keys`. @param row further conditions over `r`, the row with the key */
function byKeys(selection: Selection, keys: string, row: readonly string[], lead: Lead): string {
  const [, ...ofMessage] = conditions(selection, lead);
  const joined = ofMessage.length === 0 ? '' : `\n       ${messageOf(selection.site, 'r', ofMessage)}`;
  return `select distinct n.received_at, n.message_id from ${keys} w
   cross join lateral (
     select distinct r.received_at, r.message_id from hl7_message_key r${joined}
      where ${[`r.site_id = ${selection.site}`, 'r.key = w.key', ...row, ...window(selection, 'r')].join('\n        and ')}
      order by ${orderOf(selection, 'r')} limit ${selection.limit}) n`;
}

/** SQL, recursive: the different keys from one to another, found one by one in the index. */
const keysBetween = (name: string, site: string, from: string, before: string): string => `${name} as (
  (select r.key, 1 as n from hl7_message_key r where r.site_id = ${site} and r.key >= ${from} and r.key < ${before}
    order by r.key limit 1)
  union all
  select (select r.key from hl7_message_key r where r.site_id = ${site} and r.key > w.key and r.key < ${before}
           order by r.key limit 1), w.n + 1
    from ${name} w where w.key is not null and w.n < ${MAX_NAMES}
)`;

function ofReason(selection: Selection): Candidates {
  const { site, filter, bind } = selection;
  const before = `${keysBetween('reasons', site, `'${REASON}'`, `'"'`)}, `;
  return { before, candidates: byKeys(selection, 'reasons', [reasonOf(filter, bind)], 'reason') };
}

/**
 * By an identifier, and by a name of which each typed word is the beginning of a word. The rarest of the words leads;
 * the same name must contain the others.
 */
function ofPatient(selection: Selection, { number, authorities, terms }: PatientText): Candidates {
  const { site, bind } = selection;
  const asNumber: string[] = [];
  const asName: string[] = [];
  let before = '';
  if (number !== null) {
    const key = bind(number);
    asNumber.push(`r.key = ${key}`);
    before += `numbers as (select ${key}::text as key), `;
    if (authorities.length > 0) {
      // The sender may have omitted the authority.
      asNumber.push(`(r.authority = '' or ${authoritiesOf('r.authority')} && (select authorities from meant))`);
      const typed = `${bind([...authorities])}::text[]`;
      before += `${authorityNames(site)}, meant as materialized (select ${withSynonyms(typed)} as authorities), `;
    }
  }
  if (terms.length > 0) {
    const each = bind([...terms]);
    asName.push(...terms.map((term) => `r.value like ${bind(containing(termsText([term]).trimEnd()))}`));
    before += `word as materialized (
  select w as key from unnest(${each}::text[]) w
   order by (select count(*) from (select from hl7_message_key r where r.site_id = ${site} and r.key >= w and r.key < w || '${BEHIND_ALL}'
              limit ${MAX_COUNTED}) x) limit 1
), ${keysBetween('names', site, '(select key from word)', `(select key || '${BEHIND_ALL}' from word)`)}, `;
  }
  const candidates = [
    ...(asNumber.length === 0 ? [] : [`(${byKeys(selection, 'numbers', asNumber.slice(1), 'patient')})`]),
    // A name that was found by its only typed word has it. Without the value, the index alone has the messages.
    ...(asName.length === 0 ? [] : [`(${byKeys(selection, 'names', asName.length === 1 ? [] : asName, 'patient')})`]),
  ].join('\n union\n ');
  const ways = [
    ...(asNumber.length === 0 ? [] : [asNumber.join(' and ')]),
    ...(asName.length === 0 ? [] : [`r.authority = '' and r.key >= '0' and ${asName.join(' and ')}`]),
  ];
  const named = `(select json_agg(distinct jsonb_build_object('field', r.field, 'value', case when starts_with(r.key, '#') then r.value else '' end,
      'authority', r.authority))::text
     from hl7_message_key r where r.site_id = m.site_id and r.message_id = m.message_id and (${ways.map((way) => `(${way})`).join(' or ')}))`;
  return { before, candidates, named };
}

/**
 * By a part of the control id. If a twentieth of the newest messages have it, a walk fills the page soon. Else the index of trigrams
 * lists the messages, and they are sorted.
 *
 * @param text the bound part
 * @param rest the other conditions
 */
function byControlId(selection: Selection, text: string, rest: readonly string[]): Candidates {
  const { site, bind, filter } = selection;
  // Without `like`, so that PostgreSQL expects to find many and walks.
  const isPart = `strpos(lower(m.control_id), lower(${text})) > 0`;
  const walk = (...all: readonly string[]): string => page(selection, 'hl7_message', [...rest, isPart, ...all]);
  if (!TRIGRAM.test(filter.text)) return { before: '', candidates: walk() };
  const among = [`m.site_id = ${site}`, ...window(selection, 'm')].join(' and ');
  const before = `common as materialized (
  select count(*) > ${NEWEST_READ / 20} as yes from (
    select ${isPart} as yes from hl7_message m where ${among} order by ${orderOf(selection, 'm')} limit ${NEWEST_READ}) x where x.yes
), listed as materialized (
  select m.received_at, m.message_id from hl7_message_here m
   where ${[...rest, `lower(m.control_id) like lower(${bind(containing(filter.text))})`, 'not (select yes from common)'].join(' and ')}
   limit ${MAX_LISTED + 1}
), few as materialized (select count(*) <= ${MAX_LISTED} as yes from listed), `;
  return {
    before,
    candidates: `(select l.* from listed l where (select yes from few))
 union all
 (${walk('((select yes from common) or not (select yes from few))')})`,
  };
}

/** By a part of the control id or of MSH-3 and MSH-4, or by the request id of an attempt. */
function ofText(selection: Selection): Candidates {
  const { site, bind, filter } = selection;
  const text = bind(filter.text);
  const rest = [...conditions(selection, 'text'), ...window(selection, 'm')];
  const sender = 'm.sending_application, m.sending_facility';
  const before = `senders as (
  (select x.*, 1 as n from api_key k cross join lateral (
     select m.client_id, ${sender} from hl7_message m where m.site_id = ${site} and m.client_id = k.client_id order by ${sender} limit 1) x
    where k.site_id = ${site})
  union all
  select x.*, s.n + 1
    from senders s cross join lateral (
      select m.client_id, ${sender} from hl7_message m
       where m.site_id = ${site} and m.client_id = s.client_id and (${sender}) > (s.sending_application, s.sending_facility)
       order by ${sender} limit 1) x
   where s.n < ${MAX_COUNTED}
), `;
  const control = byControlId(selection, text, rest);
  const bySender = page(selection, 'hl7_message', [
    ...rest,
    // `=` would let PostgreSQL use the index of senders. A key's messages are in order, and nearly all are of one sender.
    `m.client_id = s.client_id and ${OF_KEY} and m.sending_application is not distinct from s.sending_application`,
    'm.sending_facility is not distinct from s.sending_facility',
  ]);
  const [, ...ofMessage] = rest;
  const byRequest = `select m.received_at, m.message_id
    from (select distinct a.message_id
            from (select a.message_id from hl7_attempt a where a.site_id = ${site} and a.request_id = ${text}
                   order by a.at desc limit ${MAX_COUNTED + 1}) a) a
   ${messageOf(site, 'a', ofMessage)}
   order by ${orderOf(selection, 'm')} limit ${selection.limit}`;
  return {
    before: before + control.before,
    candidates: `(${control.candidates})
 union
 (${byRequest})
 union
 (select n.received_at, n.message_id from (select * from senders limit ${MAX_COUNTED}) s
   cross join lateral (${bySender}) n
   where strpos(lower(s.sending_application || ' ' || s.sending_facility), lower(${text})) > 0)`,
  };
}
