/**
 * Writes the examples of README and the documentation from edge/examples. So they show the same requests as the API reference
 * and the console. `npm run generate` runs it.
 */
import { readFile, writeFile } from 'node:fs/promises';

import { type ExampleClient, PROGRAMS, shellToken } from '../edge/examples/program.ts';
import { curl } from '../edge/examples/request.ts';
import { createRequest, messageRequest, searchRequest, tokenRequest } from '../edge/examples/requests.ts';
import { refusalsTable } from './contract/clients/refusals.ts';
import { withPart } from './generate-configuration.ts';
import { type RuleRecipe, RULE_RECIPES } from './inputs/rule-recipes.ts';

const ROOT = new URL('../', import.meta.url);

/** Base URLs of `npm start`, and those that stand for a deployment's. */
const LOCAL = 'http://127.0.0.1:28080';
const OAUTH = 'https://oauth.example.org';
const FHIR = 'https://fhir.example.org';
const HL7 = 'https://hl7.example.org';

const PATIENT = {
  resourceType: 'Patient',
  identifier: [{ value: 'A-1' }],
  name: [{ text: 'Ada Lovelace' }],
  birthDate: '1815-12-10',
};
const SCOPE = 'system/Patient.read system/Patient.write';

const CLIENT: ExampleClient = {
  clientId: 'svc-0192f0c1-7d3e-7a52-9c1b-5f2a6d8e4b10',
  endpoint: `${OAUTH}/oauth2/token`,
  scope: SCOPE,
  audience: 'svc-fhir',
  alg: 'ES384',
  kid: 'my-key-1',
};

const fenced = (fence: string, code: string): string => `\`\`\`${fence}\n${code.trimEnd()}\n\`\`\``;
const token = (base: string): string => shellToken(tokenRequest(`${base}/oauth2/token`, SCOPE, 'svc-fhir'));
const programs = PROGRAMS.map(({ language, fence, write }): [string, string] => [
  language,
  fenced(fence, write(CLIENT, searchRequest(FHIR, '_count=5'))),
]);

const create = curl(createRequest(LOCAL, PATIENT));
const find = (query: string): string => curl(searchRequest(LOCAL, `${query}&_pretty=true`));
const message = `curl -sS '${LOCAL}/hl7/messages' -H "Authorization: Bearer $(npm run -s token demo-hl7)" \\
  -H 'Content-Type: text/plain' --data-binary @test/messages/demo/adt-a04.hl7 | tr '\\r' '\\n'`;
const mllp = 'npm run -s mllp test/messages/demo/oru-r01.hl7';
const deployed = [token(OAUTH), curl(createRequest(FHIR, PATIENT)), curl(searchRequest(FHIR, 'identifier=A-1'))];

const MAX_LINE = 110;

/** A recipe as oxfmt writes it: one short rule on a line, or else each rule, or else each member. */
const recipe = ({ title, rules }: RuleRecipe): string => {
  const printed = rules.map((rule) => {
    const line = printSpaced(rule);
    return line.length <= MAX_LINE
      ? line
      : `{\n${membersOf(rule)
          .map((each) => `    ${each}`)
          .join(',\n')}\n  }`;
  });
  const list = printed.join(',\n  ');
  return `${title}:\n\n${fenced('json', list.includes('\n') ? `[\n  ${list}\n]` : `[${list}]`)}`;
};

const membersOf = (value: object): string[] =>
  Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${printSpaced(each)}`);

function printSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printSpaced).join(', ')}]`;
  return typeof value === 'object' && value !== null ? `{ ${membersOf(value).join(', ')} }` : JSON.stringify(value);
}

/** The generated parts, by name. A page has the part between two comments with its name. */
const PARTS: Readonly<Record<string, string>> = {
  token: fenced('sh', `CLIENT_ASSERTION=$(npm run -s assertion)\n${token(LOCAL)}`),
  patient: fenced('sh', `${create}\n\n${find('name=lovelace')}`),
  message: fenced('sh', message),
  'mllp message': fenced('sh', mllp),
  'patient of the messages': fenced('sh', find('identifier=D-2001')),
  messages: fenced('sh', `${message}\n\n${mllp}\n\n${find('identifier=D-2001')}`),
  'first patient of a deployment': fenced('sh', deployed.join('\n\n')),
  ...Object.fromEntries(programs),
  'message with curl': fenced('sh', curl(messageRequest(HL7))),
  'rejected calls': refusalsTable(),
  recipes: RULE_RECIPES.map(recipe).join('\n\n'),
};

const PAGES: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['token', 'patient', 'messages'],
  'edge/docs/quickstart.md': ['token', 'patient', 'message', 'mllp message', 'patient of the messages'],
  'edge/docs/senders.md': ['message', 'mllp message', 'recipes'],
  'edge/docs/deploy.md': ['first patient of a deployment'],
  'edge/docs/curl.md': ['curl and openssl', 'message with curl'],
  'edge/docs/javascript.md': ['Node with jose'],
  'edge/docs/python.md': ['Python with PyJWT'],
  'edge/docs/libraries.md': ['rejected calls'],
};

function partOf(name: string): string {
  const part = PARTS[name];
  if (part === undefined) throw new RangeError(`no example ${name}`);
  return part;
}

/** The pages with examples, by path. */
export async function generatedExamples(): Promise<Record<string, string>> {
  const pages: Record<string, string> = {};
  for (const [path, names] of Object.entries(PAGES))
    pages[path] = names.reduce(
      (page, name) => withPart(page, name, partOf(name)),
      await readFile(new URL(path, ROOT), 'utf8'),
    );
  return pages;
}

if (import.meta.main)
  for (const [path, text] of Object.entries(await generatedExamples())) await writeFile(new URL(path, ROOT), text);
