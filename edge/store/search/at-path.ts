/** Values of a validated resource at a dotted path; values of another shape are skipped. */
import { isJsonObject, type Json, type JsonObject } from '../../../shared/json.ts';
import { isText } from '../../../shared/text.ts';

/** The values at a path, each item of a list. */
export function jsonAt(from: JsonObject, path: string): Json[] {
  let found: Json[] = [from];
  for (const name of path.split('.')) {
    found = found.filter(isJsonObject).flatMap((object) => [object[name] ?? null].flat());
  }
  return found;
}

/** The objects at a path, whether single or in lists. */
export function objectsAt(from: JsonObject, path: string): JsonObject[] {
  return jsonAt(from, path).filter(isJsonObject);
}

/** A string that PostgreSQL can store; '' for a lone surrogate or NUL, which a FHIR string cannot have. */
export function text(value: Json | undefined): string {
  return typeof value === 'string' && isText(value) ? value : '';
}

/** The texts at a path. */
export function textsAt(from: JsonObject, path: string): string[] {
  return jsonAt(from, path)
    .map(text)
    .filter((item) => item !== '');
}

/** The first text at one of the paths; `''` without one. */
export function textAt(from: JsonObject, paths: readonly string[]): string {
  return paths.flatMap((path) => textsAt(from, path))[0] ?? '';
}
