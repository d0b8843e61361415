/**
 * `Patient/[id]/$everything` (FHIR R4 patient-operation-everything): the patient, the patients that were merged
 * into it, and the resources about any of them, in pages.
 */
import type { Issue } from '../../shared/fault.ts';
import { isResourceType, isStored, RESOURCE_TYPES, type ResourceType } from '../../shared/resource-type.ts';
import { isUuid } from '../../shared/uuid.ts';
import { requireScopes } from '../oauth/bearer.ts';
import { everythingPage, everythingSubject } from '../store/everything.ts';
import { toPage } from '../store/page.ts';
import type { Position } from '../store/search/page-selection.ts';
import { bundleText } from './bundle-text.ts';
import { CURSOR, EVERYTHING_CONTROLS, pageCountOf, readControls, sinceOf } from './controls/controls.ts';
import { badParameter, type Pair } from './controls/faults.ts';
import { pageLinks } from './controls/links.ts';
import { type Interaction, NOTED, readScope, type RequestContext } from './interaction.ts';
import { provenanceEntries } from './provenance.ts';
import { notFound, unknownResource } from './read.ts';
import { resourceEntry, warningEntries } from './searchset.ts';

/**
 * The types of `_type`, in the order of the answer; null: `_type` is absent.
 *
 * @param types the types of the deployment
 */
function namedTypes(pairs: readonly Pair[], types: readonly ResourceType[]): ResourceType[] | null {
  const known: readonly ResourceType[] = [...RESOURCE_TYPES, ...types.filter((type) => !isStored(type))];
  const given = pairs
    .filter(([name]) => name === '_type')
    .flatMap(([, value]) => value.split(',').map((one) => one.trim()));
  if (given.length === 0) return null;
  const named = known.filter((type) => given.includes(type));
  if (named.length < new Set(given).size) {
    throw badParameter('_type', `_type must list ${known.join(', ')}, separated by commas`);
  }
  if (!named.some(isStored)) {
    throw badParameter('_type', '_type=Provenance adds the Provenance of other types: name these types too');
  }
  return named;
}

/** The types that follow a position, beginning with the type of the position. */
function remaining(types: readonly ResourceType[], { key, id }: Position): Pick<Remaining, 'types' | 'after'> {
  const at = RESOURCE_TYPES.findIndex((type) => type === key);
  const type = RESOURCE_TYPES[at];
  return {
    types: types.filter((one) => RESOURCE_TYPES.findIndex((type) => type === one) >= at),
    after: type === undefined ? null : { type, id },
  };
}
interface Remaining {
  readonly types: readonly ResourceType[];
  readonly after: { readonly type: ResourceType; readonly id: string } | null;
}

/** The warning about types that the token may not read. */
function scopeWarning(types: readonly ResourceType[]): Issue[] {
  if (types.length === 0) return [];
  const scopes = types.map(readScope).join(' ');
  return [
    {
      code: 'suppressed',
      message: `the access token lacks the scopes ${scopes}: resources of these types are left out`,
    },
  ];
}

/** R4 Patient.link, replaced-by: the other "must be used in lieu of" this one. */
function mergeWarning(survivor: string): Issue[] {
  const message =
    `this patient was merged into Patient/${survivor} (Patient.link): ` +
    'the $everything of that patient has all resources of the person';
  return [{ code: 'informational', message }];
}

/**
 * The answer has each type that the token may read. A type of `_type` that the token may not read is 403.
 *
 * @param pairs the parameters of the URL, and of the body of a POST
 */
export async function prepareEverything(
  context: RequestContext,
  id: string,
  pairs: readonly Pair[],
): Promise<Interaction> {
  const { caller, root, now } = context;
  const named = namedTypes(pairs, context.types);
  const once = pairs.filter(([name]) => name !== '_type');
  const controls = readControls(once, EVERYTHING_CONTROLS);
  const limit = pageCountOf(controls.get('_count'));
  const since = sinceOf(controls, now);
  if (named !== null) requireScopes(caller, named.map(readScope));
  const target = { type: 'Patient', id, version: null } as const;
  if (!isUuid(id)) return unknownResource(target);

  const types = (named ?? RESOURCE_TYPES).filter((type) => isStored(type) && caller.scopes.has(readScope(type)));
  const withFacts = named?.includes('Provenance') === true;
  const left = named === null ? RESOURCE_TYPES.filter((type) => !types.includes(type)) : [];
  const applied: Pair[] = [
    ...(named === null ? [] : [['_type', named.join(',')] as const]),
    ...[...controls].filter(([name]) => name !== CURSOR),
  ];
  const links = pageLinks(context, `Patient/${id}/$everything`, applied);
  const cursor = controls.get(CURSOR);
  const position = cursor === undefined ? null : await links.open(cursor);
  const rest = position === null ? { types, after: null } : remaining(types, position);
  const subject = everythingSubject(caller.site, id);
  const page = everythingPage({ site: caller.site, patient: id, ...rest, since, limit, withFacts });
  return {
    audited: NOTED,
    queries: [subject, page],
    answer: async (rowsOf) => {
      const [asked] = rowsOf(subject);
      if (asked === undefined) throw notFound('Patient');
      const { resources, more } = toPage(rowsOf(page), limit);
      const last = resources.at(-1);
      const next = more && last !== undefined ? { id: last.id, key: last.type } : null;
      const warnings = [...scopeWarning(left), ...(asked.survivor === id ? [] : mergeWarning(asked.survivor))];
      // The first page is the total where nothing follows it.
      const head = { type: 'searchset', ...(position === null && !more ? { total: resources.length } : {}) };
      const entries = resources.flatMap((stored) => {
        const { type } = stored;
        return isResourceType(type) ? [resourceEntry(root, { ...stored, type }, null)] : [];
      });
      const body = bundleText(head, await links.of(cursor ?? null, next), [
        ...entries,
        ...provenanceEntries(root, resources),
        ...warningEntries(warnings, now),
      ]);
      return { status: 200, headers: {}, body };
    },
    target,
  };
}
