/** Seeded defects of the order of time: an old result over its correction, an old name over the new one. */
import type { Mutant } from './mutant.ts';

const CLOCK = ['test/unit/hl7/order/clock.test.ts'];
const APPLY = ['test/unit/hl7/order/apply.test.ts'];
const PERMUTATIONS = ['test/unit/hl7/order/permutations.test.ts'];
const ROWS = ['test/integration/hl7/order.test.ts'];

export const ORDER: readonly Mutant[] = [
  {
    name: 'order: preliminary over final',
    file: 'edge/hl7/order/clock.ts',
    find: 'order(timing, timing.standing.isFinal ? 1 : 0)',
    replace: 'order(timing, 1)',
    tests: CLOCK,
  },
  {
    name: 'order: a clock that is ahead has the last word',
    file: 'edge/hl7/order/clock.ts',
    find: '.findLast((ms) => ms <= latest)',
    replace: '.findLast(() => true)',
    tests: CLOCK,
  },
  {
    name: 'order: the hour that a clock shows twice is the first',
    file: 'edge/hl7/order/clock.ts',
    find: '.findLast((ms) => ms <= latest)',
    replace: '.find((ms) => ms <= latest)',
    tests: CLOCK,
  },
  {
    name: 'order: a day is a time',
    file: 'edge/hl7/order/clock.ts',
    find: 'if (stamp?.minute === undefined) return undefined;',
    replace: 'if (stamp === undefined) return undefined;',
    tests: CLOCK,
  },
  {
    name: 'order: a default over what was said',
    file: 'edge/hl7/order/order.ts',
    find: '`-${order}`',
    replace: '`${order}`',
    tests: CLOCK,
  },
  {
    name: 'order: an older message overwrites',
    file: 'edge/hl7/order/apply.ts',
    find: 'if (order >= orderOfElement(content, remembered, element)) {',
    replace: 'if (order !== undefined) {',
    tests: APPLY,
  },
  {
    name: 'order: an older message overwrites what a FHIR client wrote',
    file: 'edge/hl7/order/apply.ts',
    find: "later(remembered.registers.get(element)?.order ?? '', stampOf(remembered, element))",
    replace: "remembered.registers.get(element)?.order ?? ''",
    tests: APPLY,
  },
  {
    name: 'order: an older message overwrites what a FHIR client created',
    file: 'edge/hl7/order/apply.ts',
    find: 'return remembered.base;',
    replace: "return '';",
    tests: APPLY,
  },
  {
    name: 'order: a replaced document is current again',
    file: 'edge/hl7/order/apply.ts',
    find: "content['status'] = 'superseded';",
    replace: '',
    tests: APPLY,
  },
  {
    name: 'order: a patient that was merged away is in use again',
    file: 'edge/hl7/order/apply.ts',
    find: "if (isPatient && isMergedAway(content)) content['active'] = false;",
    replace: '',
    tests: APPLY,
  },
  {
    name: 'order: an older field of a list overwrites',
    file: 'edge/hl7/order/list.ts',
    find: "order >= later(before.get(nameOf(element, field))?.order ?? '', stamp)",
    replace: "order >= stamp && field !== ''",
    tests: APPLY,
  },
  {
    name: 'order: an older message takes away what a FHIR client added',
    file: 'edge/hl7/order/list.ts',
    find: 'order < orderOfOthers ? [] : others',
    replace: 'others',
    tests: PERMUTATIONS,
  },
  {
    name: 'order: what a FHIR client took out comes back',
    file: 'edge/hl7/order/list.ts',
    find: 'register.order < stamp && !standing.has(printed)',
    replace: 'register.order < stamp && standing.size < 0',
    tests: APPLY,
  },
  {
    name: 'order: an older listing overwrites members of an identifier',
    file: 'edge/hl7/order/identifiers.ts',
    find: "said.filter(([name]) => order >= (before.get(name)?.order ?? ''))",
    replace: 'said',
    tests: APPLY,
  },
  {
    name: 'order: a late correction is not listed',
    file: 'edge/hl7/ingest/effects.ts',
    find: 'if (statement.timing.standing.isCorrection) attendStaleCorrection',
    replace: 'if (statement.timing.standing.rank < 0) attendStaleCorrection',
    tests: ROWS,
  },
  {
    name: 'order: a new value with the old range',
    file: 'edge/hl7/segments/obx.ts',
    find: `  fixed('referenceRange', null),
`,
    replace: '',
    tests: ROWS,
  },
  {
    name: 'order: a document that comes after its replacement is current',
    file: 'edge/hl7/message/documents.ts',
    find: '        chart.supersede(draft, order);\n',
    replace: '',
    tests: ROWS,
  },
  {
    name: 'resource_write: what a FHIR client changed is not remembered',
    file: 'migrations/functions/resource_write.sql',
    find: "if r.writer = 'client' then",
    replace: 'if false then',
    tests: ROWS,
  },
  {
    name: 'resource_write: what a message changed counts as a FHIR client’s',
    file: 'migrations/functions/resource_write.sql',
    find: "if r.writer = 'client' then",
    replace: 'if true then',
    tests: ROWS,
  },
  {
    name: 'order_stamp: all that stands there is remembered as changed',
    file: 'migrations/functions/order_stamp.sql',
    find: 'where w.value is distinct from n.value;',
    replace: ';',
    tests: ROWS,
  },
  {
    name: 'hl7_match: an order that another message has moved meanwhile',
    file: 'migrations/functions/hl7_match.sql',
    find: 'f.type, f.id, f.version, f.contributions)',
    replace: 'f.type, f.id, f.version)',
    tests: ROWS,
  },
];
