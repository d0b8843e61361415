/** The requests to each surface: a valid request, of which parts are changed. */
import { randomUUID } from 'node:crypto';

import fc from 'fast-check';

import { TYPE_INTERACTIONS } from '../../edge/fhir/type-interactions.ts';
import { SEARCH_PARAMETERS } from '../../edge/store/search/parameters.ts';
import { isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../../shared/json.ts';
import { RESOURCE_TYPES, type ResourceType } from '../../shared/resource-type.ts';
import { ASSERTION_TYPE, clientAssertion } from '../stack/services/client.ts';
import { frame } from '../stack/tools/mllp-peer.ts';
import { mutate, mutation } from '../inputs/fhir-mutations.ts';
import { readExamples } from '../inputs/fhir-examples.ts';
import { leaf } from '../inputs/hl7-leaf.ts';
import { corpus } from '../inputs/hl7-corpus.ts';
import type { HttpAttempt } from './attempt.ts';
import { KNOWN } from './bench.ts';
import { oddValue, seldom, textChange } from './change.ts';
import type { World } from './world.ts';

/** A request that is complete once its target is known. */
export type Draft<Made = HttpAttempt> = (world: World) => Made | Promise<Made>;
type TextChange = (text: string) => string;

const MAX_EXAMPLE_CHARACTERS = 6_000;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const FHIR = { 'content-type': 'application/fhir+json' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const pick = <T>(from: readonly T[], at: number): T | undefined => from[at % from.length];

/** Headers that any request may have, mostly none. */
const ODD_HEADERS = [
  'accept',
  'content-type',
  'content-encoding',
  'authorization',
  'cookie',
  'origin',
  'prefer',
  'if-match',
  'if-none-match',
  'if-none-exist',
  'if-modified-since',
  'x-request-id',
  'x-forwarded-for',
  'forwarded',
  'dpop',
];
const oddHeaders = seldom(
  {},
  fc.dictionary(
    fc.constantFrom(...ODD_HEADERS),
    fc.oneof(
      oddValue,
      fc.constantFrom('W/"1"', '"1"', '*', 'return=minimal', 'handling=lenient', 'identifier=1', 'gzip'),
    ),
    { minKeys: 1, maxKeys: 2, noNullPrototype: true },
  ),
);
const method = (usual: string) =>
  seldom(usual, fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'));
const unchanged: TextChange = (text) => text;
/** For surfaces where a change of everything would only be rejected at the first check. */
const seldomChange = seldom(unchanged, textChange);

/** A value of JSON with up to three of its parts changed. */
const jsonChange = fc
  .oneof(fc.constant([]), fc.array(mutation, { minLength: 1, maxLength: 3 }))
  .map((changes) => (value: Json): Json => {
    const copy = parseJson(printJson(value));
    for (const each of changes) mutate(copy, each);
    return copy;
  });

const claims: fc.Arbitrary<Readonly<Record<string, unknown>>> = seldom(
  {},
  fc.dictionary(
    fc.constantFrom('iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti'),
    fc.oneof(oddValue, fc.constantFrom<unknown>(null, 0, -1, 1e300, [], {}, ['x'], true, undefined)),
    { minKeys: 1, maxKeys: 2, noNullPrototype: true },
  ),
);

export const token: fc.Arbitrary<Draft> = fc
  .record({
    path: fc.constantFrom('/oauth2/token', '/oauth2/token', '/oauth2/introspect', '/oauth2/revoke', '/oauth2/refusals'),
    claims,
    fields: seldom(
      {},
      fc.dictionary(fc.constantFrom('scope', 'audience', 'grant_type', 'token', 'client_id'), oddValue),
    ),
    changeAssertion: seldomChange,
    changeToken: textChange,
    changeForm: seldomChange,
    headers: oddHeaders,
    method: method('POST'),
  })
  .map((each) => async ({ key, console: { gateway }, tokens }) => {
    const { path } = each;
    const assertion = await clientAssertion(key, `${gateway.oauthBaseUrl}/oauth2/token`, { claims: each.claims });
    const form = new URLSearchParams({
      ...(path === '/oauth2/token'
        ? { grant_type: 'client_credentials', scope: 'system/*.read' }
        : { token: each.changeToken(tokens.spare) }),
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: each.changeAssertion(assertion),
      ...each.fields,
    });
    const body = each.changeForm(form.toString());
    return { method: each.method, path, headers: { ...FORM, ...each.headers }, body };
  });

const EXAMPLES: readonly JsonObject[] = readExamples(RESOURCE_TYPES)
  .map(({ resource }) => resource)
  .filter((resource) => printJson(resource).length < MAX_EXAMPLE_CHARACTERS);
const SEARCH_VALUES = [
  'male',
  'a',
  'urn:mrn|1',
  '|1',
  'eq2001',
  'ge2001-01-01T00:00:00+01:00',
  'lt2026-01',
  'final',
  'http://loinc.org|8867-4',
  '1,2',
];
const CONTROLS = [
  '_count',
  '_sort',
  '_total',
  '_elements',
  '_summary',
  '_cursor',
  '_format',
  '_pretty',
  '_include',
  '_id',
];

/** The example as a client of this site would write it: about one of its patients. */
function ofSite(resource: JsonObject, patient: string | undefined): JsonObject {
  const element = 'patient' in resource ? 'patient' : 'subject';
  const { id: _, [element]: __, ...rest } = resource;
  if (resource['resourceType'] === 'Patient' || patient === undefined) return rest;
  return { ...rest, [element]: { reference: `Patient/${patient}` } };
}

interface Interaction {
  readonly method: string;
  readonly path: string;
  readonly body: Json | undefined;
}

/** A patch that is about some members of what it is made from. */
const patchFrom =
  (op: string) =>
  (resource: Json): Json =>
    isJsonObject(resource)
      ? Object.entries(resource).map(([name, value]) => ({ op, path: `/${name}`, from: '/meta', value }))
      : [resource];

/** One interaction of the table, with a type, an id that may exist, and its input. */
const interaction: fc.Arbitrary<(world: World) => Interaction> = fc
  .record({
    one: fc.constantFrom(...TYPE_INTERACTIONS),
    example: fc.constantFrom(...EXAMPLES),
    type: fc.constantFrom(...RESOURCE_TYPES),
    place: fc.nat(),
    parameters: fc.array(
      fc.tuple(
        fc.nat(),
        fc.oneof(fc.constantFrom(...SEARCH_VALUES), oddValue),
        seldom('', fc.constantFrom(':exact', ':not', ':x')),
      ),
      { maxLength: 3 },
    ),
    control: seldom(
      '',
      fc.tuple(fc.constantFrom(...CONTROLS), oddValue).map(([name, value]) => `${name}=${value}`),
    ),
    change: jsonChange,
    op: fc.constantFrom('add', 'replace', 'test', 'remove', 'move', 'copy'),
  })
  .map(({ one, example, type: asked, place, parameters, control, change, op }) => ({ ids }) => {
    const written = one.method !== 'GET' && one.name !== 'searchByPost';
    // The type of the example is a type of the gateway: the examples were read by it.
    const type = 'only' in one ? one.only : written ? (example['resourceType'] as ResourceType) : asked;
    const id = pick(ids.get(type) ?? [], place) ?? randomUUID();
    const names = Object.keys(SEARCH_PARAMETERS[type]);
    const query = parameters.map(([at, value, modifier]) => `${pick(names, at)}${modifier}=${encodeText(value)}`);
    const isSearch = ['search', 'searchByPost', 'conditionalUpdate', 'conditionalPatch'].includes(one.name);
    const asks = [...(isSearch ? query : []), ...(control === '' ? [] : [control])].join('&');
    const path = one.path
      .replace(/:operation\{\\(.+?)\}/, (_, name: string) => name)
      .replace(':id', id)
      .replace(':version', '1');
    const resource = change(ofSite(example, pick(ids.get('Patient') ?? [], place)));
    if (one.name === 'update' && isJsonObject(resource)) resource['id'] = id;
    return {
      method: one.method,
      path: `${type}${path}${asks === '' ? '' : `?${asks}`}`,
      body: one.method === 'PATCH' ? patchFrom(op)(resource) : written ? resource : undefined,
    };
  });

/** encodeURIComponent refuses half a character; a client in another language does not. */
const encodeText = (text: string): string => encodeURIComponent(text.toWellFormed());

export const fhir: fc.Arbitrary<Draft> = fc
  .record({ draft: interaction, changePath: seldomChange, changeBody: seldomChange, headers: oddHeaders })
  .map(({ draft, changePath, changeBody, headers }) => (world) => {
    const { method: how, path, body } = draft(world);
    const isForm = path.includes('/_search');
    return {
      method: how,
      path: `/fhir/${changePath(path)}`,
      headers: {
        authorization: `Bearer ${world.tokens.fhir}`,
        ...(isForm ? FORM : how === 'PATCH' ? JSON_PATCH : FHIR),
        ...headers,
      },
      ...(how === 'GET' ? {} : { body: changeBody(body === undefined ? 'name=a' : printJson(body)) }),
    };
  });

/** As a bundle holds a patch. */
const asBinary = (operations: Json): Json => ({
  resourceType: 'Binary',
  contentType: JSON_PATCH['content-type'],
  data: Buffer.from(printJson(operations)).toString('base64'),
});

export const bundle: fc.Arbitrary<Draft> = fc
  .record({
    type: seldom('batch', fc.constantFrom('transaction', 'transaction', 'collection')),
    drafts: fc.array(interaction, { maxLength: 6 }),
    change: jsonChange,
    changeBody: seldomChange,
    headers: oddHeaders,
  })
  .map(({ type, drafts, change, changeBody, headers }) => (world) => {
    const entries = drafts.map((draft) => draft(world));
    const entry = entries.map(({ method: how, path, body }) => ({
      ...(body === undefined
        ? {}
        : { fullUrl: `urn:uuid:${randomUUID()}`, resource: how === 'PATCH' ? asBinary(body) : body }),
      request: { method: how, url: path },
    }));
    const body = changeBody(printJson(change({ resourceType: 'Bundle', type, entry })));
    return {
      method: 'POST',
      path: '/fhir',
      headers: { authorization: `Bearer ${world.tokens.fhir}`, ...FHIR, ...headers },
      body,
    };
  });

const MESSAGES = corpus().map(({ bytes }) => Buffer.from(bytes).toString('latin1').replaceAll(/\r?\n/g, '\r'));

/** A message of the corpus, its envelope mostly made such as is served, with some fields set to what senders put there. */
const message: fc.Arbitrary<string> = fc
  .record({
    text: fc.constantFrom(...MESSAGES),
    isServed: seldom(true, fc.constant(false)),
    control: fc.integer({ min: 1, max: 1_000_000 }),
    fields: fc.array(fc.tuple(fc.nat(), fc.nat(), leaf), { maxLength: 4 }),
    change: seldomChange,
  })
  .map(({ text, isServed, control, fields, change }) => {
    const segments = text.split('\r').map((segment) => segment.split('|'));
    const [header] = segments;
    if (isServed && header?.[0] === 'MSH') Object.assign(header, { 9: String(control), 10: 'P', 11: '2.5.1' });
    for (const [line, field, value] of fields) {
      const segment = segments[line % segments.length];
      if (segment !== undefined && segment.length > 1) segment[1 + (field % (segment.length - 1))] = value;
    }
    return change(segments.map((segment) => segment.join('|')).join('\r'));
  });

/** As UTF-8, or each character a byte. */
const asBytes = fc
  .tuple(message, fc.constantFrom('utf8', 'latin1'))
  .map(([text, encoding]) => Buffer.from(text, encoding === 'utf8' ? 'utf8' : 'latin1'));

/** A message about the planted patient, its order, or its first message, as a client that knows the identifiers sends it. */
const neighbourly: fc.Arbitrary<string> = fc
  .record({
    type: fc.constantFrom('ADT^A08', 'ADT^A40', 'ORU^R01', 'MDM^T02', 'ADT^A24'),
    control: fc.constantFrom(KNOWN.control, 'GUESS-2', 'OTHER'),
    name: fc.constantFrom('', 'Doe^Jane', '""'),
    authority: fc.constantFrom('', 'HOSP', 'LAB'),
    fields: fc.array(leaf, { maxLength: 4 }),
    change: seldomChange,
  })
  .map(({ type, control, name, authority, fields, change }) => {
    const identifier = `${KNOWN.mrn}^^^${authority}^MR`;
    const segments = [
      `MSH|^~\\&|LAB|HOSP|G|S|20260101||${type}|${control}|P|2.5.1`,
      `PID|1||${identifier}||${name}||${fields.join('|')}`,
      ...(type === 'ADT^A40' ? [`MRG|${identifier}`] : []),
      ...(type === 'MDM^T02' ? [`TXA|1|OP|TX|||20260101||||||${KNOWN.order}`] : []),
      ...(type.startsWith('ADT') ? [] : [`OBR|1||${KNOWN.order}|1^P^L|||20260101|||||||||||||||||F`]),
      ...(type.startsWith('ADT') ? [] : [`OBX|1|ST|1^a^L||x||||||${fields[0] ?? 'F'}`]),
    ];
    return change(segments.join('\r'));
  });

export const bench: fc.Arbitrary<Draft> = fc
  .record({
    text: fc.oneof(neighbourly, neighbourly, message),
    path: fc.constantFrom('/hl7/check', '/hl7/check', '/hl7/check?ticketCopy=true', '/oauth2/refusals'),
    by: fc.constantFrom<'link' | 'token'>('link', 'token'),
    changeSecret: seldomChange,
    headers: oddHeaders,
  })
  .map(({ text, path, by, changeSecret, headers }) => ({ bench: { link }, tokens }) => {
    const isCheck = path.startsWith('/hl7');
    const secret = changeSecret(by === 'link' ? link : tokens.bench);
    return {
      method: isCheck ? 'POST' : 'GET',
      path,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'text/plain', ...headers },
      ...(isCheck ? { body: Buffer.from(text) } : {}),
    };
  });

export const hl7: fc.Arbitrary<Draft> = fc
  .record({
    messages: fc.array(asBytes, { minLength: 1, maxLength: 3 }),
    isBatch: seldom(false, fc.constant(true)),
    isChanging: fc.boolean(),
    path: fc.constantFrom('/hl7/messages', '/hl7/messages', '/hl7/check', '/hl7/check?ticketCopy=true'),
    type: seldom('text/plain', fc.constantFrom('application/hl7-v2', 'x-application/hl7-v2+er7; charset=utf-8')),
    headers: oddHeaders,
    method: method('POST'),
  })
  .map(({ messages, isBatch, isChanging, path, type, headers, method: how }) => ({ tokens }) => ({
    method: how,
    path,
    headers: {
      authorization: `Bearer ${isChanging ? tokens.changedHl7 : tokens.hl7}`,
      'content-type': type,
      ...headers,
    },
    body: isBatch
      ? Buffer.concat([Buffer.from('BHS|^~\\&|LAB\r'), ...messages, Buffer.from(`\rBTS|${messages.length}\r`)])
      : messages[0],
  }));

/** The bytes of a connection: a frame, or a changed frame. */
export const mllp: fc.Arbitrary<Draft<Uint8Array>> = fc.tuple(asBytes, seldomChange).map(
  ([content, change]) =>
    () =>
      Buffer.from(change(frame(content).toString('latin1')), 'latin1'),
);

/** By the last words of a path: a body as it should be. */
const ADMIN_BODIES: Readonly<Record<string, Json>> = {
  'POST /api-keys': {
    name: 'Made',
    tokenTtlSeconds: 300,
    jwks: { keys: [] },
    protocols: ['fhir'],
    allowedIps: ['192.0.2.1'],
  },
  'PATCH /api-keys/{clientId}': {
    name: 'Changed',
    status: 'disabled',
    tokenTtlSeconds: 600,
    allowedScopes: ['system/Patient.read'],
  },
  'PATCH /site': {
    name: 'Changing',
    timeZone: 'Europe/Vienna',
    processingIds: ['P', 'T'],
    identifyingTypes: ['XX'],
    usCore: true,
  },
  'POST /workbench/assertion': { assertion: 'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.AAAA' },
  'POST /workbench/message': { message: 'MSH|^~\\&|A|B|C|D|20260101||ADT^A04|1|P|2.5.1\rPID|1||1^^^H^MR||Doe^Jane' },
  'POST /workbench/resource': { resourceType: 'Patient', name: [{ family: 'Doe' }] },
  'POST /replays': { outcome: 'AE', apply: 'newest', comment: 'again' },
  'POST /messages/{id}/replay': { apply: 'nothing' },
  'POST /attention/{id}/dismiss': { reason: 'x' },
  'POST /attention/{id}/reopen': {},
  'POST /merges/{id}/undo': { reason: 'x', state: 'x' },
  'POST /authority-aliases/decide': { namespace: 'HOSP', system: 'urn:oid:1.2.3', decision: 'confirmed' },
};

export const admin: fc.Arbitrary<Draft> = fc
  .record({
    at: fc.nat(),
    place: fc.nat(),
    query: seldom([], fc.array(fc.tuple(fc.nat(), oddValue), { minLength: 1, maxLength: 3 })),
    change: jsonChange,
    changePath: seldomChange,
    changeBody: seldomChange,
    headers: oddHeaders,
  })
  .map(({ at, place, query, change, changePath, changeBody, headers }) => ({ operations, victims, ids, tokens }) => {
    const operation = pick(operations, at);
    if (operation === undefined) throw new Error('the document of the gateway has no operation of /admin/api');
    const known = ids.get('messages') ?? [];
    const filled = operation.path
      .replace('{clientId}', pick(victims, place)?.clientId ?? '')
      .replaceAll(/\{\w+\}/g, pick(known, place) ?? randomUUID());
    const asks = query.map(([which, value]) => `${pick(operation.parameters, which) ?? 'x'}=${encodeText(value)}`);
    const short = `${operation.method} ${operation.path.replace('/admin/api', '')}`;
    return {
      method: operation.method,
      path: `${changePath(filled)}${asks.length === 0 ? '' : `?${asks.join('&')}`}`,
      headers: {
        authorization: `Bearer ${tokens.staff}`,
        'content-type': 'application/json',
        'if-match': '*',
        ...headers,
      },
      ...(operation.method === 'GET' ? {} : { body: changeBody(printJson(change(ADMIN_BODIES[short] ?? {}))) }),
    };
  });

const FIELDS = [
  'name',
  'status',
  'jwks',
  'text',
  'comment',
  'version',
  'message',
  'assertion',
  'resource',
  'clientId',
  'limit',
  'cursor',
  'from',
];

/** The console's pages, as its own pages link to them; forms with fields that they may or may not have. */
export const page: fc.Arbitrary<Draft> = fc
  .record({
    at: fc.nat(),
    isPost: seldom(false, fc.constant(true)),
    fields: fc.dictionary(fc.constantFrom(...FIELDS), fc.oneof(oddValue, fc.constantFrom('Lab', 'active', '1')), {
      maxKeys: 4,
    }),
    changePath: seldomChange,
    headers: oddHeaders,
  })
  .map(({ at, isPost, fields, changePath, headers }) => ({ pages, cookie, console: { baseUrl } }) => {
    const known = [...pages];
    const path = changePath(pick(known, at) ?? '/admin');
    const form = new URLSearchParams(fields).toString();
    const common = { cookie, ...headers };
    if (!isPost) return { method: 'GET', path: path.includes('?') ? path : `${path}?${form}`, headers: common };
    return {
      method: 'POST',
      path,
      headers: { ...FORM, origin: new URL(baseUrl).origin, ...common },
      body: form,
    };
  });

const LOGOUT = 'http://schemas.openid.net/event/backchannel-logout';

export const logout: fc.Arbitrary<Draft> = fc
  .record({
    claims,
    subject: fc.constantFrom('unknown', 'reader', ''),
    changeToken: seldomChange,
    changeForm: seldomChange,
    headers: oddHeaders,
    method: method('POST'),
  })
  .map((each) => async ({ console: { oidc } }) => {
    const own = { aud: 'console', sub: each.subject, site: undefined, permissions: undefined, jti: randomUUID() };
    const signed = await oidc
      .signToken({ ...own, events: { [LOGOUT]: {} }, ...each.claims }, { typ: 'logout+jwt' })
      // A claim that the library for it does not sign at all.
      .catch(() => oidc.signToken({ ...own, events: [] }));
    const body = each.changeForm(new URLSearchParams({ logout_token: each.changeToken(signed) }).toString());
    return { method: each.method, path: '/admin/back-channel-logout', headers: { ...FORM, ...each.headers }, body };
  });

const DOCUMENTS = [
  '/',
  '/.well-known/smart-configuration',
  '/.well-known/oauth-authorization-server',
  '/oauth2/jwks',
  '/fhir/metadata',
  '/fhir/.well-known/smart-configuration',
  '/docs',
  '/docs/openapi.json',
  '/docs/assets/reference.js',
  '/admin/assets/icon.svg',
  '/admin/sign-in?returnTo=/admin',
  '/admin/callback?code=x&state=y',
  '/healthz',
  '/readyz',
  '/internal/mllp/messages',
  '/internal/mllp/ranges',
];

export const document: fc.Arbitrary<Draft> = fc
  .record({
    path: fc.constantFrom(...DOCUMENTS),
    changePath: textChange,
    headers: oddHeaders,
    method: method('GET'),
  })
  .map(({ path, changePath, headers, method: how }) => () => {
    const changed = changePath(path);
    return { method: how, path: changed.startsWith('/') ? changed : `/${changed}`, headers };
  });
