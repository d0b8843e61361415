/**
 * Provenance (edge/docs/behaviour.md, FHIR, Provenance): each version of a resource has one, made from what the gateway keeps.
 * It can be read, searched by its target, and included with the matches of a search.
 */
import type { JsonObject } from '../../shared/json.ts';
import { printMembers } from '../../shared/json.ts';
import { isResourceType, isStored } from '../../shared/resource-type.ts';
import { isUuid } from '../../shared/uuid.ts';
import { requireScopes } from '../oauth/bearer.ts';
import { type ProvenanceRow, provenancePage, readFacts } from '../store/provenance.ts';
import { bundleText } from './bundle-text.ts';
import { type RequestHeaders, versionOf } from './conditional-headers.ts';
import {
  CURSOR,
  FORM_CONTROLS,
  pageCountOf,
  partOf,
  READ_CONTROLS,
  READ_SUMMARIES,
  readControls,
} from './controls/controls.ts';
import { badParameter, type Pair } from './controls/faults.ts';
import { pageLinks } from './controls/links.ts';
import { type Interaction, NOTED, readScope, type RequestContext } from './interaction.ts';
import { readAnswer, unknownResource } from './read.ts';
import type { RequiredResource, StoredResource } from '../store/resource.ts';
import type { Stored } from './resource-answer.ts';
import type { Part } from './subset.ts';
import { resourceEntry } from './searchset.ts';

const DATA_OPERATION = 'http://terminology.hl7.org/CodeSystem/v3-DataOperation';
const PARTICIPANT = 'http://terminology.hl7.org/CodeSystem/provenance-participant-type';
const US_CORE_PARTICIPANT = 'http://hl7.org/fhir/us/core/CodeSystem/us-core-provenance-participant-type';
const TARGET_PATH = 'http://hl7.org/fhir/StructureDefinition/targetPath';

const coded = (system: string, code: string): JsonObject => ({ coding: [{ system, code }] });

function agentOf({ clientId, message, person }: ReturnType<typeof readFacts>): JsonObject {
  if (person !== null) {
    return { type: coded(PARTICIPANT, 'performer'), who: { type: 'Practitioner', identifier: { value: person } } };
  }
  if (clientId === null) return { who: { display: 'Not on record' } };
  const sender = [message?.application ?? '', message?.facility ?? ''].filter((one) => one !== '').join(' ');
  const who = { type: 'Device', identifier: { value: clientId }, ...(sender === '' ? {} : { display: sender }) };
  return { type: coded(US_CORE_PARTICIPANT, 'transmitter'), who };
}

const versionUrl = ({ type, id }: ProvenanceRow, version: number): string => `${type}/${id}/_history/${version}`;

/** Each list has an item: R4 has no empty lists. */
function contentOf(row: ProvenanceRow): JsonObject {
  const { type, version, last_updated: recorded } = row;
  const facts = readFacts(row.facts);
  const { elements, message } = facts;
  const paths = (elements ?? '').split(',').flatMap((one) => one.split(' ')[0] || []);
  const extension = paths.map((path) => ({ url: TARGET_PATH, valueString: `${type}.${path}` }));
  const previous = version > 1 ? [{ role: 'revision', what: { reference: versionUrl(row, version - 1) } }] : [];
  const source =
    message === null
      ? []
      : [
          {
            role: 'source',
            what: {
              type: 'MessageHeader',
              identifier: { value: message.id },
              display: `${message.type} ${message.controlId}`,
            },
          },
        ];
  const entity = [...source, ...previous];
  return {
    target: [{ ...(extension.length === 0 ? {} : { extension }), reference: versionUrl(row, version) }],
    recorded,
    activity: coded(DATA_OPERATION, version === 1 ? 'CREATE' : 'UPDATE'),
    agent: [agentOf(facts)],
    ...(entity.length === 0 ? {} : { entity }),
  };
}

/** A version with its facts as a Provenance, which never changes. */
export const provenanceOf = (row: ProvenanceRow): Stored => ({
  type: 'Provenance',
  id: `${row.type}-${row.id}-${row.version}`,
  version: 1,
  last_updated: row.last_updated,
  meta: '',
  body: printMembers(contentOf(row)),
});

/** The entries of the Provenance of resources, where the page has their facts. */
export const provenanceEntries = (
  root: string,
  resources: readonly (StoredResource & { readonly facts?: string | null })[],
  part: Part | null = null,
): string[] =>
  resources.flatMap((row) => {
    const { facts } = row;
    return typeof facts === 'string'
      ? [resourceEntry(root, provenanceOf({ ...row, facts }), part, { mode: 'include' })]
      : [];
  });

const ID = /^([A-Za-z]+)-(.{36})-([1-9]\d{0,8})$/;
const REFERENCE = /^([A-Za-z]+)\/([^/]+)(?:\/_history\/([^/]+))?$/;

/** @returns undefined for a type that the gateway does not store */
function targetOf(context: RequestContext, type: string | undefined, id: string, version: number | null) {
  const isKnown = isResourceType(type) && isStored(type) && context.types.includes(type);
  return isKnown ? ({ type, id, version } satisfies RequiredResource) : undefined;
}

/** @throws Fault `forbidden` where the token may not read the target */
export function prepareProvenanceRead(
  context: RequestContext,
  id: string,
  pairs: readonly Pair[],
  headers: RequestHeaders,
): Interaction {
  const part = partOf('Provenance', readControls(pairs, READ_CONTROLS), READ_SUMMARIES);
  const [, type, uuid = '', version] = ID.exec(id) ?? [];
  const target = targetOf(context, type, uuid, Number(version));
  if (target === undefined || !isUuid(uuid)) return unknownResource({ type: 'Provenance', id, version: null });
  requireScopes(context.caller, [readScope(target.type)]);
  const query = provenancePage({ ...target, site: context.caller.site, below: null, limit: 1, action: 'read' });
  return {
    audited: NOTED,
    queries: [query],
    answer: (rowsOf) => readAnswer('Provenance', rowsOf(query).map(provenanceOf)[0], part, headers, context.root),
  };
}

/** The search parameter of Provenance, for the documents about the API. */
export const PROVENANCE_TARGET = {
  name: 'target',
  documentation:
    'The resource, or a version of it: [type]/[id], [type]/[id]/_history/[version]. Needs the read scope of the type too.',
} as const;

const CONTROLS = [PROVENANCE_TARGET.name, '_count', '_elements', '_summary', CURSOR, ...FORM_CONTROLS];

/**
 * Newest first.
 *
 * @throws Fault `malformed` without one target; `forbidden` where the token may not read the target
 */
export async function prepareProvenanceSearch(context: RequestContext, pairs: readonly Pair[]): Promise<Interaction> {
  const given = readControls(pairs, CONTROLS);
  const target = given.get('target');
  const message = 'target must be one [type]/[id], or [type]/[id]/_history/[version]';
  if (target === undefined) throw badParameter('target', `a search of Provenance needs target: ${message}`, 'required');
  const relative = target.startsWith(`${context.root}/`) ? target.slice(context.root.length + 1) : target;
  const [, type, id = '', version] = REFERENCE.exec(relative) ?? [];
  const found = targetOf(context, type, id, version === undefined ? null : versionOf(version));
  if (found === undefined) throw badParameter('target', message);
  requireScopes(context.caller, [readScope(found.type)]);
  const part = partOf('Provenance', given, READ_SUMMARIES);
  const limit = Math.min(pageCountOf(given.get('_count')), MAX_PAGE);
  const applied = pairs
    .filter(([name]) => name !== CURSOR)
    .map(([name, value]): Pair => [name, name === '_count' ? String(limit) : value]);
  const links = pageLinks(context, 'Provenance', applied);
  const cursor = given.get(CURSOR) ?? null;
  const after = cursor === null ? null : await links.open(cursor);
  const audited = { action: null, searched: ['target'] };
  if (!isUuid(id)) {
    const none = async () => ok(bundleText({ type: 'searchset', total: 0 }, await links.of(cursor, null), []));
    return { audited, queries: [], answer: none };
  }
  const below = after === null ? null : Number(after.key);
  const query = provenancePage({ ...found, site: context.caller.site, below, limit, action: 'search' });
  return {
    audited,
    queries: [query],
    answer: async (rowsOf) => {
      const rows = rowsOf(query);
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const next = rows.length > limit && last !== undefined ? { id: last.id, key: String(last.version) } : null;
      const entries = shown.map((row) => resourceEntry(context.root, provenanceOf(row), part));
      const total = after === null && next === null ? { total: shown.length } : {};
      return ok(bundleText({ type: 'searchset', ...total }, await links.of(cursor, next), entries));
    },
  };
}

/** The statement compares the content of each version with the one before. */
const MAX_PAGE = 50;
const ok = (body: string) => ({ status: 200, headers: {}, body }) as const;
