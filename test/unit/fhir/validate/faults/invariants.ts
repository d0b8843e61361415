/** A broken invariant each, of the seven types and their datatypes. */
import { JsonNumber, type JsonObject } from '../../../../../shared/json.ts';
import { coded, extended, EXTENSION, type Fault, faultsOf, nested, UCUM, VALID, valueOf, without } from './valid.ts';

const { patient, condition, allergy, observation } = VALID;

function repeating(repeat: JsonObject): JsonObject {
  return extended({ valueTiming: { repeat } });
}
function triggered(trigger: JsonObject): JsonObject {
  return extended({ valueTriggerDefinition: trigger });
}
function required(filter: JsonObject): JsonObject {
  return extended({ valueDataRequirement: { type: 'Patient', ...filter } });
}

export const INVARIANT: readonly Fault[] = [
  ...faultsOf('invariant', [
    ['ext-1, neither', patient, { modifierExtension: [{ url: 'http://example.org/e' }] }, 'modifierExtension[0]'],
    ['pat-1', patient, { contact: [{ gender: 'male' }] }, 'contact[0]'],
    ['per-1', patient, { name: [{ text: 'a', period: { start: '2002', end: '2001-12' } }] }, 'name[0].period'],
    [
      'per-1, by zone',
      observation,
      { effectivePeriod: { start: '2001-02-03T04:05:06Z', end: '2001-02-03T05:05:05+01:00' } },
      'effective.ofType(Period)',
    ],
    ['cpt-2', patient, { telecom: [{ value: '1' }] }, 'telecom[0]'],
    ['att-1', patient, { photo: [{ data: 'QUJD' }] }, 'photo[0]'],
    ['qty-3', observation, { valueQuantity: { value: 1, code: 'g' } }, 'value.ofType(Quantity)'],
    ['sqty-1', observation, { referenceRange: [{ low: { value: 1, comparator: '<' } }] }, 'referenceRange[0].low'],
    ['rat-1', observation, { valueRatio: { numerator: { value: 1 } } }, 'value.ofType(Ratio)'],
    [
      'rng-2',
      observation,
      {
        valueRange: {
          low: { value: new JsonNumber('2.0'), code: 'g', system: UCUM },
          high: { value: 1, code: 'g', system: UCUM },
        },
      },
      'value.ofType(Range)',
    ],
    [
      'rng-2, of units in words',
      observation,
      { valueRange: { low: { value: 2, unit: 'drops' }, high: { value: 1, unit: 'drops' } } },
      'value.ofType(Range)',
    ],
    ['age-1', condition, { onsetAge: { value: 0, code: 'a', system: UCUM } }, 'onset.ofType(Age)'],
    ['age-1, no code', condition, { onsetAge: { value: 3 } }, 'onset.ofType(Age)'],
    ['obs-3', observation, { referenceRange: [{ type: { text: 'a' } }] }, 'referenceRange[0]'],
    [
      'obs-3, of a component',
      observation,
      { component: [{ code: { text: 'b' }, referenceRange: [{ type: { text: 'a' } }] }] },
      'component[0].referenceRange[0]',
    ],
    ['obs-6', observation, { valueString: 'a', dataAbsentReason: { text: 'b' } }, ''],
    [
      'obs-7',
      observation,
      { code: { coding: [{ code: 'a' }] }, valueString: 'a', component: [{ code: { coding: [{ code: 'a' }] } }] },
      '',
    ],
    ['ait-2', allergy, { verificationStatus: coded('allergyintolerance-verification', 'entered-in-error') }, ''],
    ['con-1', condition, { stage: [{ type: { text: 'a' } }] }, 'stage[0]'],
    ['con-2', condition, { evidence: [{ extension: [nested(0)] }] }, 'evidence[0]'],
    ['con-4', condition, { abatementString: 'a', clinicalStatus: coded('condition-clinical', 'active') }, ''],
    [
      'con-5',
      condition,
      {
        verificationStatus: coded('condition-ver-status', 'entered-in-error'),
        clinicalStatus: coded('condition-clinical', 'active'),
      },
      '',
    ],
  ]),
  ['ext-1, both', extended({ valueString: 'a', extension: [nested(0)] }), EXTENSION, 'invariant'],
  [
    'drt-1',
    extended({ valueDuration: { value: 1, code: 'h', system: 'http://example.org' } }),
    valueOf('Duration'),
    'invariant',
  ],
  ['dis-1', extended({ valueDistance: { value: 1 } }), valueOf('Distance'), 'invariant'],
  [
    'cnt-3',
    extended({ valueCount: { value: new JsonNumber('2.0'), code: '1', system: UCUM } }),
    valueOf('Count'),
    'invariant',
  ],
  [
    'cnt-3, another code',
    extended({ valueCount: { value: 2, code: 'g', system: UCUM } }),
    valueOf('Count'),
    'invariant',
  ],
  ['tim-1', repeating({ duration: 1 }), `${valueOf('Timing')}.repeat`, 'invariant'],
  ['tim-2', repeating({ period: 1 }), `${valueOf('Timing')}.repeat`, 'invariant'],
  ['tim-4', repeating({ duration: -1, durationUnit: 'h' }), `${valueOf('Timing')}.repeat`, 'invariant'],
  ['tim-5', repeating({ period: -1, periodUnit: 'h' }), `${valueOf('Timing')}.repeat`, 'invariant'],
  ['tim-6', repeating({ periodMax: 1 }), `${valueOf('Timing')}.repeat`, 'invariant'],
  ['tim-7', repeating({ durationMax: 1 }), `${valueOf('Timing')}.repeat`, 'invariant'],
  ['tim-8', repeating({ countMax: 1 }), `${valueOf('Timing')}.repeat`, 'invariant'],
  ['tim-9', repeating({ offset: 1 }), `${valueOf('Timing')}.repeat`, 'invariant'],
  ['tim-9, a meal', repeating({ offset: 1, when: ['C'] }), `${valueOf('Timing')}.repeat`, 'invariant'],
  ['tim-10', repeating({ timeOfDay: ['01:02:03'], when: ['ACM'] }), `${valueOf('Timing')}.repeat`, 'invariant'],
  [
    'trd-1',
    triggered({ type: 'data-added', timingDate: '2001', data: [{ type: 'Patient' }] }),
    valueOf('TriggerDefinition'),
    'invariant',
  ],
  [
    'trd-2',
    triggered({ type: 'named-event', name: 'a', condition: { language: 'text/fhirpath', expression: 'a' } }),
    valueOf('TriggerDefinition'),
    'invariant',
  ],
  ['trd-3', triggered({ type: 'periodic' }), valueOf('TriggerDefinition'), 'invariant'],
  ['trd-3, data', triggered({ type: 'data-changed' }), valueOf('TriggerDefinition'), 'invariant'],
  ['exp-1', extended({ valueExpression: { language: 'text/cql' } }), valueOf('Expression'), 'invariant'],
  [
    'drq-1',
    required({ codeFilter: [{ valueSet: 'http://a' }] }),
    `${valueOf('DataRequirement')}.codeFilter[0]`,
    'invariant',
  ],
  [
    'drq-2',
    required({ dateFilter: [{ path: 'a', searchParam: 'b' }] }),
    `${valueOf('DataRequirement')}.dateFilter[0]`,
    'invariant',
  ],
  ['ait-1', without(allergy, 'clinicalStatus'), 'AllergyIntolerance', 'invariant'],
];
