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
import { prepareRead, prepareVread } from './read.ts';
import type { Pair } from './controls/faults.ts';
import { pairsOf } from './controls/pairs.ts';
import { refuseNoneExist, requireAsciiCondition } from './conditional-headers.ts';
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

export const PREPARE: Readonly<Record<InteractionName, Prepare>> = {
  search: ({ context, pairs, request }, type) => {
    refuseNoneExist(request.headers);
    return prepareSearch(context, type, pairs);
  },
  searchByGet: ({ context, pairs, request }, type) => {
    refuseNoneExist(request.headers);
    return prepareSearch(context, type, pairs);
  },
  compartment: ({ context, id, pairs, request }, type) => {
    refuseNoneExist(request.headers);
    return prepareSearch(context, type, [aboutPatient(id), ...pairs]);
  },
  searchByPost: async (call, type) => {
    refuseNoneExist(call.request.headers);
    return prepareSearch(call.context, type, [...call.pairs, ...(await formOf(call))]);
  },
  read: ({ context, id, pairs, request }, type) =>
    type === 'Provenance'
      ? prepareProvenanceRead(context, id, pairs, request.headers)
      : prepareRead(context, type, id, pairs, request.headers),
  vread: ({ context, id, version, pairs, request }, type) =>
    prepareVread(context, type, id, version, pairs, request.headers),
  history: ({ context, id, pairs, request }, type) => {
    refuseNoneExist(request.headers);
    return prepareHistory(context, type, id, pairs);
  },
  typeHistory: ({ context, pairs, request }, type) => {
    refuseNoneExist(request.headers);
    return prepareTypeHistory(context, type, pairs);
  },
  everything: ({ context, id, pairs, request }) => {
    refuseNoneExist(request.headers);
    return prepareEverything(context, id, pairs);
  },
  everythingByPost: async ({ context, id, pairs, request, body }) => {
    refuseNoneExist(request.headers);
    const asked = primitiveParameters(await readJsonIfAny({ request, body }));
    return prepareEverything(context, id, [...pairs, ...asked]);
  },
  docref: ({ context, pairs, request }) => {
    refuseNoneExist(request.headers);
    return prepareDocref(context, pairs);
  },
  docrefByPost: async ({ context, pairs, request, body }) => {
    refuseNoneExist(request.headers);
    return prepareDocref(context, [...pairs, ...docrefParameters(await readJsonIfAny({ request, body }))]);
  },
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
  validate: async ({ context, pairs, request, body }, type) =>
    prepareValidate(context, type, null, pairs, await readJson({ request, body }), request.headers),
  validateInstance: async ({ context, id, pairs, request, body }, type) =>
    prepareValidate(context, type, id, pairs, await readJson({ request, body }), request.headers),
};
