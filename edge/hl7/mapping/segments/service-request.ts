/**
 * The order behind a result: its number, its orderer and its reason (v2-to-FHIR `OBR[ServiceRequest]`, `ORC[ServiceRequest]`,
 * as far as a reference has a place for it). The gateway stores no ServiceRequest.
 */
import type { Segment } from '../../../../shared/hl7/message.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import type { MapContext } from '../context.ts';
import { concepts } from '../datatypes/cwe.ts';
import { entityIdentifier } from '../datatypes/hd.ts';
import { practitioner } from '../datatypes/party.ts';
import { first, members } from '../datatypes/text.ts';
import { fixed, type Contribution } from '../../precedence/contribution.ts';
import { orderNumberField, orderNumbers } from './orc.ts';

/** An element of another resource at a reference to it (FHIR R4, Version Management, extensions for other versions). */
const REQUESTER = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-ServiceRequest.requester';
const REASON = 'http://hl7.org/fhir/StructureDefinition/workflow-reasonCode';

/** `basedOn` of a result or a report: the order by its placer's number, else by its filler's. */
export function basedOn(obr: Segment, orc: Segment | undefined, context: MapContext): Contribution[] {
  const { placer, filler } = orderNumbers(obr, orc);
  const ofPlacer = entityIdentifier(placer, context, 'PLAC');
  const identifier = ofPlacer ?? entityIdentifier(filler, context, 'FILL');
  const own = first(obr, 16);
  const orderer = own ?? (orc === undefined ? undefined : first(orc, 12));
  const valueReference = orderer === undefined ? undefined : practitioner(orderer, context);
  const found = members({
    extension: valueReference === undefined ? undefined : [{ url: REQUESTER, valueReference }],
    identifier,
    display: typeof valueReference?.['display'] === 'string' ? `ordered by ${valueReference['display']}` : undefined,
  });
  const fields = [
    ...(identifier === undefined ? [] : [orderNumberField(obr, ofPlacer === undefined ? 3 : 2)]),
    ...(orderer === undefined ? [] : [own === undefined ? 'ORC-12' : 'OBR-16']),
  ];
  return found === undefined ? [] : [fixed('basedOn', [{ type: 'ServiceRequest', ...found }], fields.join(' '))];
}

/** OBR-31, else ORC-16. */
export function reason(obr: Segment, orc: Segment | undefined, context: MapContext): Contribution[] {
  const own = concepts(obr, 31, context);
  const found: readonly JsonObject[] = own.length > 0 || orc === undefined ? own : concepts(orc, 16, context);
  if (found.length === 0) return [];
  const extensions = found.map((valueCodeableConcept) => ({ valueCodeableConcept }));
  return [fixed(`extension ${REASON}`, extensions, own.length > 0 ? 'OBR-31' : 'ORC-16')];
}
