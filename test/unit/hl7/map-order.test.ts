/** The references of a result to its order and to its parent result, and a report of text alone. */
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../shared/json.ts';

import { mapped, pid, segment } from '../../inputs/hl7-mapped.ts';

const observations = (resources: readonly JsonObject[]) =>
  resources.filter(({ resourceType }) => resourceType === 'Observation');

const idOf = (resource: { readonly id?: unknown } | undefined): string =>
  typeof resource?.id === 'string' ? resource.id : '';

describe('the order', () => {
  const obr = (fields: Readonly<Record<number, string>> = {}) =>
    segment('OBR', { 2: 'P1^HIS', 3: 'F1^LAB', 4: '1^Panel^LN', 25: 'F', ...fields });
  const OBX = 'OBX|1|ST|a^A^LN||x||||||F';

  test('is referenced by its number, with the requester and the reason', () => {
    const result = mapped('ORU^R01', [
      pid(),
      obr({ 16: '9^House^Greg~8^Cuddy^Lisa', 31: 'R50^Fever^I10~^Cough' }),
      OBX,
    ]);
    expect(result.findings).toEqual([]);
    const order = {
      type: 'ServiceRequest',
      identifier: { value: 'P1', assigner: { display: 'HIS' }, type: { coding: [{ code: 'PLAC' }] } },
      display: 'ordered by Greg House',
      extension: [
        {
          url: 'http://hl7.org/fhir/5.0/StructureDefinition/extension-ServiceRequest.requester',
          valueReference: { type: 'Practitioner', identifier: { value: '9' }, display: 'Greg House' },
        },
      ],
    };
    expect(result.resource('DiagnosticReport')).toMatchObject({
      basedOn: [order],
      extension: [
        { valueCodeableConcept: { coding: [{ code: 'R50', system: 'http://hl7.org/fhir/sid/icd-10' }] } },
        { valueCodeableConcept: { text: 'Cough' } },
      ],
    });
    expect(result.resource('Observation')).toMatchObject({ basedOn: [order] });
  });

  test('has the fields of ORC that OBR lacks', () => {
    const orc = segment('ORC', { 1: 'RE', 2: 'P7', 12: '7^Wilson^James', 16: 'R51^Headache^I10' });
    const bare = segment('OBR', { 4: '1^Panel^LN', 25: 'F' });
    expect(mapped('ORU^R01', [pid(), orc, bare, OBX]).resource('DiagnosticReport')).toMatchObject({
      basedOn: [{ identifier: { value: 'P7' }, display: 'ordered by James Wilson' }],
      extension: [{ valueCodeableConcept: { coding: [{ code: 'R51' }] } }],
    });
  });

  test('is referenced by the filler’s number if the placer’s is missing, else not at all', () => {
    const report = (fields: Readonly<Record<number, string>>) =>
      mapped('ORU^R01', [pid(), obr(fields), OBX]).resource('DiagnosticReport')['basedOn'];
    expect(report({ 2: '' })).toMatchObject([{ identifier: { value: 'F1', type: { coding: [{ code: 'FILL' }] } } }]);
    expect(report({ 2: '', 3: '' })).toBeUndefined();
  });
});

describe('the parent result', () => {
  const ISOLATES = [
    segment('OBR', { 2: 'P1', 3: 'F1', 4: 'CUL^Culture^L', 7: '202601010800', 25: 'F' }),
    'OBX|1|CE|ORG^Organism^L|1|ECO^Escherichia coli^L||||||F',
    'OBX|2|CE|ORG^Organism^L|2|SAU^Staphylococcus aureus^L||||||F',
  ];
  const susceptibility = (parent: string, numbers = 'P1^F1', filler = 'F2') => [
    segment('OBR', { 3: filler, 4: 'SUS^Susceptibility^L', 7: '202601010800', 25: 'F', 26: parent, 29: numbers }),
    'OBX|1|ST|AMP^Ampicillin^L||R||||||F',
  ];
  const result = (...lines: readonly string[]) => mapped('ORU^R01', [pid(), ...lines]);
  /** `id 1` or `id 2` of the isolate, `text` where it is only named, undefined where nothing is said. */
  function parentOf(...lines: readonly string[]): string | undefined {
    const found = result(...lines);
    found.everyResourceIsValid();
    const all = observations(found.resources);
    const child = all.find(({ code }) => JSON.stringify(code).includes('AMP'));
    const [link] = [child?.['derivedFrom'] ?? []].flat();
    if (typeof link !== 'object' || link === null || Array.isArray(link)) return undefined;
    if (!('reference' in link)) return 'text';
    return `id ${all.findIndex((one) => `Observation/${idOf(one)}` === link['reference']) + 1}`;
  }

  test.each([
    ['ORG&Organism&L^1^Escherichia coli', 'id 1'],
    ['ORG&Organism&L^2^Staphylococcus aureus', 'id 2'],
    ['ORG&Organism&L^2', 'id 2'],
    ['ORG^2', 'id 2'],
    ['ORG&Organism&L^2^SAU', 'id 2'],
    ['org&Organism&L^2', 'text'],
    // By the code alone it could be either, and what contradicts itself is neither.
    ['ORG&Organism&L', 'text'],
    ['ORG&Organism&L^3', 'text'],
    ['ORG&Organism&L^1^Staphylococcus aureus', 'text'],
    ['ORG&Organism&L^2^Escherichia coli', 'text'],
    ['ORG&Organism&LN^2', 'text'],
    ['OTHER&Organism&L^2', 'text'],
    ['', undefined],
  ])('OBR-26 %s is %s', (parent, expected) => {
    expect(parentOf(...ISOLATES, ...susceptibility(parent))).toBe(expected);
  });

  test.each([
    ['P1^F1', 'id 1'],
    ['^F1', 'id 1'],
    ['P1', 'id 1'],
    ['', 'id 1'],
    ['P1^F9', 'text'],
    ['P9^F1', 'text'],
    ['^F9', 'text'],
  ])('OBR-29 %s is %s', (numbers, expected) => {
    expect(parentOf(...ISOLATES, ...susceptibility('ORG&Organism&L^1', numbers))).toBe(expected);
  });

  test('two cultures with the same sub-ids are distinguished by the order number; without it, neither is used', () => {
    const second = ISOLATES.map((line) => line.replace('|P1|F1|', '|P5|F5|'));
    expect(parentOf(...ISOLATES, ...second, ...susceptibility('ORG&Organism&L^1', 'P5^F5'))).toBe('id 3');
    expect(parentOf(...ISOLATES, ...second, ...susceptibility('ORG&Organism&L^1', ''))).toBe('text');
  });

  test('is found by an alternate code of the organism, and shown with the laboratory’s name', () => {
    const culture = [
      segment('OBR', { 3: 'F1', 4: '600-7^^LN', 7: '202601010800', 25: 'F' }),
      'OBX|1|CWE|600-7^Bacteria^LN^BCEXT^EXTENDED BLOOD CULTURE^L|1|782959008^Enterococcus raffinosus^SCT^ENTRAF^E. RAFF^L||||||F',
      'OBX|2|CWE|600-7^Bacteria^LN^BCEXT^EXTENDED BLOOD CULTURE^L|2|53326005^Candida albicans^SCT^CANALB^C. ALB^L||||||F',
    ];
    const parent = '600-7&&LN&BCEXT&EXTENDED BLOOD CULTURE&L^1^ENTRAF';
    expect(parentOf(...culture, ...susceptibility(parent, '^F1'))).toBe('id 1');
    expect(parentOf(...culture, ...susceptibility(parent.replace('ENTRAF', 'CANALB'), '^F1'))).toBe('text');
    const links = result(...culture, ...susceptibility(parent, '^F1')).resources.flatMap(
      (one) => one['derivedFrom'] ?? [],
    );
    expect(links).toMatchObject([{ display: 'EXTENDED BLOOD CULTURE 1: ENTRAF' }]);
  });

  test('is found in a later OBX of the message', () => {
    expect(parentOf(...susceptibility('ORG&Organism&L^2'), ...ISOLATES)).toBe('id 3');
  });

  test('each susceptibility refers to its isolate', () => {
    const { resources } = result(
      ...ISOLATES,
      ...susceptibility('ORG&Organism&L^1^Escherichia coli', 'P1^F1', 'F2'),
      ...susceptibility('ORG&Organism&L^2^Staphylococcus aureus', 'P1^F1', 'F3'),
    );
    const displays = observations(resources).flatMap(({ derivedFrom }) => derivedFrom ?? []);
    expect(displays).toMatchObject([
      { display: 'Organism 1: Escherichia coli' },
      { display: 'Organism 2: Staphylococcus aureus' },
    ]);
    expect(new Set(displays.map((link) => JSON.stringify(link))).size).toBe(2);
  });

  test('the report is part of the parent’s report: by id in the same message, always by number', () => {
    const PART_OF = 'http://hl7.org/fhir/StructureDefinition/event-partOf';
    const same = result(...ISOLATES, ...susceptibility('ORG&Organism&L^1', 'P1&HIS^F1&LAB'));
    const reports = same.resources.filter(({ resourceType }) => resourceType === 'DiagnosticReport');
    expect(reports[1]).toMatchObject({
      extension: [
        {
          url: PART_OF,
          valueReference: {
            reference: `DiagnosticReport/${idOf(reports[0])}`,
            identifier: { value: 'F1', assigner: { display: 'LAB' } },
          },
        },
      ],
    });
    const alone = result(...susceptibility('ORG&Organism&L^1', 'P1&HIS^F1&LAB')).resource('DiagnosticReport');
    expect(JSON.stringify(alone)).not.toContain('"reference":"DiagnosticReport');
    expect(alone).toMatchObject({ extension: [{ url: PART_OF, valueReference: { identifier: { value: 'F1' } } }] });
  });
});

describe('the conclusion of a report', () => {
  const OBR = segment('OBR', { 3: 'F1', 4: 'XR^Chest^L', 25: 'F' });
  const conclusion = (...lines: readonly string[]) =>
    mapped('ORU^R01', [pid(), OBR, ...lines]).resource('DiagnosticReport')['conclusion'];

  test('is the text of a report that has only texts', () => {
    expect(conclusion('OBX|1|TX|R^Report^L||No||||||F', 'OBX|2|TX|R^Report^L||pneumonia.||||||F')).toBe(
      'No\npneumonia.',
    );
    expect(conclusion('OBX|1|FT|R^Report^L||No\\.br\\pneumonia.||||||F')).toBe('No\npneumonia.');
  });

  test('has each text under its name', () => {
    expect(conclusion('OBX|1|TX|F^Findings^L||Clear.||||||F', 'OBX|2|TX|I^Impression^L||Normal.||||||F')).toBe(
      'Findings:\nClear.\n\nImpression:\nNormal.',
    );
  });

  test('does not exist for a report with other results, or without text', () => {
    expect(conclusion('OBX|1|TX|C^Comment^L||haemolytic||||||F', 'OBX|2|NM|K^K^L||5||||||F')).toBeUndefined();
    expect(conclusion('OBX|1|TX|C^Comment^L||||||||F')).toBeUndefined();
    expect(conclusion()).toBeUndefined();
  });

  test('ignores a document beside the text', () => {
    expect(
      conclusion('OBX|1|TX|R^Report^L||Normal.||||||F', 'OBX|2|ED|PDF^Report^L||^AP^PDF^Base64^SGVsbG8=||||||F'),
    ).toBe('Normal.');
  });
});
