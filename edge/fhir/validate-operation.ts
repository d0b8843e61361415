/** `POST [type]/$validate` (FHIR R4 resource-operation-validate): what create would say of the content, without the database. */
import { Fault, type Issue } from '../../shared/fault.ts';
import { isJsonObject, type Json } from '../../shared/json.ts';
import { printJson } from '../../shared/json.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { type Interaction, interaction, type RequestContext } from './interaction.ts';
import { outcome } from './outcome.ts';
import { relativeReferences, requirePatientReference } from './patient-reference.ts';
import { information } from './resource-answer.ts';
import { validate } from './validate/validate.ts';

const BASE_PROFILE = 'http://hl7.org/fhir/StructureDefinition/';
const MODES = ['create', 'update'];

/** The resource, sent as it is or within Parameters. */
function resourceOf(type: ResourceType, content: Json): Json {
  if (!isJsonObject(content) || content['resourceType'] !== 'Parameters') return content;
  const { parameter } = content;
  const parameters = Array.isArray(parameter) ? parameter.filter(isJsonObject) : [];
  let resource: Json | undefined;
  for (const { name, ...given } of parameters) {
    if (name === 'resource') resource = given['resource'];
    else if (name === 'mode' && MODES.some((mode) => mode === given['valueCode'])) continue;
    else if (name === 'profile' && Object.values(given).includes(`${BASE_PROFILE}${type}`)) continue;
    else {
      const message = `only resource, mode (${MODES.join(', ')}) and profile (${BASE_PROFILE}${type}) can be used`;
      const at = 'Parameters.parameter';
      throw new Fault('invalid', message, { issues: [{ code: 'not-supported', message, at }] });
    }
  }
  if (resource !== undefined) return resource;
  const message = 'Parameters needs a parameter resource';
  throw new Fault('malformed', message, { issues: [{ code: 'required', message, at: 'Parameters.parameter' }] });
}

function issuesOf(type: ResourceType, resource: Json, root: string): readonly Issue[] {
  const issues = validate(resource, type);
  if (issues.length > 0 || !isJsonObject(resource)) return issues;
  try {
    requirePatientReference(type, relativeReferences(resource, root));
    return [];
  } catch (error) {
    if (error instanceof Fault) return error.issues;
    throw error;
  }
}

/** Always 200 when the content could be looked at (R4): the outcome says what was found. */
export function prepareValidate(context: RequestContext, type: ResourceType, content: Json): Interaction {
  const issues = issuesOf(type, resourceOf(type, content), context.root);
  const found = issues.length === 0 ? information(`a valid ${type} of FHIR R4`) : outcome('error', issues);
  return interaction([], () => ({ status: 200, headers: {}, body: printJson(found) }));
}
