/** One request as a program in three languages. It takes its token from the environment, so that no sample holds one. */
import type { CodeSample } from './model.ts';

export interface SampledRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A text as it is, a form as its parameters, JSON as people read it. */
  readonly body?: string | { readonly form: Readonly<Record<string, string>> } | { readonly json: unknown };
  /** Of what the request needs: `ACCESS_TOKEN`, or none. */
  readonly needsToken: boolean;
}

const TOKEN = 'ACCESS_TOKEN';
/** For the shell: between single quotes everything stands for itself but the quote. */
const quoted = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;
/** Values of a form that are the caller's own are variables of the environment. */
const variableOf = (value: string): string | undefined => /^\$([A-Z_]+)$/.exec(value)?.[1];

const formOf = (body: SampledRequest['body']): readonly (readonly [string, string])[] =>
  typeof body === 'object' && 'form' in body ? Object.entries(body.form) : [];
const jsonOf = (body: SampledRequest['body']): string | undefined =>
  typeof body === 'object' && 'json' in body ? JSON.stringify(body.json, null, 2) : undefined;

function curl({ method, url, headers, body, needsToken }: SampledRequest): string {
  const text = typeof body === 'string' ? body : jsonOf(body);
  // Segments end with a carriage return, which no shell writes by itself.
  const segments = text?.includes('\r') === true ? text.split('\r').filter((segment) => segment !== '') : [];
  const isImplied = method === 'GET' || (method === 'POST' && body !== undefined);
  const lines = [
    `curl -sS ${isImplied ? '' : `-X ${method} `}${quoted(url)}`,
    ...(needsToken ? [`-H "Authorization: Bearer $${TOKEN}"`] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...formOf(body).map(([name, value]) =>
      variableOf(value) === undefined
        ? `--data-urlencode ${quoted(`${name}=${value}`)}`
        : `--data-urlencode "${name}=${value}"`,
    ),
    ...(text === undefined ? [] : [`--data-binary ${segments.length === 0 ? quoted(text) : '@-'}`]),
  ];
  const command = lines.join(' \\\n  ');
  return segments.length === 0
    ? command
    : `printf '%s\\r' \\\n  ${segments.map(quoted).join(' \\\n  ')} |\n  ${command}`;
}

/** A literal of JSON is one of Python and of JavaScript, for texts. */
const literal = (value: string): string => JSON.stringify(value);

function python({ method, url, headers, body, needsToken }: SampledRequest): string {
  const all = [
    ...(needsToken ? [`"Authorization": "Bearer " + os.environ["${TOKEN}"],`] : []),
    ...Object.entries(headers).map(([name, value]) => `${literal(name)}: ${literal(value)},`),
  ];
  const form = formOf(body).map(([name, value]) => {
    const variable = variableOf(value);
    return `${literal(name)}: ${variable === undefined ? literal(value) : `os.environ["${variable}"]`},`;
  });
  const braces = (rows: readonly string[]) => `{\n${rows.map((row) => `        ${row}\n`).join('')}    }`;
  const json = jsonOf(body);
  const sent = [
    ...(form.length === 0 ? [] : [braces(form)]),
    ...(typeof body === 'string' ? [`${literal(body)}.encode()`] : []),
    // Raw: a backslash of JSON is JSON's.
    ...(json === undefined ? [] : [`r"""${json}""".encode()`]),
  ];
  return `# pip install requests
import os
import requests

answer = requests.request(
    ${literal(method)},
    ${literal(url)},${all.length === 0 ? '' : `\n    headers=${braces(all)},`}${sent.map((each) => `\n    data=${each},`).join('')}
)
print(answer.status_code, answer.text)`;
}

function javascript({ method, url, headers, body, needsToken }: SampledRequest): string {
  const all = [
    ...(needsToken ? [`Authorization: \`Bearer \${process.env.${TOKEN}}\`,`] : []),
    ...Object.entries(headers).map(([name, value]) => `${literal(name)}: ${literal(value)},`),
  ];
  const form = formOf(body).map(([name, value]) => {
    const variable = variableOf(value);
    return `${name}: ${variable === undefined ? literal(value) : `process.env.${variable}`},`;
  });
  const braces = (rows: readonly string[]) => `{\n${rows.map((row) => `    ${row}\n`).join('')}  }`;
  const json = jsonOf(body);
  const sent = [
    ...(form.length === 0 ? [] : [`new URLSearchParams(${braces(form)})`]),
    ...(typeof body === 'string' ? [literal(body)] : []),
    ...(json === undefined ? [] : [`JSON.stringify(${json.replaceAll('\n', '\n  ')})`]),
  ];
  return `const answer = await fetch(${literal(url)}, {
  method: ${literal(method)},${all.length === 0 ? '' : `\n  headers: ${braces(all)},`}${sent.map((each) => `\n  body: ${each},`).join('')}
});
console.log(answer.status, await answer.text());`;
}

/** The same request in each language. */
export const codeSamples = (request: SampledRequest): readonly CodeSample[] => [
  { lang: 'Shell', label: 'curl', source: curl(request) },
  { lang: 'Python', label: 'Python', source: python(request) },
  { lang: 'JavaScript', label: 'JavaScript', source: javascript(request) },
];
