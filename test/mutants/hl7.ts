/** Seeded defects of edge/hl7: the wrong patient, another site’s key, a false ACK, a stranger for a sidecar. */
import type { Mutant } from './mutant.ts';

const CANDIDATES = ['test/unit/hl7/candidates.test.ts'];
const SELECT = ['test/unit/hl7/select-key.test.ts'];
const OBSERVATION = ['test/unit/hl7/map-observation.test.ts'];
const INGEST = ['test/integration/hl7/ingest.test.ts'];
const BAD_INPUT = ['test/integration/hl7/bad-input.test.ts'];
const CONTRACT = ['test/contract/hl7.test.ts'];
const SETTINGS = ['test/integration/hl7/settings.test.ts'];
const SENDERS = ['test/integration/store/mllp-senders.test.ts'];
const OTHERS = ['test/integration/hl7/settings.test.ts', 'test/integration/hl7/ingest.test.ts'];

export const HL7: readonly Mutant[] = [
  {
    name: 'identity: another type',
    file: 'edge/hl7/identity/candidates.ts',
    find: 'return type === undefined || sent.type === undefined || type === sent.type;',
    replace: 'return true;',
    tests: CANDIDATES,
  },
  {
    name: 'identity: another namespace',
    file: 'edge/hl7/identity/candidates.ts',
    find: 'if (assigner !== undefined && sent.namespace !== undefined && assigner !== sent.namespace) return false;',
    replace: '',
    tests: CANDIDATES,
  },
  {
    name: 'identity: a namespace that nobody named against a system',
    file: 'edge/hl7/identity/candidates.ts',
    find: 'if (system !== undefined && sent.namespace !== undefined) return false;',
    replace: '',
    tests: CANDIDATES,
  },
  {
    name: 'identity: another system',
    file: 'edge/hl7/identity/candidates.ts',
    find: 'return sent.system === system;',
    replace: 'return true;',
    tests: CANDIDATES,
  },
  {
    name: 'identity: another value',
    file: 'edge/hl7/identity/candidates.ts',
    find: "if (item['value'] !== sent.value) return false;",
    replace: '',
    tests: CANDIDATES,
  },
  {
    name: 'identity: two patients, the first is taken',
    file: 'edge/hl7/identity/patient.ts',
    find: 'if (survivors.length > 1) {',
    replace: 'if (survivors.length > 9) {',
    tests: INGEST,
  },
  {
    name: 'identity: an old number writes the survivor',
    file: 'edge/hl7/identity/patient.ts',
    find: "(action === 'upsert' || action === 'merge') && !isOldNumber",
    replace: "action === 'upsert' || action === 'merge'",
    tests: INGEST,
  },
  {
    name: 'OBX-2 in lower case is no type',
    file: 'edge/hl7/segments/obx-value.ts',
    find: 'code(fieldText(segment, 2))?.toUpperCase()',
    replace: 'code(fieldText(segment, 2))',
    tests: OBSERVATION,
  },
  {
    name: 'a number that is none is a Quantity',
    file: 'edge/hl7/segments/obx-value.ts',
    find: 'found === undefined ? undefined : { value: { valueQuantity',
    replace: 'found === null ? undefined : { value: { valueQuantity',
    tests: OBSERVATION,
  },
  {
    name: 'sender: a disabled key',
    file: 'edge/hl7/sender/select-key.ts',
    find: `      key.status === 'active' &&
`,
    replace: '',
    tests: SELECT,
  },
  {
    name: 'sender: a key that is not for MLLP',
    file: 'edge/hl7/sender/select-key.ts',
    find: `      key.protocols.includes(PROTOCOL) &&
`,
    replace: '',
    tests: SELECT,
  },
  {
    name: 'sender: any address',
    file: 'edge/hl7/sender/select-key.ts',
    find: 'if (range === undefined || !rangeContains(range, address)) continue;',
    replace: 'if (range === undefined) continue;',
    tests: SELECT,
  },
  {
    name: 'sender: filters widen',
    file: 'edge/hl7/sender/select-key.ts',
    find: '      filterProblems(key, peer).length === 0;',
    replace: '      filterProblems(key, peer).length <= 1;',
    tests: SELECT,
  },
  {
    name: 'sender: of two sites the first',
    file: 'edge/hl7/sender/select-key.ts',
    find: 'if (equals.every((match) => match.key.site === best.key.site)) return { key: best.key };',
    replace: 'return { key: best.key };',
    tests: SELECT,
  },
  {
    name: 'sender: the shorter prefix wins',
    file: 'edge/hl7/sender/select-key.ts',
    find: 'b.filters - a.filters || b.prefix - a.prefix',
    replace: 'b.filters - a.filters || a.prefix - b.prefix',
    tests: SELECT,
  },
  {
    name: 'sender: another site’s key by name',
    file: 'edge/hl7/sender/find-sender.ts',
    find: 'rows.find(({ site_id: site }) => site === sender.site)',
    replace: 'rows.find(({ site_id: site }) => site !== "" || site === sender.site)',
    tests: SETTINGS,
  },
  {
    name: 'sender: matches of another key',
    file: 'edge/hl7/sender/find-sender.ts',
    find: 'matches.filter((match) => match.client_id === row.client_id)',
    replace: 'matches.filter((match) => match.client_id !== "")',
    tests: CONTRACT,
    only: 'on deno',
  },
  {
    name: 'sidecar: any body for a token',
    file: 'edge/hl7/mllp/sidecar-token.ts',
    find: 'if (claims.sha256 !== (await sha256Of(body))) throw notThere();',
    replace: '',
    tests: CONTRACT,
    only: 'on deno',
  },
  {
    name: 'sidecar: a token twice',
    file: 'edge/hl7/mllp/sidecar-token.ts',
    find: 'if (!(await jtiStore.claim(jtiClient(jtiHash), jtiHash, expires, crypto.randomUUID()))) throw notThere();',
    replace: 'await jtiStore.claim(jtiClient(jtiHash), jtiHash, expires, crypto.randomUUID());',
    tests: CONTRACT,
    only: 'on deno',
  },
  {
    name: 'sidecar: a token for another audience',
    file: 'edge/hl7/mllp/sidecar-token.ts',
    find: `      audience: SIDECAR_TOKEN_AUDIENCE,
`,
    replace: '',
    tests: CONTRACT,
    only: 'on deno',
  },
  {
    name: 'sidecar: a token of another type',
    file: 'edge/hl7/mllp/sidecar-token.ts',
    find: `      typ: SIDECAR_TOKEN_TYPE,
`,
    replace: '',
    tests: CONTRACT,
    only: 'on deno',
  },
  {
    name: 'sidecar: a token for a day',
    file: 'edge/hl7/mllp/sidecar-token.ts',
    find: 'lifetime > SIDECAR_TOKEN_MAX_LIFETIME_SECONDS || ',
    replace: '',
    tests: CONTRACT,
    only: 'on deno',
  },
  {
    name: 'sidecar: a token of tomorrow',
    file: 'edge/hl7/mllp/sidecar-token.ts',
    find: ' || age < -CLOCK_TOLERANCE_SECONDS',
    replace: '',
    tests: CONTRACT,
    only: 'on deno',
  },
  {
    name: 'no scope is needed to send messages',
    file: 'edge/hl7/http/routes.ts',
    find: `    requireScopes(caller, REQUIRED_SCOPES);
`,
    replace: '',
    tests: CONTRACT,
    only: 'on deno.*scope',
  },
  {
    name: 'an error is accepted',
    file: 'edge/hl7/ingest/decide.ts',
    find: "findings.some(({ severity }) => severity === 'E')",
    replace: "findings.some(({ severity }) => severity === 'I')",
    tests: BAD_INPUT,
  },
  {
    name: 'what is refused has effects',
    file: 'edge/hl7/ingest/decide.ts',
    find: 'const effects = isRefused(findings) ? effectsOfRefused(mapped, input.found) : (mapped ?? NO_EFFECTS);',
    replace: 'const effects = mapped ?? NO_EFFECTS;',
    tests: BAD_INPUT,
  },
  {
    name: 'a message that failed is seen for ever',
    file: 'edge/hl7/ingest/ingest.ts',
    find: 'if (!seen.hasFailed) return',
    replace: 'return',
    tests: BAD_INPUT,
  },
  {
    name: 'a Fault is a bug that is stored',
    file: 'edge/hl7/ingest/ingest.ts',
    find: 'if (error instanceof Fault) throw error;',
    replace: '',
    tests: BAD_INPUT,
  },
  {
    name: 'when what was found has passed the message is lost',
    file: 'edge/hl7/ingest/ingest.ts',
    find: 'for (let turn = 0; turn < MAX_TURNS; turn += 1)',
    replace: 'for (let turn = 0; turn < 1; turn += 1)',
    tests: INGEST,
  },
  {
    name: 'an unknown sender keeps its connection',
    file: 'edge/hl7/mllp/routes.ts',
    find: "deps.now(), requestId, 'close')",
    replace: "deps.now(), requestId, 'keep')",
    tests: CONTRACT,
    only: 'on deno',
  },
  {
    name: 'a disabled key takes messages',
    file: 'edge/store/hl7.ts',
    find: "const TAKES_MLLP = `(k.status = 'active' and ",
    replace: 'const TAKES_MLLP = `(',
    tests: SENDERS,
  },
  {
    name: 'the seen message of another key',
    file: 'edge/store/hl7.ts',
    find: 'seen.site_id = k.site_id and seen.client_id = k.client_id',
    replace: 'seen.site_id is not null',
    tests: OTHERS,
  },
];
