/**
 * Parsers and mappings of what clients, senders and staff send. Twice the input needs at most twice the work, in each dimension
 * in which the input grows.
 */
import { expect, test } from 'vitest';

import { viewMessage } from '../../edge/admin/messages/segments.ts';
import { isPem, readPem } from '../../edge/admin/keys/pem.ts';
import { namesKey } from '../../edge/admin/keys/status.tsx';
import { uriTable } from '../../edge/admin/settings/uri-table.ts';
import { readBundle } from '../../edge/fhir/bundle/entries.ts';
import { acceptedType } from '../../edge/fhir/media-type.ts';
import { applyPatch } from '../../edge/fhir/patch/apply.ts';
import { readOperations } from '../../edge/fhir/patch/operations.ts';
import { preferOf } from '../../edge/fhir/prefer.ts';
import { refusalReason } from '../../edge/fhir/refused-request.ts';
import { parseBody, requireValid } from '../../edge/fhir/resource-body.ts';
import { criteriaOf } from '../../edge/fhir/search/request.ts';
import { subset } from '../../edge/fhir/subset.ts';
import { checkXhtml } from '../../edge/fhir/validate/xhtml.ts';
import { messagesOf } from '../../edge/hl7/http/batch.ts';
import { fit } from '../../edge/hl7/patients/person.ts';
import { holdsPrivateKey, redactKeys } from '../../edge/members/redact.ts';
import { readCompactJws } from '../../edge/oauth/assertion/compact-jws.ts';
import { parseForm } from '../../edge/oauth/form.ts';
import { knownBy, namesOf } from '../../edge/store/patient-identity.ts';
import { searchRows } from '../../edge/store/search/extract.ts';
import { Fault } from '../../shared/fault.ts';
import { readMessage } from '../../shared/hl7/message.ts';
import { createMllpDecoder } from '../../shared/hl7/mllp.ts';
import { plainAddress } from '../../shared/ip.ts';
import { type JsonObject, parseJson, printJson, sortedJson } from '../../shared/json.ts';
import { pretty } from '../../shared/pretty-json.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { mapped, pid } from '../inputs/hl7-mapped.ts';
import { growthOf, LINEAR } from '../stack/tools/growth.ts';
import { everyNth } from '../stack/tools/size.ts';

interface Shape {
  readonly what: string;
  readonly growth: () => number;
}

/** @param size the size at which `growthOf` measures */
const shape = <Input>(
  what: string,
  size: number,
  inputOf: (size: number) => Input,
  work: (input: Input) => unknown,
): Shape => ({ what, growth: () => growthOf(inputOf, (input) => void work(input), size) });

/** For inputs that may be rejected: rejecting must not be slow either. */
function orFault<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Fault || (error instanceof Error && error.name === 'Refused')) return undefined;
    throw error;
  }
}

const list = <T>(n: number, one: (at: number) => T): T[] => Array.from({ length: n }, (_, at) => one(at));
const lines = (n: number, one: (at: number) => readonly string[]): string[] => list(n, one).flat();
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** NFKD makes eighteen letters of it, which are spelt as ninety. */
const LONG = '\ufdfa';
/** Combining marks, each two in the wrong order. */
const marks = (n: number): string => `a${'\u0315\u0300'.repeat(n)}`;

const patient = (...name: JsonObject[]): JsonObject => ({ resourceType: 'Patient', name });
const patientIndex = (what: string, of: (n: number) => JsonObject): Shape =>
  shape(`FHIR: ${what}`, 400, of, (content) => {
    const valid = requireValid({ profiles: 'us-core' }, 'Patient', content);
    searchRows('Patient', valid);
    knownBy(valid);
  });

/** A resource as a client sends it: parsed, checked, indexed, and printed. */
const resource = (what: string, size: number, type: ResourceType, of: (n: number) => object | string): Shape =>
  shape(
    `FHIR: ${what}`,
    size,
    (n) => {
      const content = of(n);
      return typeof content === 'string' ? content : JSON.stringify({ resourceType: type, ...content });
    },
    (text) =>
      orFault(() => {
        const valid = requireValid({ profiles: 'us-core' }, type, parseBody(text, 'a resource'));
        searchRows(type, valid);
        printJson(valid);
      }),
  );
const observation = { status: 'final', code: { text: 'x' } };
const extension = (url: string, n: number): object[] => list(n, (at) => ({ url: `${url}${at}`, valueString: 'x' }));
const narrative = (div: string): object => ({
  text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${div}</div>` },
});

const CONTEXT = { root: 'https://fhir.test/fhir', now: 0, searches: 'us-core' } as const;
const search = (what: string, size: number, type: ResourceType, query: (n: number) => string): Shape =>
  shape(`search: ${what}`, size, query, (text) => orFault(() => criteriaOf(type, text, CONTEXT)));

const obx = (at: number, value = '1'): string => `OBX|${at}|ST|ISO^iso^L|${at}|${value}||||||F`;
const obr = (at: number, more = ''): string => `OBR|${at}||F${at}|1^P^L|||20260101|||||||||||||||20260101||F${more}`;
/** Behind an OBR the parent of its results: their sub-id is 1 for all, so that many fit but for their text. */
const child = (at: number, value: string): string[] => [obr(at, `|ISO&iso&L^1^${value}`), obx(at)];
const isolates = (n: number, repetitions: number): string[] =>
  lines(n, (at) => [`OBX|${at}|ST|ISO^iso^L|1|${'a~'.repeat(repetitions - 1)}b||||||F`]);
const result = (what: string, size: number, of: (n: number) => readonly string[]): Shape =>
  shape(
    `HL7: ${what}`,
    size,
    (n) => [pid(), ...of(n)],
    (message) => expect(mapped('ORU^R01', message).outcome).toBe('AA'),
  );
/** Such as a sender may write; whether it is accepted does not matter. */
const event = (what: string, size: number, of: (n: number) => readonly string[]): Shape =>
  shape(`HL7: ${what}`, size, of, (message) => mapped('ADT^A08', message));

const HEAD = 'MSH|^~\\&|LAB|EAST|GW|GW|20261101||ORU^R01|C1|P|2.5.1';
const findings = (n: number) =>
  list(Math.ceil(n / 10), (at) => ({ severity: 'W', code: '102', message: 'x', at: `OBX^1^${at + 1}` }));
/** As the console shows it. */
const view = (what: string, size: number, of: (n: number) => readonly string[]): Shape =>
  shape(
    `console: a message of ${what}`,
    size,
    (n) => ({ content: bytes([HEAD, ...of(n)].join('\r')), found: findings(n) }),
    ({ content, found }) => viewMessage(content, null, found),
  );

const text = (what: string, of: (size: number) => string, work: (text: string) => unknown): Shape =>
  shape(`text: ${what}`, 4_000, of, work);
const table = uriTable('namespace', 'a name');
const inTable = (given: string): unknown => table.schema.safeParse(given);

const SHAPES: readonly Shape[] = [
  result('isolates with many values, and susceptibilities of a missing isolate', 60, (n) => [
    obr(0),
    ...isolates(n, 150),
    ...lines(n, (at) => child(at + 1, 'zz')),
  ]),
  result('susceptibilities that each have their isolate', 200, (n) => [
    obr(0),
    ...lines(n, (at) => [obx(at, `v${at}`)]),
    ...lines(n, (at) => [obr(at + 1, `|ISO&iso&L^${at}^v${at}|||^F0`), obx(at)]),
  ]),
  result('orders with two results', 300, (n) => lines(n, (at) => [obr(at), obx(at), obx(at + 1)])),
  result('orders that are parts of each other', 300, (n) => lines(n, (at) => [obr(at, `||||P^F${at + 1}`), obx(at)])),
  result('one report in many parts', 300, (n) => lines(n, (at) => [obr(1), obx(at)])),
  result('one report in many parts, the newest first', 150, (n) =>
    lines(n, (at) => {
      const time = new Date(Date.UTC(2026, 0, 1) - at * 60_000).toISOString().replaceAll(/\D/g, '').slice(0, 12);
      return [obr(1).replace('|20260101||F', `|${time}||F`), obx(at)];
    }),
  ),
  result('identical results', 500, (n) => [obr(1), ...lines(n, (at) => [obx(1, `v${at}`)])]),
  result('specimens behind their results', 500, (n) => [
    obr(1),
    ...lines(n, (at) => [obx(at)]),
    ...lines(n, (at) => [`SPM|${at}|S${at}`]),
  ]),
  result('a waveform', 20_000, (n) => [obr(1), `OBX|1|NA|W^w^L||1${'^2'.repeat(n)}||||||F`]),
  result('a long text', 20_000, (n) => [obr(1), `OBX|1|TX|T^t^L||${'a line~'.repeat(n)}||||||F`]),
  result('values', 2_000, (n) => [obr(1), `OBX|1|NM|T^t^L||${'1~'.repeat(n)}||||||F`]),
  result('an orderer who is named often before many results', 300, (n) => [
    obr(1).replace('|||||||||||||||2026', `|||||||||${'1^A~'.repeat(n)}||||||2026`),
    ...lines(n, (at) => [obx(at)]),
  ]),
  result('notes behind one result', 1_000, (n) => [obr(1), obx(1), ...lines(n, (at) => [`NTE|${at}||note`])]),
  result('lines of text in segments', 500, (n) => [
    obr(1),
    ...lines(n, (at) => [`OBX|${at}|TX|T^t^L||line ${at}||||||F`]),
  ]),
  event('escape sequences', 10_000, (n) => [pid({ 11: '\\X41\\'.repeat(n) })]),
  event('escape sequences of letters beyond ASCII', 5_000, (n) => [pid({ 11: '\\XC3A4\\'.repeat(n) })]),
  event('backslashes without an end', 20_000, (n) => [pid({ 11: '\\'.repeat(n) })]),
  event('contacts', 300, (n) => [pid(), 'PV1|1|I', ...lines(n, (at) => [`NK1|${at}|Doe^J${at}|MTH`])]),
  event('allergies with the same code', 300, (n) => [pid(), ...lines(n, (at) => [`AL1|${at}|DA|P^p^L`])]),
  event('diagnoses', 300, (n) => [pid(), ...lines(n, (at) => [`DG1|${at}||I${at}^i^L||20260101|A`])]),
  event('unknown segments', 2_000, (n) => [pid(), ...lines(n, (at) => [`ZZ1|${at}|x`])]),
  event('names with marks out of order', 2_000, (n) => [pid({ 5: marks(n) })]),
  event('names of ligatures', 2_000, (n) => [pid({ 5: LONG.repeat(n) })]),
  shape(
    'HL7: a batch of messages',
    40,
    (n) => bytes(['BHS|^~\\&|LAB', ...lines(n, () => [HEAD, ...list(20, (at) => obx(at))]), `BTS|${n}`].join('\r')),
    messagesOf,
  ),
  shape(
    'MLLP: frames in chunks of one byte',
    2_000,
    (n) => bytes(`\u000b${HEAD}\r${'x'.repeat(n)}\u001c\r`),
    (content) => {
      const decoder = createMllpDecoder({ maxFrameBytes: 1024 * 1024 });
      for (let at = 0; at < content.length; at += 1) decoder.push(content.subarray(at, at + 1));
    },
  ),
  shape(
    'HL7: lines without a segment name',
    20_000,
    (n) => `${HEAD}\rOBX|1|TX|t||x${'\r\r\rx|'.repeat(n)}\rPV1${'\r'.repeat(n)}NTE|1||${'\rx'.repeat(n)}`,
    (text) => void readMessage(text),
  ),
  shape(
    'MLLP: frames that begin again',
    20_000,
    (n) => bytes('\u000bMSH'.repeat(n)),
    (content) => createMllpDecoder({ maxFrameBytes: 1024 * 1024 }).push(content),
  ),

  patientIndex('a name of ligatures', (n) => patient({ family: LONG.repeat(500 * n) })),
  patientIndex('a name with combining marks out of order', (n) => patient({ family: marks(250 * n) })),
  patientIndex('a text with combining marks out of order', (n) => patient({ text: marks(250 * n) })),
  patientIndex('many names of ligatures', (n) => patient(...list(n, (at) => ({ family: `${at}${LONG.repeat(60)}` })))),
  patientIndex('many given names', (n) => patient({ given: list(10 * n, (at) => `${at}${LONG}`) })),
  patientIndex('many names with marks', (n) => patient(...list(n, (at) => ({ text: `${at}${marks(50)}` })))),
  resource('identifiers', 400, 'Patient', (n) => ({
    identifier: list(n, (at) => ({ system: 'urn:x', value: `${at}` })),
  })),
  resource('extensions', 1_000, 'Patient', (n) => ({ extension: extension('urn:x', n) })),
  resource('contained resources that nothing refers to', 200, 'Observation', (n) => ({
    ...observation,
    contained: list(n, (at) => ({ resourceType: 'Patient', id: `p${at}` })),
  })),
  resource('contained resources and their references', 200, 'Observation', (n) => ({
    ...observation,
    contained: list(n, (at) => ({ resourceType: 'Practitioner', id: `p${at}` })),
    performer: list(n, (at) => ({ reference: `#p${at}` })),
  })),
  resource('components', 300, 'Observation', (n) => ({
    ...observation,
    component: list(n, (at) => ({ code: { text: `c${at}` }, valueQuantity: { value: at } })),
  })),
  resource('codings', 1_000, 'Observation', (n) => ({
    ...observation,
    code: { coding: list(n, (at) => ({ system: 'http://loinc.org', code: `${at}` })) },
  })),
  resource('unknown members', 8_000, 'Patient', (n) => Object.fromEntries(list(n, (at) => [`x${at}`, 1]))),
  resource('faults', 1_000, 'Patient', (n) => ({ name: list(n, () => ({ family: 1 })) })),
  resource(
    'a member that occurs twice, behind many others',
    8_000,
    'Patient',
    (n) => `{"resourceType":"Patient",${list(n, (at) => `"x${at}":1,`).join('')}"x0":1}`,
  ),
  resource('escapes in a string', 20_000, 'Patient', (n) => ({ id: 'x', language: '\u0001'.repeat(n) })),
  resource(
    'digits',
    20_000,
    'Observation',
    (n) =>
      `{"resourceType":"Observation","status":"final","code":{"text":"x"},"valueQuantity":{"value":1.${'0'.repeat(n)}}}`,
  ),
  resource('lines before a fault', 20_000, 'Patient', (n) => `{${'\n'.repeat(n)}`),
  resource('a string without an end', 20_000, 'Patient', (n) => `{"a":"${'\\"'.repeat(n)}`),
  resource('elements of a narrative', 1_000, 'Patient', (n) => narrative('<p title="a">x</p>'.repeat(n))),
  shape('FHIR: nested elements of a narrative', 4_000, (n) => '<b>'.repeat(n), checkXhtml),
  shape('FHIR: spaces in a tag of a narrative', 20_000, (n) => `<div ${' '.repeat(n)}x`, checkXhtml),
  shape('FHIR: ampersands in a narrative', 20_000, (n) => `<div>${'&#'.repeat(n)}</div>`, checkXhtml),
  shape(
    'FHIR: entries of a Bundle',
    200,
    (n) => ({
      resourceType: 'Bundle',
      type: 'batch',
      entry: list(n, (at) => ({
        fullUrl: `urn:uuid:${at}`,
        resource: { resourceType: 'Patient' },
        request: { method: 'POST', url: 'Patient', ifNoneExist: `identifier=x|${at}` },
      })),
    }),
    (bundle) => readBundle(bundle, CONTEXT.root),
  ),
  shape(
    'FHIR: operations of a patch',
    200,
    (n) => readOperations(list(n, (at) => ({ op: 'add', path: `/name/0/given/${at % 10}`, value: 'x' }))),
    (operations) => orFault(() => applyPatch(patient({ given: list(2_000, (at) => `${at}`) }), operations)),
  ),
  shape(
    'FHIR: levels of a pointer',
    500,
    (n) => [{ op: 'remove', path: '/a'.repeat(n) }],
    (operations) => orFault(() => applyPatch(patient(), readOperations(operations))),
  ),
  shape(
    'FHIR: a part of a resource',
    20_000,
    (n) => patient(...list(n, (at) => ({ family: `${at}` }))),
    (content) => subset('Patient', content, 'true'),
  ),
  shape('JSON: members in order', 2_000, (n) => Object.fromEntries(list(n, (at) => [`x${n - at}`, at])), sortedJson),
  shape('JSON: readable', 2_000, (n) => JSON.stringify(list(n, (at) => ({ at }))), pretty),
  shape(
    'JSON: numbers',
    10_000,
    (n) => `[${'1.50,'.repeat(n)}1]`,
    (given) => parseJson(given),
  ),

  search('names of ligatures', 5_000, 'Patient', (n) => `name=${encodeURIComponent(LONG.repeat(n))}`),
  search('marks out of order', 5_000, 'Patient', (n) => `name=${encodeURIComponent(marks(n))}`),
  search('values of a token', 200, 'Observation', (n) => `code=${list(n, (at) => `urn:x|${at}`).join(',')}`),
  search('escaped commas', 10_000, 'Patient', (n) => `identifier=${'\\,'.repeat(n)}`),
  search('dates', 200, 'Observation', (n) => `date=${list(n, (at) => `ge20${10 + (at % 80)}`).join(',')}`),
  search('parameters', 30, 'Observation', (n) => list(n, (at) => `_id=${at}`).join('&')),
  shape(
    'people: names to compare',
    200,
    (n) => {
      const none = { birthDate: undefined, sex: undefined };
      const names = (tag: string) =>
        namesOf(patient(...list(n, (at) => ({ family: `${tag}${at}`, given: [`${LONG.repeat(60)}${at}`] }))));
      return [
        { ...none, names: names('b') },
        { ...none, names: names('a'), said: [], isDescribed: true },
      ] as const;
    },
    ([sent, record]) => expect(fit(sent, record, new Set())).toBe('fits'),
  ),

  view('empty fields', 1_000, (n) => [`ZZZ${'|'.repeat(n)}`]),
  view('fields', 700, (n) => [`OBX${'|x'.repeat(n)}`]),
  view('repetitions', 1_000, (n) => [`PID|1||${'a^b~'.repeat(n)}`]),
  view('components', 1_000, (n) => [`PID|1||${'a^'.repeat(n)}`]),
  view('subcomponents', 1_000, (n) => [`PID|1||${'a&'.repeat(n)}^b`]),
  view('segments', 300, (n) => list(n, () => 'OBX|1|NM|K^Potassium^L||5')),
  view('segments with repetitions', 50, (n) => list(n, () => `PID|1||${'a^b~'.repeat(100)}`)),

  text('a label of PEM that begins many times', (n) => 'BEGIN '.repeat(n), holdsPrivateKey),
  text('a label of PEM without an end', (n) => `BEGIN ${'A '.repeat(n)}`, holdsPrivateKey),
  text('PRIVATE KEY and spaces', (n) => `PRIVATE KEY${' '.repeat(n)}`, holdsPrivateKey),
  text('members of a JWK without a value', (n) => '"d":'.repeat(n), holdsPrivateKey),
  text('quotes behind a member', (n) => `d:${'"'.repeat(n)}`, redactKeys),
  text('certificates that begin many times', (n) => 'BEGIN CERT '.repeat(n), redactKeys),
  text('a label that begins many times, as a key', (n) => 'BEGIN '.repeat(n), isPem),
  text('long dashes', (n) => '\u2013'.repeat(n), readPem),
  text('long dashes and spaces', (n) => '\u2013 '.repeat(n), readPem),
  text('spaces behind a label', (n) => `KEY${' '.repeat(n)}`, readPem),
  text('labels of one long block', (n) => '-----BEGIN A-----'.repeat(n), readPem),
  text('spaces in a line of a table of URIs', (n) => `a${' '.repeat(n)}b`, inTable),
  text('URIs in a line of a table', (n) => `${'=a:'.repeat(n)} b`, inTable),
  text('equals signs in a line of a table', (n) => `${'a = '.repeat(n)} b`, inTable),
  text(
    'the name of an element',
    (n) => '.ofType('.repeat(n),
    (at) => refusalReason(new Fault('malformed', 'm', { issues: [{ code: 'structure', message: 'm', at }] })),
  ),
  text('zones of an address', (n) => `${'%'.repeat(n)}\n`, plainAddress),
  text('marks in the name of a key', marks, (given) => namesKey(given, { name: 'Labor Müller', client_id: 'svc-1' })),
  text(
    'parameters of a form',
    (n) => list(n, (at) => `a${at}=x`).join('&'),
    (form) => orFault(() => parseForm(form)),
  ),
  text(
    'equals signs of a form',
    (n) => `scope${'='.repeat(n)}`,
    (form) => orFault(() => parseForm(form)),
  ),
  text('parts of an assertion', (n) => '.'.repeat(n), readCompactJws),
  text(
    'media types',
    (n) => 'a/b;q=0,'.repeat(n),
    (accept) => orFault(() => acceptedType(accept, null)),
  ),
  text(
    'quotes of a media type',
    (n) => `a/b;x=${'"'.repeat(n)}`,
    (accept) => orFault(() => acceptedType(accept, null)),
  ),
  text(
    'preferences',
    (n) => 'a=b;c, '.repeat(n),
    (prefer) => orFault(() => preferOf(new Headers({ prefer }))),
  ),
];

test.each(everyNth(3, SHAPES).map(({ what, growth }) => [what, growth] as const))('%s', (_, growth) => {
  expect(growth()).toBeLessThanOrEqual(LINEAR);
});

test('quadratic work is found, and linear work is not', () => {
  const quadratic = (n: number): number => {
    let sum = 0;
    for (let a = 0; a < n; a += 1) for (let b = 0; b < n; b += 1) sum += a ^ b;
    return sum;
  };
  const linear = (n: number): number => {
    let sum = 0;
    for (let a = 0; a < n * 1_000; a += 1) sum += a ^ 3;
    return sum;
  };
  expect(growthOf((n) => n, quadratic, 1_000, 2)).toBeGreaterThan(3);
  expect(growthOf((n) => n, linear, 1_000)).toBeLessThan(LINEAR);
});
