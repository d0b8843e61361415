/**
 * Reads the body of a PATCH, or the Binary that holds it in a bundle (FHIR R4 http, 3.1.0.6). The gateway accepts JSON Patch
 * and rejects R4's other formats, FHIRPath Patch and XML Patch, by name.
 */
import { decodeBase64url } from '../../../shared/base64url.ts';
import { Fault } from '../../../shared/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../shared/json.ts';
import { decodeUtf8 } from '../../http/body.ts';
import { JSON_PATCH, requireJsonPatch, unsupportedPatch } from '../media-type.ts';
import { parseBody, type Sent } from '../resource-body.ts';
import { type Operation, readOperations } from './operations.ts';
import { malformedAt } from '../controls/faults.ts';

/** @throws Fault 415 with `Accept-Patch`, 413, or 400 for an invalid JSON Patch, 422 for too many operations */
export async function readPatch({ request, body }: Sent): Promise<Operation[]> {
  requireJsonPatch(request.headers.get('content-type'));
  return readOperations(parseBody(decodeUtf8(await body()), 'a JSON Patch'));
}

const BINARY = new Set(['resourceType', 'id', 'meta', 'contentType', 'data']);

const malformed = (message: string, at: string): Fault => malformedAt(at, message, 'structure');

function requireBinary(resource: Json | undefined): JsonObject {
  const type = isJsonObject(resource) ? resource['resourceType'] : undefined;
  if (type === 'Parameters') throw unsupportedPatch();
  if (!isJsonObject(resource) || type !== 'Binary') {
    throw malformed(`the resource of a PATCH must be a Binary of ${JSON_PATCH}`, 'Binary');
  }
  if (Object.keys(resource).every((name) => BINARY.has(name))) return resource;
  throw malformed(`the Binary of a PATCH may have the members ${[...BINARY].join(', ')} only`, 'Binary');
}

/** base64Binary may have line breaks (FHIR R4 datatypes). */
function decodeBase64(text: string): Uint8Array | undefined {
  const digits = text.replace(/\s+/g, '');
  if (digits.length % 4 !== 0 || /[-_]/.test(digits)) return undefined;
  return decodeBase64url(
    digits
      .replace(/={1,2}$/, '')
      .replaceAll('+', '-')
      .replaceAll('/', '_'),
  );
}

/**
 * @param resource the resource of a bundle's entry
 * @throws Fault as `readPatch`
 */
export function patchOfEntry(resource: Json | undefined): Operation[] {
  const { contentType, data } = requireBinary(resource);
  requireJsonPatch(typeof contentType === 'string' ? contentType : null);
  const bytes = typeof data === 'string' ? decodeBase64(data) : undefined;
  if (bytes === undefined) throw malformed('the data of the Binary must be the patch as base64, padded', 'Binary.data');
  return readOperations(parseBody(decodeUtf8(bytes), 'a JSON Patch'));
}
