/** Which of the patients that were found an identifier may mean (edge/README.md, HL7 v2). */
import type { Segment } from '../../../shared/hl7/message.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../shared/json.ts';
import type { MapContext } from '../mapping/context.ts';
import { assigningAuthority } from '../mapping/datatypes/hd.ts';
import { textOf } from '../mapping/datatypes/text.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { identifyingPart, type IdentifierField } from './identifying.ts';

/** Patients with an identifier that the one in the segment may be; exact ones only, where there are such. */
export function candidates(segment: Segment, field: IdentifierField, drafts: Drafts, context: MapContext): Draft[] {
  const part = identifyingPart(segment, field);
  const value = textOf(part, 1);
  if (value === undefined) return [];
  const sent: Sent = { value, type: textOf(part, 5), ...assigningAuthority(part, 4, context) };
  const having = (test: (sent: Sent, item: JsonObject) => boolean): Draft[] =>
    drafts.patients().filter(({ content }) => itemsOf(content['identifier']).some((item) => test(sent, item)));
  const exact = sent.system === undefined ? [] : having(isExact);
  return exact.length > 0 ? exact : having(isCompatible);
}

interface Sent {
  readonly value: string;
  readonly type: string | undefined;
  readonly system: string | undefined;
  readonly namespace: string | undefined;
}

const isExact = (sent: Sent, item: JsonObject): boolean =>
  item['value'] === sent.value && item['system'] === sent.system;

/**
 * The same value, and nothing that says it is another's: two known systems, two known namespaces or (without systems)
 * two known types that differ do.
 */
function isCompatible(sent: Sent, item: JsonObject): boolean {
  if (item['value'] !== sent.value) return false;
  const { system } = item;
  if (sent.system !== undefined && system !== undefined) return sent.system === system;
  // A namespace that the site has not named is not known to be the one of a system.
  if (system !== undefined && sent.namespace !== undefined) return false;
  const assigner = isJsonObject(item['assigner']) ? item['assigner']['display'] : undefined;
  if (assigner !== undefined && sent.namespace !== undefined && assigner !== sent.namespace) return false;
  const type = typeCode(item);
  return type === undefined || sent.type === undefined || type === sent.type;
}

function typeCode(item: JsonObject): Json | undefined {
  const { type } = item;
  return isJsonObject(type) ? itemsOf(type['coding'])[0]?.['code'] : undefined;
}

/** The objects of a list of a stored resource, whatever else somebody wrote into it. */
export const itemsOf = (list: Json | undefined): JsonObject[] => (Array.isArray(list) ? list.filter(isJsonObject) : []);
