/** The text of a plan for people: a line for each member that would change. Pure. */
import * as z from 'zod';

import type { SenderRule } from '../../members/sender-rules.ts';
import { sentenceOf, SHOWN_VALUES } from '../rules/sentence.ts';
import type { PlannedItem, PlannedMember, Unmentioned } from './planned.ts';

const texts = z.array(z.string());
const entries = z.array(z.record(z.string(), z.string()));
const jwks = z.object({ keys: z.array(z.looseObject({ kid: z.string().optional(), kty: z.string().optional() })) });

const rules = z.array(z.custom<SenderRule>());
/** A rule as its sentence. A long map, which its sentence shortens, is JSON. */
function ruleText(rule: SenderRule): string {
  const isLong = rule.verb === 'map' && Object.keys(rule.values).length > SHOWN_VALUES;
  const text = isLong ? JSON.stringify(rule) : sentenceOf(rule);
  return rule.name === undefined || isLong ? text : `${rule.name}. ${text}`;
}

/** The items of a list as texts; undefined for another value. */
function itemsOf(member: string, value: unknown): string[] | undefined {
  if (member === 'jwks' && value !== null)
    return jwks.safeParse(value).data?.keys.map(({ kid, kty }) => `${kty ?? 'key'} ${kid ?? 'without kid'}`);
  if (member === 'rules') return rules.safeParse(value).data?.map(ruleText);
  const list = texts.safeParse(value);
  if (list.success) return list.data;
  return entries.safeParse(value).data?.map((entry) => Object.values(entry).join(' = '));
}

/** A value of a member in one line. */
export const shown = (member: string, value: unknown): string =>
  itemsOf(member, value)?.join(', ') || (value === null ? 'nothing' : JSON.stringify(value));

function memberLines({ member, before, after }: PlannedMember, isNew: boolean): string[] {
  if (isNew) return [`    + ${member}: ${shown(member, after)}`];
  const [old, now] = [itemsOf(member, before), itemsOf(member, after)];
  if (old === undefined || now === undefined || (old.length === 0 && now.length === 0))
    return [`    ~ ${member}: ${shown(member, before)} → ${shown(member, after)}`];
  const changed = [
    ...old.filter((item) => !now.includes(item)).map((item) => `        - ${item}`),
    ...now.filter((item) => !old.includes(item)).map((item) => `        + ${item}`),
  ];
  return [`    ~ ${member}:`, ...(changed.length === 0 ? [`        ${now.join(', ')} (in another order)`] : changed)];
}

const SIGNS = { create: '+', update: '~', disable: '-' } as const;
/** The kinds as a plan names them. */
export const KINDS = {
  settings: 'settings',
  address: 'address',
  'api-key': 'API key',
  subscription: 'subscription',
  rules: 'rules of API key',
  'code-table': 'code table',
} as const;

/** The states of records that `prune` ends. */
const ENDED = {
  settings: 'disabled',
  address: 'disabled',
  'api-key': 'disabled',
  subscription: 'paused',
  rules: 'switched off',
  'code-table': 'switched off',
} as const;

function itemLines({ kind, action, name, clientId, members }: PlannedItem): string[] {
  const id = clientId === null ? '' : ` (${clientId})`;
  const end = { create: ': new', update: '', disable: `: ${ENDED[kind]}, because the file does not have it` }[action];
  return [
    `${SIGNS[action]} ${KINDS[kind]} ${JSON.stringify(name)}${id}${end}`,
    ...members.flatMap((each) => memberLines(each, action === 'create')),
  ];
}

/** The records that the file does not have, a text for each. */
export const unmentionedNames = (left: Unmentioned): string[] => [
  ...left.apiKeys.map(({ name, clientId }) => `API key ${JSON.stringify(name)} (${clientId})`),
  ...left.addresses.map((range) => `address ${range}`),
  ...left.assigningAuthorities.map((name) => `assigning authority ${name}`),
  ...left.codeSystems.map((name) => `code system ${name}`),
  ...left.subscriptions.map((text) => `subscription ${JSON.stringify(text)}`),
  ...left.codeTables.map((name) => `code table ${JSON.stringify(name)}`),
];

/** A plan as text. @param warnings sentences */
export function printPlan(items: readonly PlannedItem[], warnings: readonly string[], left: Unmentioned): string {
  const count = (action: PlannedItem['action']): number => items.filter((item) => item.action === action).length;
  const names = unmentionedNames(left);
  const lines = [
    ...items.flatMap(itemLines),
    ...(items.length === 0
      ? ['No changes: the site is as the file says.']
      : [`${count('create')} to create, ${count('update')} to change, ${count('disable')} to disable.`]),
    ...warnings.map((warning) => `! ${warning}`),
    ...(names.length === 0 ? [] : ['Not in the file, and unchanged:', ...names.map((each) => `    ${each}`)]),
  ];
  return `${lines.join('\n')}\n`;
}
