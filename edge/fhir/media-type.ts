/**
 * The media types that clients accept and send: FHIR JSON, and JSON Patch (FHIR R4 http, 3.1.0.1.9, 3.1.0.1.11 and 3.1.0.6;
 * RFC 9110 §12.5.1).
 */
import { Fault } from '../../shared/fault.ts';
import { type MediaType, parseMediaType } from '../http/media-type.ts';

export const FHIR_JSON = 'application/fhir+json';
/** RFC 6902 §6. */
export const JSON_PATCH = 'application/json-patch+json';
export const FHIR_NDJSON = 'application/fhir+ndjson';
const JSON_TYPES = new Set([FHIR_JSON, 'application/json', 'text/json']);
/** Some clients ask for every answer as JSON. */
const NDJSON_TYPES = new Set([FHIR_NDJSON, 'application/ndjson', 'application/x-ndjson', ...JSON_TYPES]);
const FORMATS = new Set([...JSON_TYPES, 'json']);
const RANGES = new Set(['*/*', 'application/*']);
const R4_VERSIONS = new Set(['4.0', '4.0.1', '4']);

const isR4 = ({ parameters }: MediaType): boolean => R4_VERSIONS.has(parameters.get('fhirversion') ?? '4.0');
const isWanted = ({ parameters }: MediaType): boolean => Number(parameters.get('q') ?? '1') > 0;

/**
 * The content type to answer with. `_format` overrides `Accept`.
 *
 * @throws Fault `not-acceptable` when neither allows JSON
 */
export function acceptedType(accept: string | null, format: string | null): string {
  const refuse = (): Fault =>
    new Fault('not-acceptable', `the server can send only ${FHIR_JSON} (FHIR 4.0.1): send Accept: ${FHIR_JSON}`);
  if (format !== null) {
    // A + in a query that was not escaped arrives as a space.
    const given = parseMediaType(format.replace(' ', '+'));
    if (!FORMATS.has(given.type) || !isR4(given)) throw refuse();
    return `${FHIR_JSON}; charset=utf-8`;
  }
  if (accept === null || accept.trim() === '') return `${FHIR_JSON}; charset=utf-8`;
  const wanted = accept.split(',').map(parseMediaType).filter(isWanted).filter(isR4);
  if (wanted.some(({ type }) => type === FHIR_JSON || RANGES.has(type))) return `${FHIR_JSON}; charset=utf-8`;
  const json = wanted.find(({ type }) => JSON_TYPES.has(type));
  if (json === undefined) throw refuse();
  return `${json.type}; charset=utf-8`;
}

const isUtf8 = ({ parameters }: MediaType): boolean =>
  ['utf-8', 'utf8'].includes(parameters.get('charset')?.toLowerCase() ?? 'utf-8');

/**
 * The content type of a file of an export (FHIR Bulk Data Access 2.0.0, Output File Request).
 *
 * @throws Fault `not-acceptable` when `Accept` does not allow it
 */
export function acceptedNdjson(accept: string | null): string {
  const wanted = (accept ?? '*/*').split(',').map(parseMediaType).filter(isWanted);
  if (accept?.trim() === '' || wanted.some(({ type }) => NDJSON_TYPES.has(type) || RANGES.has(type)))
    return FHIR_NDJSON;
  throw new Fault('not-acceptable', `the server can send a file only as ${FHIR_NDJSON}: send Accept: ${FHIR_NDJSON}`);
}

/** @throws Fault `unsupported-media-type` when a body is not FHIR JSON in UTF-8 */
export function requireJsonBody(contentType: string | null): void {
  const given = parseMediaType(contentType ?? '');
  if (JSON_TYPES.has(given.type) && isR4(given) && isUtf8(given)) return;
  throw new Fault('unsupported-media-type', `the body must be sent as Content-Type: ${FHIR_JSON}, in UTF-8`);
}

/** The Fault for a patch of another format, with the header of RFC 5789 §2.2. */
export function unsupportedPatch(): Fault {
  const message =
    `only JSON Patch (RFC 6902) is supported, sent as Content-Type: ${JSON_PATCH}, in UTF-8; FHIRPath Patch (a Parameters ` +
    'resource) and XML Patch are not';
  return new Fault('unsupported-media-type', message, { headers: { 'Accept-Patch': JSON_PATCH } });
}

/** @throws Fault `unsupported-media-type` when a patch is not JSON Patch in UTF-8 */
export function requireJsonPatch(contentType: string | null): void {
  const given = parseMediaType(contentType ?? '');
  if (given.type !== JSON_PATCH || !isUtf8(given)) throw unsupportedPatch();
}
