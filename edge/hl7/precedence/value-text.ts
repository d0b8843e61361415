/** The value of an Observation as a text: equal values have equal texts, also if a code table added codings to one of them. */
import { isJsonObject, objectsOf, parseJson, type Json, type JsonObject } from '../../../shared/json.ts';
import { saidText } from './added-coding.ts';
import type { Contribution } from './contribution.ts';

/** @param content members of an Observation */
export function valueText(content: JsonObject): string {
  const values = Object.entries(content).filter(([name]) => /^value[A-Z]/.test(name) || name === 'component');
  const extensions = objectsOf(content['extension']);
  const attachments = extensions.flatMap(({ valueAttachment }) => valueAttachment ?? []);
  return saidText({ ...Object.fromEntries(values), attachments });
}

/** The lines of a text; 0 for another value. @param value as `valueText` prints it */
export function linesOf(value: string): number {
  const content = parseJson(value);
  const text = isJsonObject(content) ? content['valueString'] : undefined;
  return typeof text === 'string' ? text.split('\n').length : 0;
}

/** The same of a message's contributions. */
export function valueSaid(contributions: readonly Contribution[]): string {
  const said: JsonObject = {};
  const extension: Json[] = [];
  for (const { element, value } of contributions) {
    if (element === 'value[x]' && isJsonObject(value)) Object.assign(said, value);
    else if (element === 'component' && value !== null) said['component'] = value;
    else if (element.startsWith('extension ')) extension.push(value);
  }
  return valueText({ ...said, extension });
}
