/** The gateway's maps against the v2-to-FHIR guide's own tables: no row of a map that is used is forgotten. */
import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import type { ConceptMap } from '../../../edge/hl7/mapping/tables/concept-map.ts';
import {
  ADDRESS_TYPE,
  ADDRESS_USE,
  ADMINISTRATIVE_SEX,
  ALLERGEN_CATEGORY,
  ALLERGEN_ORIGINAL,
  ALLERGY_CRITICALITY,
  ALLERGY_SEVERITY_ORIGINAL,
  ALLERGY_TYPE,
  CONTACT_ROLE,
  DIAGNOSTIC_SERVICE_SECTION,
  DOCUMENT_CONFIDENTIALITY,
  INTERPRETATION,
  MARITAL_STATUS,
  NAME_TYPE,
  NATURE_OF_ABNORMAL_TESTING,
  RELATIONSHIP,
  RELIGION,
  TELECOM_USE,
  YES_NO,
} from '../../../edge/hl7/mapping/tables/concept-maps.ts';
import { OBSERVATION_STATUS, REPORT_STATUS } from '../../../edge/hl7/mapping/tables/status.ts';
import { GROUP_SEGMENTS, PATIENT_SEGMENTS, RESOURCE_SEGMENTS } from '../../../edge/hl7/mapping/segments/registry.ts';
import { RESOURCE_TYPES } from '../../../shared/resource-type.ts';
import { LEFT_OUT, NOT_BEGUN, FOLLOWED } from './guide-rows.ts';

const FOLDER = new URL('../../v2-to-fhir/', import.meta.url);

/** RFC 4180, with line breaks inside quotes. Index 0 is line 1 of the guide's numbering. */
function readCsv(path: string): string[][] {
  const text = readFileSync(new URL(path, FOLDER), 'utf8').replace(/^\uFEFF/, '');
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1)?.push((quoted?.replaceAll('""', '"') ?? plain).trim());
    if (end === '') break;
    if (end !== ',') rows.push([]);
  }
  return rows;
}

const mapsIn = (folder: string): string[] =>
  readdirSync(new URL(folder, FOLDER)).map((file) => file.replace(/\.csv$/, ''));

/** Lines with a FHIR attribute, which is in column 10, or in column 11 where the guide has only an idea of it. */
const mappedLines = (path: string): number[] =>
  readCsv(path)
    .map((row, at) => ({ line: at + 1, attribute: `${row[9] ?? ''}${row[10] ?? ''}` }))
    .filter(({ line, attribute }) => line > 2 && attribute !== '')
    .map(({ line }) => line);

function linesOf(rows: string): number[] {
  return rows.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.trim().split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
}

const SEGMENTS = [...PATIENT_SEGMENTS, ...RESOURCE_SEGMENTS, ...GROUP_SEGMENTS];

const cited = (map: string): number[] =>
  SEGMENTS.filter(({ source }) => source === map).flatMap(({ fields = [] }) =>
    fields.flatMap(({ rows }) => linesOf(rows)),
  );

const listed = (list: readonly { map: string; rows: string }[], map: string): number[] =>
  list.filter((entry) => entry.map === map).flatMap(({ rows }) => linesOf(rows));

describe.each(['segments/', 'datatypes/'])('%s', (folder) => {
  test.each(mapsIn(folder))('%s: every row is mapped or left out for a reason', (map) => {
    const known = new Set([...cited(map), ...listed(FOLLOWED, map), ...listed(LEFT_OUT, map)]);
    expect(mappedLines(`${folder}${map}.csv`).filter((line) => !known.has(line))).toEqual([]);
  });

  test.each(mapsIn(folder))('%s: no row is both mapped and left out', (map) => {
    const left = new Set(listed(LEFT_OUT, map));
    expect([...cited(map), ...listed(FOLLOWED, map)].filter((line) => left.has(line))).toEqual([]);
  });
});

test('every map of a segment to a type that the gateway stores is followed or left out for a reason', () => {
  const all = readFileSync(new URL('segment-maps.txt', FOLDER), 'utf8').trim().split('\n');
  const isKept = (map: string): boolean =>
    RESOURCE_TYPES.some((type) => new RegExp(`\\[${type}[\\]-]`).test(map)) && !map.includes('Provenance');
  const kept = all.filter(isKept);
  const begun = new Set(mapsIn('segments/'));
  expect(kept.length).toBeGreaterThan(15);
  expect(kept.filter((map) => !begun.has(map)).sort()).toEqual(NOT_BEGUN.map(({ map }) => map).sort());
  expect([...begun].filter((map) => !all.includes(map))).toEqual([]);
});

test('every list names a map of the guide', () => {
  const known = new Set(['segments/', 'datatypes/'].flatMap(mapsIn));
  expect([...FOLLOWED, ...LEFT_OUT].map(({ map }) => map).filter((map) => !known.has(map))).toEqual([]);
});

test('every segment with fields except MRG and PRB cites a map of the guide', () => {
  const known = new Set(mapsIn('segments/'));
  expect(SEGMENTS.map(({ source }) => source).filter((source) => source !== undefined && !known.has(source))).toEqual([
    'HL7 v2.5.1',
    'HL7 v2.5.1',
  ]);
});

/** The concept map of the guide for each of the gateway's. */
const GUIDE_NAMES: readonly (readonly [name: string, ours: ConceptMap])[] = [
  ['AdministrativeSex', ADMINISTRATIVE_SEX],
  ['MaritalStatus', MARITAL_STATUS],
  ['Religion', RELIGION],
  ['NameType', NAME_TYPE],
  ['AddressType[Type]', ADDRESS_TYPE],
  ['AddressType[Use]', ADDRESS_USE],
  ['TelecommunicationUseCode', TELECOM_USE],
  ['AllergenType[AllergyIntoleranceCategory]', ALLERGEN_CATEGORY],
  ['AllergenType[AllergyIntoleranceOriginalCategory]', ALLERGEN_ORIGINAL],
  ['AllergyType', ALLERGY_TYPE],
  ['AllergySeverity[AllergyIntolerance.criticality]', ALLERGY_CRITICALITY],
  ['AllergySeverity[AllergyIntolerance.criticality-original]', ALLERGY_SEVERITY_ORIGINAL],
  ['NatureOfAbnormalTesting', NATURE_OF_ABNORMAL_TESTING],
  ['InterpretationCodes', INTERPRETATION],
  ['DiagnosticServiceSectionID', DIAGNOSTIC_SERVICE_SECTION],
  ['DocumentConfidentialityStatus', DOCUMENT_CONFIDENTIALITY],
  ['YesNoIndicator', YES_NO],
  ['Relationship', RELATIONSHIP],
  ['ContactRole', CONTACT_ROLE],
];

/** v2 code, FHIR code and its system, of the rows that have both. */
const guideCodes = (name: string): [string, string, string][] =>
  readCsv(`codesystems/${name}.csv`)
    .slice(2)
    .map((row): [string, string, string] => [row[0] ?? '', row[6] ?? '', row[9] ?? ''])
    .filter(([from, to]) => from !== '' && to !== '');

test.each(GUIDE_NAMES)('concept map %s', (name, ours) => {
  const codes = [...ours.codes].map(([from, { code, system }]) => [from, code, system]);
  expect(codes).toEqual(guideCodes(name));
});

test.each([
  ['ObservationResultStatusCodesInterpretation', OBSERVATION_STATUS],
  ['ResultStatus[Non-Queries]', REPORT_STATUS],
])('%s: a status that the guide maps is mapped like the guide', (name, ours) => {
  const guide = guideCodes(name);
  expect(guide.map(([from]) => [from, ours.get(from)])).toEqual(guide.map(([from, to]) => [from, to]));
});
