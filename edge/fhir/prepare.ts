/** Prepares each interaction with a type; type-interactions.ts has their routes. */
import type { Deps } from '../deps.ts';
import { formDecoder } from '../http/form-body.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { readJson, readJsonIfAny, type Sent } from './resource-body.ts';
import type { Interaction, Lookup, RequestContext } from './interaction.ts';
import type { InteractionName } from './type-interactions.ts';
import { checkPatch, foundBy, lookUpPatched, type PatchTarget, patchOf } from './patch/patch.ts';
import { readPatch } from './patch/patch-body.ts';
import { docrefParameters, prepareDocref } from './docref.ts';
import { prepareEverything } from './everything.ts';
import { prepareHistory, prepareTypeHistory } from './history.ts';
import { prepareMatch } from './match.ts';
import { primitiveParameters } from './operation-input.ts';
import { prepareProvenanceRead } from './provenance.ts';
import { prepareRead } from './read.ts';
import type { Pair } from './controls/faults.ts';
import { pairsOf } from './controls/pairs.ts';
import { refuseNoneExist, requireAsciiCondition, requireNoConditions, versionOf } from './conditional-headers.ts';
import { conditionOf, requireFormControls } from './controls/write-controls.ts';
import { aboutPatient, prepareSearch } from './search/search.ts';
import { prepareValidate } from './validate-operation.ts';
import { type CheckedWrite, checkConditionalUpdate, checkCreate, checkUpdate, planWrite } from './plan-write.ts';
import { prepareWrite } from './run-write.ts';

/** One request, as its interaction sees it. */
export interface Call extends Sent {
  readonly deps: Deps;
  readonly context: RequestContext;
  /** The parameters of the URL. */
  readonly pairs: readonly Pair[];
  /** The id in the path; `''` without one. */
  readonly id: string;
  readonly version: string;
}

export type Prepare = (call: Call, type: ResourceType) => Promise<Interaction | Lookup> | Interaction | Lookup;

/** The form of `POST _search`; a body may be missing, since the URL can hold parameters too. */
async function formOf({ request, body }: Call): Promise<Pair[]> {
  const bytes = await body();
  if (bytes.byteLength === 0) return [];
  return pairsOf(formDecoder(request.headers.get('content-type'))(bytes));
}

const write = (context: RequestContext, checked: CheckedWrite): Interaction =>
  prepareWrite(context, planWrite(context, checked));

async function preparePatch(call: Call, type: ResourceType, target: PatchTarget): Promise<Lookup> {
  const { context, request } = call;
  const patch = patchOf(type, target, await readPatch(call), request.headers);
  return lookUpPatched(context, null, [patch], (attempt, [found = []]) =>
    write(attempt, checkPatch(attempt, patch, found)),
  );
}

/** An interaction without `If-None-Exist`, which it rejects. */
const withoutNoneExist =
  (prepare: Prepare): Prepare =>
  (call, type) => {
    refuseNoneExist(call.request.headers);
    return prepare(call, type);
  };

const search = withoutNoneExist(({ context, pairs }, type) => prepareSearch(context, type, pairs));

async function validate(call: Call, type: ResourceType, id: string | null): Promise<Interaction> {
  const content = await readJson(call);
  requireNoConditions(call.request.headers, '$validate');
  return prepareValidate(call.context, type, id, call.pairs, content);
}

export const PREPARE: Readonly<Record<InteractionName, Prepare>> = {
  search,
  searchByGet: search,
  compartment: withoutNoneExist(({ context, id, pairs }, type) =>
    prepareSearch(context, type, [aboutPatient(id), ...pairs]),
  ),
  searchByPost: withoutNoneExist(async (call, type) =>
    prepareSearch(call.context, type, [...call.pairs, ...(await formOf(call))]),
  ),
  read: ({ context, id, pairs, request }, type) =>
    type === 'Provenance'
      ? prepareProvenanceRead(context, id, pairs, request.headers)
      : prepareRead(context, { type, id, version: null }, pairs, request.headers),
  vread: ({ context, id, version, pairs, request }, type) =>
    prepareRead(context, { type, id, version: versionOf(version) }, pairs, request.headers),
  history: withoutNoneExist(({ context, id, pairs }, type) => prepareHistory(context, type, id, pairs)),
  typeHistory: withoutNoneExist(({ context, pairs }, type) => prepareTypeHistory(context, type, pairs)),
  everything: withoutNoneExist(({ context, id, pairs }) => prepareEverything(context, id, pairs)),
  everythingByPost: withoutNoneExist(async (call) =>
    prepareEverything(call.context, call.id, [...call.pairs, ...primitiveParameters(await readJsonIfAny(call))]),
  ),
  docref: withoutNoneExist(({ context, pairs }) => prepareDocref(context, pairs)),
  docrefByPost: withoutNoneExist(async (call) =>
    prepareDocref(call.context, [...call.pairs, ...docrefParameters(await readJsonIfAny(call))]),
  ),
  match: async ({ context, pairs, request, body }) =>
    prepareMatch(context, pairs, await readJson({ request, body }), request.headers),
  create: async ({ context, pairs, request, body }, type) => {
    requireFormControls(pairs, 'create');
    requireAsciiCondition(request.headers);
    return write(context, checkCreate(context, type, await readJson({ request, body }), request.headers));
  },
  update: async ({ context, id, pairs, request, body }, type) => {
    requireFormControls(pairs, 'update');
    return write(context, checkUpdate(context, type, id, await readJson({ request, body }), request.headers));
  },
  conditionalUpdate: async ({ context, pairs, request, body }, type) => {
    const content = await readJson({ request, body });
    return write(context, checkConditionalUpdate(context, type, conditionOf(pairs), content, request.headers));
  },
  patch: async (call, type) => {
    requireFormControls(call.pairs, 'patch');
    return preparePatch(call, type, { id: call.id });
  },
  conditionalPatch: async (call, type) =>
    preparePatch(call, type, foundBy(call.context, type, conditionOf(call.pairs))),
  validate: (call, type) => validate(call, type, null),
  validateInstance: (call, type) => validate(call, type, call.id),
};
