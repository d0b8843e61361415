/** Every call of fhirpy and of fhirclient, made by the programs beside this file. */
import { fileURLToPath } from 'node:url';

import { runPython } from '../../stack/tools/python.ts';
import type { Subject } from '../fhir/subject.ts';
import { namesIn, type CallReport } from './outcomes.ts';
import { recipeOf } from './recipes.ts';

/** By package: the program, and what is about its own state or reads what it was given. */
export const PYTHON_CLIENTS = {
  fhirpy: {
    program: 'fhirpy_calls.py',
    asksNothing: ['clone', 'get_by_path', 'is_reference', 'reference', 'resource', 'resources', 'serialize'],
  },
  'fhirclient (Python)': {
    program: 'fhirclient_calls.py',
    // The last three are the sign-in of a person in a browser. The recipes get a token of Backend Services.
    asksNothing: namesIn(`
      as_json construct createPath didResolveReference elementProperties from_state human_name
      owningBundle owningResource processedReferenceIdentifier raise_for_status relativeBase relativePath
      reset_patient resolvedReference save_state should_save_state update_with_json with_json
      with_json_and_owner authorize handle_callback reauthorize
    `),
  },
} as const;

export async function pythonCalls(subject: Subject, client: keyof typeof PYTHON_CLIENTS): Promise<CallReport> {
  const program = fileURLToPath(new URL(PYTHON_CLIENTS[client].program, import.meta.url));
  const recipe = await recipeOf('python', 'connect_fhirpy');
  return (await runPython([program], { root: subject.root, token: subject.token, recipe })) as CallReport;
}
