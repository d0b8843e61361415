/** Seeded defects of shared/: what the edge and the sidecar both believe. */
import type { Mutant } from './mutant.ts';

const IP = ['test/unit/shared/ip.test.ts'];
const PUBLIC = ['test/unit/http/public-address.test.ts'];
const JSON_TEXT = ['test/unit/shared/json.test.ts'];
const MLLP = ['test/unit/shared/hl7/mllp.test.ts'];
const ACK = ['test/unit/shared/hl7/ack.test.ts'];

const TRACE = ['test/unit/shared/trace-context.test.ts'];

export const SHARED: readonly Mutant[] = [
  {
    name: 'a trace of zeros is gone on with',
    file: 'shared/trace-context.ts',
    find: 'ZEROS.test(traceId) || ',
    replace: '',
    tests: TRACE,
  },
  {
    name: 'this version of traceparent may say more',
    file: 'shared/trace-context.ts',
    find: "version !== '00' || ",
    replace: "version !== '' || ",
    tests: TRACE,
  },
  {
    name: 'our span is the caller’s',
    file: 'shared/trace-context.ts',
    find: ': newSpanId(), parentSpanId };',
    replace: ': parentSpanId, parentSpanId };',
    tests: TRACE,
  },
  {
    name: 'leading zeros of an octet are taken',
    file: 'shared/ip.ts',
    find: '/^(?:0|[1-9]\\d{0,2})$/.test(part)',
    replace: '/^\\d{1,3}$/.test(part)',
    tests: IP,
  },
  {
    name: 'the last bits of a prefix do not count',
    file: 'shared/ip.ts',
    find: 'if (rest === 0) return true;',
    replace: 'return true;',
    tests: IP,
  },
  {
    name: 'an IPv4 prefix is counted from the first of 128 bits',
    file: 'shared/ip.ts',
    find: 'prefix: Number(length) + (isIpv4 ? MAPPED_PREFIX_BITS : 0)',
    replace: 'prefix: Number(length)',
    tests: IP,
  },
  {
    name: 'the metadata services of clouds are public',
    file: 'edge/http/public-address.ts',
    find: "  '169.254.0.0/16', // link-local, and the metadata services of clouds\n",
    replace: '',
    tests: PUBLIC,
  },
  {
    name: 'what is no address is public',
    file: 'edge/http/public-address.ts',
    find: 'if (address === undefined) return false;',
    replace: 'if (address === undefined) return true;',
    tests: PUBLIC,
  },
  {
    name: 'an IPv4 address spelt as IPv6 is public',
    file: 'edge/http/public-address.ts',
    find: "if (text.includes(':') && !rangeContains(GLOBAL_UNICAST_IPV6, address)) return false;",
    replace: '',
    tests: PUBLIC,
  },
  {
    name: '1.50 becomes 1.5',
    file: 'shared/json.ts',
    find: 'return String(value) === source ? value : new JsonNumber(source);',
    replace: 'return value;',
    tests: JSON_TEXT,
  },
  {
    name: 'a member given twice is overwritten',
    file: 'shared/json.ts',
    find: "if (Object.hasOwn(out, name)) return fail('a member name given twice');",
    replace: '',
    tests: JSON_TEXT,
  },
  {
    name: 'nesting has no end',
    file: 'shared/json.ts',
    find: 'if (depth >= maxDepth)',
    replace: 'if (depth < 0)',
    tests: JSON_TEXT,
  },
  {
    name: '__proto__ sets a prototype',
    file: 'shared/json.ts',
    find: "if (name === '__proto__') {",
    replace: "if (name === '__none__') {",
    tests: JSON_TEXT,
  },
  {
    name: 'text after the document is ignored',
    file: 'shared/json.ts',
    find: "if (at < text.length) fail('text after the end of the document');",
    replace: '',
    tests: JSON_TEXT,
  },
  {
    name: 'ids of one millisecond do not ascend',
    file: 'shared/uuid.ts',
    find: 'lastMs = Math.max(nowMs, lastMs);',
    replace: 'lastMs = nowMs;',
    tests: ['test/unit/shared/uuid.test.ts'],
  },
  {
    name: 'an error is logged with its message',
    file: 'shared/log.ts',
    find: 'class: error.name,',
    replace: 'class: error.name + error.message,',
    tests: ['test/unit/shared/log.test.ts'],
  },
  {
    name: 'a VT inside a frame mixes two messages',
    file: 'shared/hl7/mllp.ts',
    find: "    forget();\n    state = 'inside';",
    replace: "    state = 'inside';",
    tests: MLLP,
  },
  {
    name: 'a frame over the limit is a frame',
    file: 'shared/hl7/mllp.ts',
    find: "events.push(length > maxFrameBytes ? { kind: 'oversized', head: bytes } : { kind: 'frame', bytes });",
    replace: "events.push({ kind: 'frame', bytes });",
    tests: MLLP,
  },
  {
    name: 'a frame shares its bytes with the chunk it came in',
    file: 'shared/hl7/mllp.ts',
    find: "events.push({ kind: 'frame', bytes: new Uint8Array(last) });",
    replace: "events.push({ kind: 'frame', bytes: last });",
    tests: MLLP,
  },
  {
    name: 'line ends between frames are junk',
    file: 'shared/hl7/mllp.ts',
    find: 'if (byte !== CR && byte !== LF) count += 1;',
    replace: 'count += 1;',
    tests: MLLP,
  },
  {
    name: 'enhanced mode accepts what was refused',
    file: 'shared/hl7/ack-mode.ts',
    find: "{ AA: 'CA', AE: 'CE', AR: 'CR' }",
    replace: "{ AA: 'CA', AE: 'CA', AR: 'CR' }",
    tests: ACK,
  },
  {
    name: 'MSH-15 ER is answered when all is well',
    file: 'shared/hl7/ack-mode.ts',
    find: "['ER', (outcome) => outcome !== 'AA'],",
    replace: "['ER', () => true],",
    tests: ACK,
  },
  {
    name: 'the ACK goes to its own sender',
    file: 'shared/hl7/ack.ts',
    find: '    copied(5),\n    copied(6),\n    copied(3),\n    copied(4),\n',
    replace: '    copied(3),\n    copied(4),\n    copied(5),\n    copied(6),\n',
    tests: ACK,
  },
  {
    name: 'AA to a message without a control id',
    file: 'shared/hl7/ack.ts',
    find: 'const sent = hasControlId ? code : rejectionOf(code);',
    replace: 'const sent = code;',
    tests: ACK,
  },
  {
    name: 'as many ERR segments as there are findings',
    file: 'shared/hl7/ack.ts',
    find: 'if (errors.length <= MAX_ERR_SEGMENTS) return errors;',
    replace: 'return errors;',
    tests: ACK,
  },
  {
    name: 'before 2.5 a warning is told as an error',
    file: 'shared/hl7/ack.ts',
    find: "    .filter(({ severity }) => severity === 'E')\n    .map(({ code, at",
    replace: '    .map(({ code, at',
    tests: ACK,
  },
  {
    name: 'both asked for, the accept acknowledgement alone',
    file: 'shared/hl7/ack-mode.ts',
    find: 'send: application ?? accept',
    replace: 'send: accept ?? application',
    tests: ACK,
  },
];
