/**
 * The input of an operation on a resource (FHIR R4 operations, 3.2.0.2): the resource as the body, or Parameters with it. Options
 * are in the URL or in the Parameters.
 */
import { Fault } from '../../shared/fault.ts';
import { isJsonObject, type Json, JsonNumber, type JsonObject, objectsOf } from '../../shared/json.ts';
import { FORM_CONTROLS } from './controls/controls.ts';
import { type Pair, malformedAt } from './controls/faults.ts';
import { strictControls } from './controls/write-controls.ts';

interface Option {
  readonly value: Json | undefined;
  /** FHIRPath, or `http.` and the parameter's name. */
  readonly at: string;
}

export interface OperationInput {
  readonly resource: Json;
  /** By name. */
  readonly options: ReadonlyMap<string, Option>;
}

/** A Fault with one issue. @param at FHIRPath, or `http.` and the parameter's name */
export const located = (kind: 'malformed' | 'invalid', code: string, message: string, at: string): Fault =>
  new Fault(kind, message, { issues: [{ code, message, at }] });

/** The value of a parameter of any type. */
function valueOf(parameter: JsonObject): Json | undefined {
  return Object.entries(parameter).find(([member]) => member.startsWith('value'))?.[1];
}

/**
 * @param names the options of the operation, each at most once
 * @throws Fault for another parameter, or without a resource
 */
export function readOperationInput(content: Json, pairs: readonly Pair[], names: readonly string[]): OperationInput {
  const hint = 'send the resource as the body, or as the parameter resource of Parameters';
  const given = strictControls(pairs, [...names, ...FORM_CONTROLS], hint);
  const options = new Map<string, Option>();
  for (const name of names) {
    const value = given.get(name);
    if (value !== undefined) options.set(name, { value, at: `http.${name}` });
  }
  if (!isJsonObject(content) || content['resourceType'] !== 'Parameters') return { resource: content, options };
  const { parameter } = content;
  const at = 'Parameters.parameter';
  let resource: Json | undefined;
  for (const one of objectsOf(parameter)) {
    const { name } = one;
    const isOption = typeof name === 'string' && names.includes(name);
    if (!isOption && name !== 'resource') {
      throw located('invalid', 'not-supported', `only resource, ${names.join(' and ')} can be used`, at);
    }
    if (isOption ? options.has(name) : resource !== undefined) {
      throw located('malformed', 'value', `${name} can be given only once`, at);
    }
    if (isOption) options.set(name, { value: valueOf(one), at });
    else resource = one['resource'];
  }
  if (resource === undefined) throw located('malformed', 'required', 'Parameters needs a parameter resource', at);
  return { resource, options };
}

/** The value of a parameter, if it is a string or a number. */
export function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || value instanceof JsonNumber ? String(value.valueOf()) : undefined;
}

/**
 * The parameters of an operation's POST, in the form of those of a GET.
 *
 * @param content null: none
 * @param readValue the text of a value; undefined: the operation does not accept the value
 * @throws Fault `malformed` for anything but a Parameters resource with such parameters
 */
export function primitiveParameters(
  content: Json,
  readValue: (value: Json | undefined) => string | undefined = textOf,
): Pair[] {
  if (content === null) return [];
  const refuse = (message: string, at: string): Fault => malformedAt(at, message, 'structure');
  if (!isJsonObject(content) || content['resourceType'] !== 'Parameters') {
    throw refuse('the body must be empty or a Parameters resource', 'Parameters');
  }
  const { parameter = [] } = content;
  if (!Array.isArray(parameter)) throw refuse('parameter must be an array', 'Parameters.parameter');
  return parameter.map((one, index): Pair => {
    const { name, ...rest } = isJsonObject(one) ? one : {};
    const [[member, value] = [], ...more] = Object.entries(rest);
    const text = readValue(value);
    if (typeof name === 'string' && text !== undefined && member?.startsWith('value') === true && more.length === 0) {
      return [name, text];
    }
    throw refuse('a parameter has a name and one value[x] of a primitive type', `Parameters.parameter[${index}]`);
  });
}
