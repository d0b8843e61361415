/** Seeded defects of what one request may cost, and of what the database says when it cannot do it. */
import type { Mutant } from './mutant.ts';

const STATES = ['test/unit/store/sqlstate.test.ts'];
const FHIR_COST = ['test/unit/fhir/cost.test.ts'];
const HL7_COST = ['test/unit/hl7/message-cost.test.ts'];
const PROBES = ['test/integration/probes.test.ts'];

export const COST: readonly Mutant[] = [
  {
    name: 'a database that takes no writes is a fault of ours',
    file: 'edge/store/sqlstate.ts',
    find: "  '25006': READ_ONLY,\n",
    replace: '',
    tests: STATES,
  },
  {
    name: 'a full disk and a full lock table are faults of ours',
    file: 'edge/store/sqlstate.ts',
    find: "  '53': FULL,\n",
    replace: '',
    tests: STATES,
  },
  {
    name: 'a privilege that is missing passes',
    file: 'edge/store/sqlstate.ts',
    find: "  '28': AWAY,",
    replace: "  '28': AWAY,\n  '42': AWAY,",
    tests: STATES,
  },
  {
    name: 'a write in what says that it reads passes',
    file: 'edge/platform/database.ts',
    find: "state === '25006' && saysItReads",
    replace: "state === '25006' && !saysItReads",
    tests: ['test/integration/platform/passing-fault.test.ts'],
  },
  {
    name: 'a database that takes no writes is ready',
    file: 'edge/probes.ts',
    find: '!isWritable',
    replace: 'isWritable === undefined',
    tests: PROBES,
  },
  {
    name: 'a search may have any number of parameters',
    file: 'edge/fhir/cost.ts',
    find: 'pairs.length > MAX_PARAMETERS',
    replace: 'pairs.length > MAX_PARAMETERS * 9',
    tests: FHIR_COST,
  },
  {
    name: 'a parameter may have any number of values',
    file: 'edge/fhir/cost.ts',
    find: 'values > MAX_VALUES)',
    replace: 'values > MAX_VALUES * 9)',
    tests: FHIR_COST,
  },
  {
    name: 'the parameters of a search may have any number of values in all',
    file: 'edge/fhir/cost.ts',
    find: 'all > MAX_VALUES_OF_SEARCH',
    replace: 'all > MAX_VALUES_OF_SEARCH * 9',
    tests: FHIR_COST,
  },
  {
    name: 'a condition may cost anything',
    file: 'edge/fhir/search/request.ts',
    find: `  const pairs: Pair[] = [...new URLSearchParams(query)];
  requireAffordableSearch(pairs);`,
    replace: '  const pairs: Pair[] = [...new URLSearchParams(query)];',
    tests: FHIR_COST,
  },
  {
    name: 'the conditions of a bundle may cost anything',
    file: 'edge/fhir/cost.ts',
    find: 'all > MAX_VALUES_OF_BUNDLE',
    replace: 'all > MAX_VALUES_OF_BUNDLE * 9',
    tests: FHIR_COST,
  },
  {
    name: 'the addresses of a bundle’s entries are not counted',
    file: 'edge/fhir/bundle/entries.ts',
    find: "...url.split('?').slice(1), ",
    replace: '',
    tests: FHIR_COST,
  },
  {
    name: 'the lists of a resource may have any length',
    file: 'edge/fhir/cost.ts',
    find: 'list.length > MAX_LIST',
    replace: 'list.length > MAX_LIST * 9',
    tests: FHIR_COST,
  },
  {
    name: 'a write is not counted before it is validated',
    file: 'edge/fhir/resource-body.ts',
    find: '  requireAffordableLists(type, content);\n',
    replace: '',
    tests: FHIR_COST,
  },
  {
    name: 'a write may be found by any number of identifiers and codes',
    file: 'edge/fhir/cost.ts',
    find: 'indexed > MAX_INDEXED',
    replace: 'indexed > MAX_INDEXED * 9',
    tests: FHIR_COST,
  },
  {
    name: 'one request may fill the table of locks',
    file: 'edge/fhir/cost.ts',
    find: 'new Set(held).size > MAX_HELD',
    replace: 'new Set(held).size > MAX_HELD * 9',
    tests: FHIR_COST,
  },
  {
    name: 'a message may be about any number of patients',
    file: 'edge/hl7/message/cost.ts',
    find: 'all.slice(MAX_PIDS, MAX_PIDS + 1)',
    replace: 'all.slice(MAX_PIDS * 9)',
    tests: HL7_COST,
  },
  {
    name: 'a patient may be sent with any number of numbers',
    file: 'edge/hl7/message/cost.ts',
    find: 'repeated <= MAX_REPETITIONS',
    replace: 'repeated <= MAX_REPETITIONS * 9',
    tests: HL7_COST,
  },
  {
    name: 'the numbers of all patients of a message are not counted together',
    file: 'edge/hl7/message/cost.ts',
    find: 'numbers <= MAX_NUMBERS',
    replace: 'numbers <= MAX_NUMBERS * 9',
    tests: HL7_COST,
  },
  {
    name: 'separators without a number count',
    file: 'edge/hl7/message/cost.ts',
    find: ".filter(({ raw }) => raw !== '')",
    replace: '',
    tests: HL7_COST,
  },
  {
    name: 'a patient may be sent with any number of names',
    file: 'edge/hl7/message/cost.ts',
    find: ' <= MAX_LIST)',
    replace: ' <= MAX_LIST * 9)',
    tests: HL7_COST,
  },
  {
    name: 'what is refused for its size is looked up',
    file: 'edge/hl7/message/outline.ts',
    find: 'excess.length > 0 ? tooLarge(excess) : { patients: usable, findings }',
    replace: '{ patients: usable, findings: [...findings, ...excess] }',
    tests: HL7_COST,
  },
];
