/** The example resources of R4 (npm package hl7.fhir.r4.examples, CC0). */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { isJsonObject, parseJson, type JsonObject } from '../../shared/json.ts';

const FOLDER = fileURLToPath(new URL('../../node_modules/hl7.fhir.r4.examples/', import.meta.url));

/** Every example of these types, or of all, as its file has it. */
export function readExampleTexts(types?: readonly string[]): { readonly file: string; readonly text: string }[] {
  const named = readdirSync(FOLDER).filter((file) => /^[A-Z].*\.json$/.test(file));
  const files = named.filter((file) => types?.includes(file.split('-')[0] ?? '') ?? true);
  return files.map((file) => ({ file, text: readFileSync(FOLDER + file, 'utf8') }));
}

export interface Example {
  readonly file: string;
  readonly resource: JsonObject;
}

/** The examples, read like a request body. Each call reads them again, because a test may change them. */
export const readExamples = (types?: readonly string[]): Example[] =>
  readExampleTexts(types).map(({ file, text }) => {
    const resource = parseJson(text);
    if (!isJsonObject(resource)) throw new Error(`${file} does not contain a resource`);
    return { file, resource };
  });
