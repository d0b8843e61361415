/** `POST Patient/$match` (FHIR R4 patient-operation-match): the stored patients that may be a person, each with its grade. */
import type { Json, JsonObject } from '../../shared/json.ts';
import { lookupOf, type Match, matchPatients, readSettings } from '../hl7/match/match.ts';
import { namesOf } from '../store/patient-identity.ts';
import { type Known, matchCandidates, matchSettings, MAX_COMPARED } from '../store/patient-match.ts';
import { toPage } from '../store/page.ts';
import { searchRows } from '../store/search/extract.ts';
import { bundleText } from './bundle-text.ts';
import { type RequestHeaders, requireNoConditions } from './conditional-headers.ts';
import type { Pair } from './controls/faults.ts';
import type { Interaction, RequestContext } from './interaction.ts';
import { located, type OperationInput, readOperationInput, textOf } from './operation-input.ts';
import { requireResource } from './resource-body.ts';
import { resourceEntry } from './searchset.ts';

/** More matches need a person to look at them, who needs more attributes instead. */
const MAX_MATCHES = 10;
/** Each is looked up. */
const MAX_IDENTIFIERS = 10;
const GRADE = 'http://hl7.org/fhir/StructureDefinition/match-grade';

function countOf({ options }: OperationInput): number {
  const given = options.get('count');
  if (given === undefined) return MAX_MATCHES;
  const count = textOf(given.value) ?? '';
  if (!/^[1-9]\d{0,9}$/.test(count))
    throw located('malformed', 'value', 'count must be a whole number of 1 or more', given.at);
  return Math.min(Number(count), MAX_MATCHES);
}

function isOnlyCertain({ options }: OperationInput): boolean {
  const given = options.get('onlyCertainMatches');
  if (given === undefined) return false;
  const { value, at } = given;
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw located('malformed', 'value', 'onlyCertainMatches must be true or false', at);
}

/** The names of the attributes that are compared, for the audit. @throws Fault `invalid` if they are too few or too many */
function requireAttributes(sent: JsonObject, identifiers: number): readonly string[] {
  const { birthDate, gender } = sent;
  const [name] = namesOf(sent);
  const family = name?.family ?? name?.text;
  const attributes = {
    identifier: identifiers > 0 || undefined,
    family,
    given: name?.given,
    birthdate: birthDate,
    gender,
  };
  const given = Object.entries(attributes).flatMap(([attribute, value]) => (value === undefined ? [] : [attribute]));
  if (identifiers > MAX_IDENTIFIERS) {
    const message = `the Patient may have ${MAX_IDENTIFIERS} identifiers at most: send those that identify the person best`;
    throw located('invalid', 'too-costly', message, 'Patient.identifier');
  }
  const isFound = identifiers > 0 || (typeof birthDate === 'string' && birthDate.length === 10 && family !== undefined);
  if (isFound && given.length > 1) return given;
  const message =
    'the Patient has too few attributes: send an identifier and one of name, birthDate and gender; or a complete birthDate and ' +
    'the family name';
  throw located('invalid', 'required', message, 'Patient');
}

export function prepareMatch(
  { caller: { site, clientId }, root, now }: RequestContext,
  pairs: readonly Pair[],
  content: Json,
  headers: RequestHeaders,
): Interaction {
  requireNoConditions(headers, '$match');
  const input = readOperationInput(content, pairs, ['onlyCertainMatches', 'count']);
  const onlyCertain = isOnlyCertain(input);
  const count = countOf(input);
  const sent = requireResource('Patient', input.resource);
  const identifiers = lookupOf(sent);
  const searched = requireAttributes(sent, identifiers.length);
  const { search, parts } = searchRows('Patient', sent);
  const settings = matchSettings(site, clientId);
  const found = matchCandidates({
    site,
    identifiers,
    birthDate: search?.birthDate ?? '',
    nameSort: search?.nameSort ?? '',
    families: parts?.families ?? '',
  });
  const entryOf = ({ stored, grade, score }: Match): string =>
    resourceEntry(root, { ...stored, type: 'Patient' }, null, {
      extension: [{ url: GRADE, valueCode: grade }],
      mode: 'match',
      score,
    });
  return {
    audited: { action: null, searched },
    queries: [settings, found],
    answer: (rowsOf) => {
      const [row] = rowsOf(settings);
      if (row === undefined) throw new TypeError('a function returns a row');
      const { resources, more } = toPage(rowsOf(found), MAX_COMPARED);
      const matches = matchPatients({
        sent,
        candidates: resources.map((stored) => ({ stored, known: JSON.parse(stored.sort_key ?? '') as Known })),
        isCrowded: more,
        settings: readSettings(row.sender),
        today: new Date(now).toISOString().slice(0, 'YYYY-MM-DD'.length),
      })
        .filter(({ grade }) => !onlyCertain || grade === 'certain')
        .slice(0, count);
      const body = bundleText({ type: 'searchset', total: matches.length }, [], matches.map(entryOf));
      return { status: 200, headers: {}, body };
    },
  };
}
