/**
 * The search box finds an identifier, a name, or an id of a resource, message, request or API key. It takes one round trip, in
 * which each statement reads a limited part of an index.
 */
import * as z from 'zod';

import { isUuid } from '../../../shared/uuid.ts';
import { isRequestId } from '../../http/request-id.ts';
import type { Query } from '../../deps.ts';
import type { Permission } from '../../permissions.ts';
import { ANY_REFUSAL, findRefusals, type FoundRefusal } from '../../store/admin-refusal.ts';
import { addAudit, type AuditActor } from '../../store/audit.ts';
import { findByIdOrIdentifier, type FoundThing } from '../../store/console-search.ts';
import { inSite } from '../../store/in-site.ts';
import { readPatientText } from '../../store/message-key.ts';
import { ANY_MESSAGE } from '../../store/message-candidates.ts';
import { listMessages, type ListedRow } from '../../store/message-search.ts';
import type { PageRow } from '../../store/page.ts';
import { readFragments, isIndexed } from '../../store/search/kinds/name-fragments.ts';
import { searchPage } from '../../store/search/search.ts';
import { read } from '../../store/sql.ts';
import type { Caller } from '../staff/access.ts';
import { type Person, readPerson, viewPerson } from '../attention/person.ts';
import { type KeyRow, listKeys } from '../keys/statements.ts';

export const searchBody = z.strictObject({
  text: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(200, 'must have 200 characters at most')
    .meta({
      description:
        'A complete identifier (`4711`, `4711^^^EAST`), a name, a control id, a request id, a Client ID, or the id of a ' +
        'resource or message.',
    }),
});

/** Shown of each kind. */
export const MAX_SHOWN = 10;
/** More words of a name do not select fewer patients. */
const MAX_NAMES = 5;
/** The index of control ids finds parts of three characters. */
const MIN_PART = 3;
/** With this end no request fits but by its request id. */
const BEFORE_ALL = '1970-01-01T00:00:00Z';

/** The first matches of a kind. */
export interface Found<Item> {
  readonly items: readonly Item[];
  readonly isMore: boolean;
}

interface FoundMessages extends Found<ListedRow> {
  /** Up to `MAX_COUNTED` and one more. */
  readonly count: number;
}

export interface FoundPerson extends Person {
  /** Merged into another patient. */
  readonly isMerged: boolean;
}

export interface Findings {
  readonly patients: Found<FoundPerson>;
  readonly resources: Found<Pick<FoundThing, 'type' | 'id' | 'patient_id'>>;
  /** Messages that name the patient. */
  readonly patientMessages: FoundMessages;
  /** By control id, sender or request id. */
  readonly messages: FoundMessages;
  readonly apiKeys: Found<KeyRow>;
  readonly requests: Found<FoundRefusal>;
}

/** The permission that each kind needs. */
export const NEEDED: Readonly<Record<keyof Findings, Permission>> = {
  patients: 'site.messages.read',
  resources: 'site.messages.read',
  patientMessages: 'site.messages.read',
  messages: 'site.messages.read',
  apiKeys: 'site.api_keys.read',
  requests: 'site.api_keys.read',
};

export const SEARCH_PERMISSIONS = ['site.messages.read', 'site.api_keys.read'] as const;

const none = <Row extends object>(): Query<Row> => read<Row>`select where false`;

const found = <Item>(items: readonly Item[]): Found<Item> => ({
  items: items.slice(0, MAX_SHOWN),
  isMore: items.length > MAX_SHOWN,
});

const foundMessages = (rows: readonly ListedRow[]): FoundMessages => ({ ...found(rows), count: rows[0]?.total ?? 0 });

/** The names that the index can find; without three letters in a row a search would read all names. */
const namesIn = (text: string): string[] =>
  text.split(/[\s,;^]+/).filter((name) => {
    const fragments = readFragments([name]);
    return Array.isArray(fragments) && fragments.every(isIndexed);
  });

function searchNames(site: string, text: string): Query<PageRow> {
  const names = namesIn(text).slice(0, MAX_NAMES);
  if (names.length === 0 || isUuid(text)) return none();
  const criteria = names.flatMap((name) => {
    const fragments = readFragments([name]);
    return 'problem' in fragments ? [] : [{ kind: 'name' as const, fragments }];
  });
  return searchPage({
    site,
    type: 'Patient',
    criteria,
    sort: { by: 'name', descending: false },
    after: null,
    limit: MAX_SHOWN,
  });
}

/** The value of a CX: `4711^^^EAST`; and the id of `Patient/…`. */
const valueOf = (text: string): string => text.split('^', 1)[0]?.trim() ?? '';
const idOf = (text: string): string | null => {
  const id = text.replace(/^[A-Za-z0-9]+\//, '').toLowerCase();
  return isUuid(id) ? id : null;
};

/** The patients by id and identifier before those by name, each once. */
function patientsOf(things: readonly FoundThing[], named: readonly PageRow[]): FoundPerson[] {
  const people = [
    ...things
      .filter(({ type }) => type === 'Patient')
      .map(({ id, person, is_merged: isMerged }) => ({ ...viewPerson(id, readPerson(person)), isMerged })),
    ...named.map(({ id, body }) => ({
      ...viewPerson(id, readPerson(body === null ? null : `{${body}}`)),
      isMerged: body?.includes('"replaced-by"') === true,
    })),
  ];
  return [...new Map(people.toReversed().map((person) => [person.reference, person])).values()].toReversed();
}

/** The audit records a search that may show patient data, with the patients found and without the text. */
export async function findAnything(
  { actor, auditActor, database }: Pick<Caller, 'actor' | 'database'> & { readonly auditActor: AuditActor },
  text: string,
): Promise<Findings> {
  const { site, permissions } = actor;
  const [seesMessages, seesKeys] = SEARCH_PERMISSIONS.map((permission) => permissions.has(permission));
  const patient = readPatientText(text);
  const [things, named, ofPatient, ofText, keys, refusals] = await inSite(database, site).batch([
    seesMessages ? findByIdOrIdentifier(site, idOf(text), valueOf(text), MAX_SHOWN + 1) : none<FoundThing>(),
    seesMessages ? searchNames(site, text) : none<PageRow>(),
    seesMessages && patient !== undefined
      ? listMessages(site, { ...ANY_MESSAGE, patient }, null, MAX_SHOWN)
      : none<ListedRow>(),
    seesMessages && text.length >= MIN_PART
      ? listMessages(site, { ...ANY_MESSAGE, text }, null, MAX_SHOWN)
      : none<ListedRow>(),
    seesKeys ? listKeys(site, { text, status: '', protocol: '' }, null, MAX_SHOWN + 1, 'name') : none<KeyRow>(),
    seesKeys && isRequestId(text)
      ? findRefusals(site, { ...ANY_REFUSAL, text, to: BEFORE_ALL }, null, MAX_SHOWN + 1)
      : none<FoundRefusal>(),
    ...(seesMessages ? [addAudit(site, auditActor, { action: 'search', searched: ['text'] })] : []),
  ] as const);
  return {
    patients: found(patientsOf(things, named)),
    resources: found(things.filter(({ type }) => type !== 'Patient')),
    patientMessages: foundMessages(ofPatient),
    messages: foundMessages(ofText),
    apiKeys: found(keys),
    requests: found(refusals),
  };
}
