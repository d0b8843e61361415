/**
 * The identifiers of a patient. Each identifier (authority and value) that a message listed has the precedence and place of its
 * newest listing. Each of its members has the precedence of its newest statement. So an identifier gains members and never
 * loses them to a message with fewer. PID-19 and PID-20 replace what they gave before. Pure.
 */
import {
  isJsonObject,
  objectsOf,
  parseJson,
  printJson,
  sortedJson,
  type Json,
  type JsonObject,
} from '../../../shared/json.ts';
import type { Contribution } from './contribution.ts';
import type { Precedence } from './precedence.ts';
import { placed } from './place.ts';
import { stampOf, type Register, type Registers, type Remembered } from './registers.ts';

const ELEMENT = 'identifier';

export interface IdentifierChange {
  readonly items: Json[];
  /** All registers of the resource, with the changes. */
  readonly registers: Registers;
}

type Names = ReadonlyMap<string, string>;

/** The authority is the system, else the name of the assigner in capitals, else `''`. */
interface AuthorityValue {
  readonly authority: string;
  readonly value: string;
}

/** An identifier that messages listed. */
interface Listed extends AuthorityValue {
  readonly precedence: Precedence;
  readonly place: number;
  readonly members: ReadonlyMap<string, Register>;
}

/** Checks whether a message listed the identifier. */
export const isListed = (item: JsonObject, registers: Registers, names: Names): boolean =>
  registers.has(listingName(keyOf(valueOf(item, names))));

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function valueOf(item: Json, names: Names): AuthorityValue {
  if (!isJsonObject(item)) return { authority: '', value: '' };
  const { system, value, assigner } = item;
  const name = isJsonObject(assigner) ? text(assigner['display']) : '';
  const authority = text(system) === '' ? name.toUpperCase() : text(system);
  return { authority: names.get(authority) ?? authority, value: text(value) };
}

const keyOf = ({ authority, value }: AuthorityValue): string => printJson([authority, value]);
const listingName = (key: string): string => `identifier ${key}`;
const memberName = (key: string, member: string): string => `identifier ${key} ${member}`;
const fieldName = (field: string): string => `identifier ${field}`;

/**
 * @param contributions to `identifier`, in the order of their items in the message
 * @param names system URIs of assigning authorities, by name in capitals
 */
export function changeIdentifiers(
  stored: readonly Json[],
  remembered: Remembered,
  contributions: readonly Contribution[],
  precedence: Precedence,
  names: Names,
): IdentifierChange {
  const stamp = stampOf(remembered, ELEMENT);
  const precedenceOfOthers = stamp === '' ? remembered.base : stamp;
  const said = saidBy(contributions, precedence, names);
  const known = named(remembered.registers, names);
  const before: Registers = new Map([...adopted(said, stored, known, precedenceOfOthers, names), ...known]);
  const applied = said.filter(([name]) => precedence >= (before.get(name)?.precedence ?? ''));
  const registers = new Map([...before, ...applied]);

  const listed = listedIn(registers);
  const ofFields = new Set(itemsOfFields(before).map(sortedJson));
  const rest = stored.filter((item) => !ofFields.has(sortedJson(item)) && !listed.has(keyOf(valueOf(item, names))));
  const deleted = precedence < precedenceOfOthers ? [] : contributions.filter(({ value }) => value === null);
  const isDeleted = (item: Json): boolean => isJsonObject(item) && deleted.some(({ owns }) => owns?.(item) === true);
  const others = rest.filter((item) => !isDeleted(item));
  const ours = composed(stored, others, registers, listed, { stamp, names });
  return { items: placed(stored, others, ours, stamp !== ''), registers };
}

/**
 * Registers for the members of a FHIR client's identifier, when a message first lists it. The message may add the authority that
 * the client did not give.
 */
function adopted(
  said: readonly (readonly [string, Register])[],
  stored: readonly Json[],
  known: Registers,
  precedenceOfOthers: Precedence,
  names: Names,
): [string, Register][] {
  const listed = listedIn(new Map(said));
  const values = new Set([...listed.values()].map(({ value }) => value));
  return stored.filter(isJsonObject).flatMap((item): [string, Register][] => {
    const number = valueOf(item, names);
    const key = keyOf(number);
    const isListed = listed.has(key) || (number.authority === '' && values.has(number.value));
    if (!isListed || known.has(listingName(key))) return [];
    const members = Object.entries(item).map(([member, held]): [string, Register] => [
      memberName(key, nameOfMember(member, held)),
      { precedence: precedenceOfOthers, held },
    ]);
    return [[listingName(key), { precedence: '', held: 0 }], ...members];
  });
}

/** Moves registers of an authority's name to its system, once the name has one. */
function named(registers: Registers, names: Names): Registers {
  const found = new Map<string, Register>();
  for (const [name, register] of registers) {
    const [, key, rest = ''] = IDENTIFIER.exec(name) ?? [];
    const number = key === undefined ? undefined : valueIn(key);
    const system = number === undefined ? undefined : names.get(number.authority);
    const now =
      number === undefined || system === undefined
        ? name
        : `${listingName(keyOf({ ...number, authority: system }))}${rest}`;
    const other = found.get(now);
    if (other === undefined || other.precedence < register.precedence) found.set(now, register);
  }
  return found;
}

/** The register of an identifier, or after a space of one of its members. */
const IDENTIFIER = /^identifier (\[.*\])( \w+)?$/;

function valueIn(key: string): AuthorityValue {
  const number = parseJson(key);
  const [authority, value] = Array.isArray(number) ? number : [];
  return { authority: text(authority), value: text(value) };
}

function saidBy(contributions: readonly Contribution[], precedence: Precedence, names: Names): [string, Register][] {
  const said = new Map<string, Register>();
  let place = 0;
  for (const { field, value, keeps } of contributions) {
    const items = Array.isArray(value) ? value : [];
    if (keeps !== true) {
      said.set(fieldName(field), { precedence, held: items });
      continue;
    }
    for (const item of items) {
      const key = keyOf(valueOf(item, names));
      // PID-2 often repeats PID-3 with fewer members.
      if (said.has(listingName(key)) || !isJsonObject(item)) continue;
      said.set(listingName(key), { precedence, held: place });
      place += 1;
      for (const [member, held] of Object.entries(item))
        said.set(memberName(key, nameOfMember(member, held)), { precedence, held });
    }
  }
  return [...said];
}

/** By their keys. */
function listedIn(registers: Registers): ReadonlyMap<string, Listed> {
  const members = new Map<string, Map<string, Register>>();
  const listings = new Map<string, Register>();
  for (const [name, register] of registers) {
    const [, key, rest] = IDENTIFIER.exec(name) ?? [];
    const member = rest?.trim();
    if (key === undefined) continue;
    if (member === undefined) listings.set(key, register);
    else members.set(key, (members.get(key) ?? new Map<string, Register>()).set(member, register));
  }
  return new Map(
    [...listings].map(([key, { precedence, held }]): [string, Listed] => {
      const place = typeof held === 'number' ? held : 0;
      return [key, { ...valueIn(key), precedence, place, members: members.get(key) ?? new Map() }];
    }),
  );
}

/**
 * Composes the messages' items, the newest listing first, without items that a FHIR client deleted. An identifier without an
 * authority is skipped if it is stored with one.
 */
function composed(
  stored: readonly Json[],
  others: readonly Json[],
  registers: Registers,
  listed: ReadonlyMap<string, Listed>,
  { stamp, names }: { readonly stamp: Precedence; readonly names: Names },
): Json[] {
  const read = (item: Json): AuthorityValue => valueOf(item, names);
  const standing = new Map(stored.map((item) => [keyOf(read(item)), item]));
  const known = [...listed.values(), ...others.map(read)];
  const withAuthority = ({ value }: AuthorityValue) =>
    known.filter((other) => other.value === value && other.authority !== '');
  const isKnownBetter = (number: Listed): boolean => number.authority === '' && withAuthority(number).length > 0;
  // Members of an identifier without its authority belong to the one identifier with that value and an authority.
  const bareOf = (number: Listed): Listed | undefined =>
    withAuthority(number).length === 1 ? listed.get(keyOf({ ...number, authority: '' })) : undefined;
  const entries = [...listed]
    .filter(([key, number]) => !isKnownBetter(number) && (number.precedence >= stamp || standing.has(key)))
    .sort(([a, left], [b, right]) => byListing(left, right) || (a < b ? -1 : 1))
    .map(([key, number]) => itemOf(number, bareOf(number), standing.get(key), stamp));
  const entered = [...entries, ...others].map(read);
  const ofFields = itemsOfFields(registers, stamp, stored).filter((item) => {
    const { authority, value } = read(item);
    return !entered.some((other) => other.value === value && (other.authority === authority || authority === ''));
  });
  return [...entries, ...ofFields];
}

const newestFirst = (a: Precedence, b: Precedence): number => Number(a < b) - Number(a > b);

const byListing = (a: Listed, b: Listed): number => newestFirst(a.precedence, b.precedence) || a.place - b.place;

/** Takes the newest member of each name. A stored member stays if a FHIR client wrote it later, or no message stated it. */
function itemOf(
  { members }: Listed,
  bare: Listed | undefined,
  standing: Json | undefined,
  stamp: Precedence,
): JsonObject {
  const said = [...(bare?.members ?? []), ...members].filter(([member]) => !member.startsWith('type'));
  const item: JsonObject = Object.fromEntries(said.map(([member, { held }]) => [member, held]));
  const type = typeIn([...(bare?.members ?? []), ...members]);
  if (type !== undefined) item['type'] = type;
  for (const [member, value] of stamp !== '' && isJsonObject(standing) ? Object.entries(standing) : []) {
    const register = members.get(nameOfMember(member, value));
    if (register === undefined || register.precedence < stamp) item[member] = value;
  }
  const names = Object.keys(item).sort((a, b) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1));
  return Object.fromEntries(names.map((name) => [name, item[name] ?? null]));
}

/** Senders may give one identifier different types, such as MR and PI: each type has a register by its code. */
function nameOfMember(member: string, held: Json): string {
  const code = member === 'type' ? text(codingsOf(held)[0]?.['code']).replaceAll(/\W/g, '') : '';
  return code === '' ? member : `type_${code}`;
}

const codingsOf = (type: Json | undefined): JsonObject[] => (isJsonObject(type) ? objectsOf(type['coding']) : []);

/** All types of the identifier, the newest first. */
function typeIn(members: readonly (readonly [string, Register])[]): Json | undefined {
  const types = members
    .filter(([member]) => /^type(_|$)/.test(member))
    .sort(([a, left], [b, right]) => newestFirst(left.precedence, right.precedence) || (a < b ? -1 : 1))
    .map(([, { held }]) => held);
  const [newest] = types;
  if (!isJsonObject(newest)) return newest;
  const codings = new Map<string, JsonObject>();
  for (const coding of types.flatMap(codingsOf)) {
    const key = printJson([text(coding['system']), text(coding['code'])]);
    if (!codings.has(key)) codings.set(key, coding);
  }
  return codings.size === 0 ? newest : { ...newest, coding: [...codings.values()] };
}

/** The order of members in FHIR R4, Identifier. */
const MEMBERS: readonly string[] = ['id', 'extension', 'use', 'type', 'system', 'value', 'period', 'assigner'];
const placeOf = (member: string): number => MEMBERS.indexOf(member.replace('_', ''));

/** The items of PID-19 and PID-20. With a stamp, without items that a FHIR client has deleted since. */
function itemsOfFields(registers: Registers, stamp: Precedence = '', stored: readonly Json[] = []): Json[] {
  const standing = new Set(stored.map(sortedJson));
  return [...registers]
    .filter(([name]) => /^identifier [A-Z0-9]{3}-\d+$/.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, { precedence, held }]) => {
      const items = Array.isArray(held) ? held : [];
      return precedence >= stamp ? items : items.filter((item) => standing.has(sortedJson(item)));
    });
}

/**
 * Updates the registers after a merge or renumbering has edited identifiers in place. Neither is ever stale: the edited members
 * become the registered ones.
 */
export function editIdentifiers(
  before: readonly JsonObject[],
  after: readonly JsonObject[],
  registers: Registers,
  names: Names,
): Registers {
  const edited = new Map(registers);
  const left = new Map(after.map((item) => [keyOf(valueOf(item, names)), item]));
  for (const item of before) {
    const key = keyOf(valueOf(item, names));
    const now = left.get(key);
    for (const name of registers.keys()) {
      const member = IDENTIFIER.exec(name)?.[2]?.trim();
      if (!name.startsWith(listingName(key))) continue;
      const isGone =
        now === undefined || (member !== undefined && !member.startsWith('type') && now[member] === undefined);
      if (isGone) edited.delete(name);
    }
    if (now === undefined || !registers.has(listingName(key)) || now['use'] === undefined) continue;
    const precedence = registers.get(listingName(key))?.precedence ?? '';
    edited.set(memberName(key, 'use'), { precedence, held: now['use'] });
  }
  return edited;
}
