/** Every message of test/messages is mapped, and every resource made is valid FHIR by our own validation. */
import { readBytes } from '../../stack/tools/hl7-text.ts';
import { everyNth, sized } from '../../stack/tools/size.ts';
import { describe, expect, test } from 'vitest';

import { decide } from '../../../edge/hl7/ingest/decide.ts';
import type { SenderSettings } from '../../../edge/hl7/ingest/sender/settings.ts';
import { validate } from '../../../edge/fhir/validate/validate.ts';
import { RESOURCE_TYPES } from '../../../shared/resource-type.ts';
import { corpus } from '../../inputs/hl7-corpus.ts';
import { RECEIVED, SETTINGS as USUAL } from '../../inputs/hl7-mapped.ts';

const SETTINGS: SenderSettings = { ...USUAL, authorities: new Map([['MIMIC', 'urn:example:mimic']]) };

function judge(bytes: Uint8Array) {
  return decide({
    reading: readBytes(bytes, 'utf-8'),
    settings: SETTINGS,
    found: [],
    patients: [],
    ...RECEIVED,
  });
}

/**
 * The same segments with a header that is accepted, so that the maps process what all these senders write.
 * @param type MSH-9 instead of the message's own
 */
function served(bytes: Uint8Array, type?: string): Uint8Array {
  const text = new TextDecoder('latin1').decode(bytes);
  const at = text.indexOf('MSH');
  const end = /[\r\n]|$/.exec(text.slice(at))?.index ?? 0;
  const fields = text.slice(at, at + end).split(text.charAt(at + 3));
  // Index 8 is MSH-9, 9 MSH-10, 10 MSH-11, 11 MSH-12.
  const filled = ['', '', '', '', '', '', '', '', type ?? '', 'C1', 'P', '2.5.1'].map((value, index) =>
    index === 8 && type !== undefined ? type : fields[index] || value,
  );
  const line = [...filled, ...fields.slice(12)].join(text.charAt(at + 3));
  const txa = 'TXA|1|OP^Report^L|TX|||20260101120000||||||DOC-1^HOSP|||||AU|R|AV'.replaceAll('|', text.charAt(at + 3));
  const rest = text.slice(at + end);
  // The corpus has hardly a document with a number: its results become the lines of one.
  const body =
    type?.startsWith('MDM') === true && !rest.includes('TXA') ? rest.replace(/[\r\n]OBX/, `\r${txa}\rOBX`) : rest;
  const filledText = text.slice(0, at) + line + body;
  return Uint8Array.from(filledText, (character) => character.charCodeAt(0));
}

function faultsOf(bytes: Uint8Array): unknown[] {
  return judge(bytes).effects.resources.flatMap((resource) => {
    const { resourceType } = resource;
    const type = typeof resourceType === 'string' ? resourceType : '';
    return validate(resource, type).map((issue) => ({ issue, resource }));
  });
}

describe('unchanged messages', () => {
  test.each(corpus())('$name', ({ bytes }) => {
    expect(faultsOf(served(bytes))).toEqual([]);
  });
});

describe.each(['ADT^A08', 'ORU^R01', 'MDM^T02'])('the same messages as %s', (type) => {
  test.each(everyNth(4, corpus()))('$name', ({ bytes }) => {
    expect(faultsOf(served(bytes, type))).toEqual([]);
  });
});

test('served messages are accepted, except messages that lack or break a required value', () => {
  const refused = corpus()
    .map(({ name, bytes }) => ({ name, ...judge(served(bytes)) }))
    .map(({ name, findings }) => ({
      name,
      errors: findings.filter(({ severity }) => severity === 'E').map(({ code, at }) => `${code} ${at}`),
    }))
    .filter(({ errors }) => errors.length > 0 && !errors.some((error) => /^20[0-3] /.test(error)));
  const kinds = new Set(refused.flatMap(({ errors }) => errors).map((error) => error.replaceAll(/\^\d+/g, '^n')));
  // Segments and fields that are missing, invalid bytes, an OBX before its OBR.
  expect([...kinds].sort()).toMatchInlineSnapshot(`
    [
      "100 MSH^n^n",
      "100 OBR^n",
      "100 OBX^n",
      "101 OBR^n",
      "101 OBR^n^n",
      "101 OBX^n^n",
      "101 PID^n",
      "101 PID^n^n^n^n",
      "101 TXA^n",
      "101 TXA^n^n^n^n",
      "102 NTE^n^n",
      "102 OBX^n^n",
    ]
  `);
});

test('the corpus makes resources of every type', () => {
  const types = everyNth(2, corpus()).flatMap(({ bytes }) =>
    ['ADT^A08', 'ORU^R01', 'MDM^T02'].flatMap((type) =>
      judge(served(bytes, type)).effects.resources.map(({ resourceType }) => resourceType),
    ),
  );
  expect(new Set(types)).toEqual(new Set(RESOURCE_TYPES));
  expect(types.length).toBeGreaterThan(sized(500, 1000));
});
