/**
 * Identifiers of one patient that are the same, and what the one adds to the other: a message that sends a number again
 * adds members and takes none away, a FHIR client's `system` included.
 */
import { isJsonObject, printJson, type Json, type JsonObject } from '../../../shared/json.ts';
import { nameKey } from '../../store/patient-identity.ts';

/** One value of one domain; a number that names no domain is the patient's number with that value, whichever it is. */
export function isSameIdentifier(a: JsonObject, b: JsonObject): boolean {
  if (a['value'] !== b['value']) return false;
  const [system, other] = [a['system'], b['system']];
  if (system !== undefined && other !== undefined) return system === other;
  const [name, otherName] = [nameOf(a), nameOf(b)];
  const isBare = (own: Json | undefined, assigner: string | undefined): boolean =>
    own === undefined && assigner === undefined;
  return isBare(system, name) || isBare(other, otherName) || name === otherName;
}

function nameOf({ assigner }: JsonObject): string | undefined {
  const display = isJsonObject(assigner) ? assigner['display'] : undefined;
  return typeof display === 'string' ? nameKey(display) : undefined;
}

/** What was sent, with all that the stored identifier has and it has not. */
export function strengthened(sent: Json, stored: readonly Json[]): Json {
  if (!isJsonObject(sent)) return sent;
  const same = stored.filter(isJsonObject).filter((item) => isSameIdentifier(item, sent));
  const before = same.find((item) => item['system'] === sent['system']) ?? same[0];
  if (before === undefined) return sent;
  return { ...before, ...sent, ...joined(before, sent) };
}

/** Lists and objects of both. */
function joined(before: JsonObject, sent: JsonObject): JsonObject {
  const extension = union(before['extension'], sent['extension']);
  const type = typeOf(before['type'], sent['type']);
  return { ...(extension.length > 0 && { extension }), ...(type !== undefined && { type }) };
}

function typeOf(before: Json | undefined, sent: Json | undefined): Json | undefined {
  if (!isJsonObject(before) || !isJsonObject(sent)) return sent ?? before;
  const coding = union(sent['coding'], before['coding']);
  return { ...before, ...sent, ...(coding.length > 0 && { coding: uniqueCodes(coding) }) };
}

const listOf = (list: Json | undefined): Json[] => (Array.isArray(list) ? list : []);

function union(first: Json | undefined, second: Json | undefined): Json[] {
  const all = [...listOf(first), ...listOf(second)];
  return all.filter((item, at) => all.findIndex((other) => printJson(other) === printJson(item)) === at);
}

/** Of codings with one system and code the first, which the message sent. */
function uniqueCodes(codings: readonly Json[]): Json[] {
  const keyOf = (coding: Json): string =>
    isJsonObject(coding) ? JSON.stringify([coding['system'] ?? '', coding['code'] ?? '']) : printJson(coding);
  return codings.filter((coding, at) => codings.findIndex((other) => keyOf(other) === keyOf(coding)) === at);
}
