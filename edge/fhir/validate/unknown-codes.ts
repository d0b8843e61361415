/**
 * Warnings for codes that a code system of HL7 does not have (FHIR R4 terminologies, 4.1.4). They never reject a resource, because
 * code systems change after R4, and a sender may use a newer edition.
 */
import type { Issue } from '../../../shared/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../shared/json.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { CODE_SYSTEMS } from './code-systems.generated.ts';
import { ELEMENT_TYPE, resourceType, type Type } from './definitions.ts';
import { createFindings, type Findings } from './findings.ts';

interface CodeSystem {
  readonly codes: ReadonlySet<string>;
  readonly ignoresCase: boolean;
}

/** The code systems that were read. */
const read = new Map<string, CodeSystem>();

function codeSystem(url: string): CodeSystem | undefined {
  const known = read.get(url);
  if (known !== undefined || !Object.hasOwn(CODE_SYSTEMS, url)) return known;
  const [first, ...rest] = (CODE_SYSTEMS[url] ?? '').split(' ');
  const ignoresCase = first === '~';
  const codes = new Set(ignoresCase ? rest.map((code) => code.toLowerCase()) : [first ?? '', ...rest]);
  const system = { codes, ignoresCase };
  read.set(url, system);
  return system;
}

function check(findings: Findings, { system, code }: JsonObject): void {
  if (typeof system !== 'string' || typeof code !== 'string') return;
  const known = codeSystem(system);
  if (known === undefined || known.codes.has(known.ignoresCase ? code.toLowerCase() : code)) return;
  findings.add('code-invalid', `${system} has no such code in the edition of FHIR R4 (4.0.1)`, 'code');
}

function walk(findings: Findings, type: Type, value: Json): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (findings.enter(index)) walk(findings, type, item);
      findings.leave();
    }
    return;
  }
  if (!isJsonObject(value)) return;
  if (type.name === 'Coding') check(findings, value);
  const { resourceType: name } = value;
  const own = type.name === 'Resource' && typeof name === 'string' ? resourceType(name) : type;
  for (const [member, inner] of Object.entries(value)) {
    const element = own.members.get(member);
    if (element === undefined) continue;
    const isSibling = member !== element.member;
    // A primitive has codings in its extensions only.
    if (element.type.primitive !== undefined && !isSibling) continue;
    if (findings.enter(element.choice ? { name: element.name, type: element.type } : element.name))
      walk(findings, isSibling ? ELEMENT_TYPE : element.type, inner);
    findings.leave();
  }
}

/**
 * @param resource a resource of any shape
 * @returns at most 100 warnings, whose messages have no value of the resource
 */
export function unknownCodes(type: ResourceType, resource: JsonObject): readonly Issue[] {
  const findings = createFindings(type);
  walk(findings, resourceType(type), resource);
  return findings.issues;
}
