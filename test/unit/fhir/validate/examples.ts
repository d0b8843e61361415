/** The example resources of R4 (npm package hl7.fhir.r4.examples, CC0), read as the gateway reads a body. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { isJsonObject, parseJson, type JsonObject } from '../../../../shared/json.ts';

const FOLDER = fileURLToPath(new URL('../../../../node_modules/hl7.fhir.r4.examples/', import.meta.url));

export interface Example {
  readonly file: string;
  readonly resource: JsonObject;
}

/** Every example of these types, or of all, read anew: a test may alter it. */
export function readExamples(types?: readonly string[]): Example[] {
  const named = readdirSync(FOLDER).filter((file) => /^[A-Z].*\.json$/.test(file));
  const files = named.filter((file) => types?.includes(file.split('-')[0] ?? '') ?? true);
  return files.map((file) => {
    const resource = parseJson(readFileSync(FOLDER + file, 'utf8'));
    if (!isJsonObject(resource)) throw new Error(`${file} is no resource`);
    return { file, resource };
  });
}
