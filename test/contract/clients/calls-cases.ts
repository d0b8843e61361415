/** Every call of common client libraries works, or is rejected as the table of edge/docs/libraries.md says. */
import { describe, test } from 'vitest';

import { isPythonMissing, NO_PYTHON } from '../../stack/tools/python.ts';
import { isFull } from '../../stack/tools/size.ts';
import type { Subject } from '../fhir/subject.ts';
import * as kit from './fhir-kit-client.ts';
import * as smart from './fhirclient-js.ts';
import * as hapi from './hapi-calls.ts';
import * as medplum from './medplum.ts';
import { expectOutcomes } from './outcomes.ts';
import { PYTHON_CLIENTS, pythonCalls } from './python-calls.ts';

const withoutPython = await isPythonMissing();
const withoutHapi = await hapi.isHapiMissing();

export function callsCases(subject: () => Subject): void {
  describe('every call of', () => {
    test('fhir-kit-client', async () => {
      expectOutcomes('fhir-kit-client', await kit.fhirKitClientCalls(subject()), kit.ASKS_NOTHING);
    });

    test('fhirclient (JavaScript)', async () => {
      expectOutcomes('fhirclient (JavaScript)', await smart.fhirclientJsCalls(subject()), smart.ASKS_NOTHING);
    });

    test('@medplum/core', async () => {
      expectOutcomes('@medplum/core', await medplum.medplumCalls(subject()), medplum.ASKS_NOTHING);
    });

    test.for(['fhirpy', 'fhirclient (Python)'] as const)('%s', async (client, { skip }) => {
      skip(withoutPython, NO_PYTHON);
      expectOutcomes(client, await pythonCalls(subject(), client), PYTHON_CLIENTS[client].asksNothing);
    });

    // To compile and to start a JVM are ten seconds of a core, which other tests want too.
    test('HAPI FHIR', { timeout: 120_000 }, async ({ skip }) => {
      skip(withoutHapi, hapi.NO_HAPI);
      // A JVM for each is too slow for both every time.
      skip(subject().gateway.runtime === 'deno' && !isFull, 'on the other runtime; TEST_SIZE=full runs it on both');
      expectOutcomes('HAPI FHIR', await hapi.hapiCalls(subject()), hapi.ASKS_NOTHING);
    });
  });
}
