/**
 * Every call of common client libraries works, or is rejected as the table of edge/docs/libraries.md says. HAPI's are in
 * fhir-subscriptions.test.ts, because it reads notifications too, and to start its JVM twice is slow.
 */
import { describe, test } from 'vitest';

import { isPythonMissing, NO_PYTHON } from '../../stack/tools/python.ts';
import type { Subject } from '../fhir/subject.ts';
import * as kit from './fhir-kit-client.ts';
import * as smart from './fhirclient-js.ts';
import * as medplum from './medplum.ts';
import { expectOutcomes } from './outcomes.ts';
import { PYTHON_CLIENTS, pythonCalls } from './python-calls.ts';

const withoutPython = await isPythonMissing();

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
  });
}
