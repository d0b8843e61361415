/** One request as code in five languages. The code of an example names its secrets as variables, so that it holds none. */

export interface ExampleRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Text is sent as it is; segments of HL7 end with a carriage return. A value `$NAME` of a form is a variable. */
  readonly body?: string | { readonly form: Readonly<Record<string, string>> } | { readonly json: unknown };
  /** If true, the request sends the variable `ACCESS_TOKEN`. */
  readonly needsToken: boolean;
}

/** An expression that reads a variable: from the environment, or set by an earlier line. */
export type Variable = (name: string) => string;

const TOKEN = 'ACCESS_TOKEN';
const CONTENT_TYPE = 'Content-Type';
/** Between single quotes a shell changes nothing; a single quote ends them. */
const quoted = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;
const variableOf = (value: string): string | undefined => /^\$([A-Z_]+)$/.exec(value)?.[1];

/** The segments of an HL7 message; of another text none. */
const segmentsOf = (text: string): readonly string[] =>
  text.includes('\r') ? text.split('\r').filter((segment) => segment !== '') : [];

/** The arguments of curl for the body, and what the shell writes to its standard input. */
function curlBody(body: ExampleRequest['body']): { readonly args: readonly string[]; readonly input?: string } {
  if (body === undefined) return { args: [] };
  if (typeof body === 'string') {
    const segments = segmentsOf(body);
    if (segments.length === 0) return { args: [`--data-binary ${quoted(body)}`] };
    // No shell writes a carriage return by itself.
    return { args: ['--data-binary @-'], input: `printf '%s\\r' \\\n  ${segments.map(quoted).join(' \\\n  ')} |\n  ` };
  }
  if ('json' in body) return { args: [`--data-binary ${quoted(JSON.stringify(body.json, null, 2))}`] };
  const args = Object.entries(body.form).map(([name, value]) =>
    variableOf(value) === undefined
      ? `--data-urlencode ${quoted(`${name}=${value}`)}`
      : `--data-urlencode "${name}=${value}"`,
  );
  return { args };
}

/** A command of the shell that prints the answer. */
export function curl({ method, url, headers, body, needsToken }: ExampleRequest): string {
  const { args, input = '' } = curlBody(body);
  const isImplied = method === 'GET' || (method === 'POST' && body !== undefined);
  const lines = [
    `curl -sS ${isImplied ? '' : `-X ${method} `}${quoted(url)}`,
    ...(needsToken ? [`-H "Authorization: Bearer $${TOKEN}"`] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...args,
  ];
  return `${input}${lines.join(' \\\n  ')}`;
}

/** A string literal of JSON is one of Python and of JavaScript too. */
const literal = (value: string): string => JSON.stringify(value);

/** The differences between Python and JavaScript. */
interface Language {
  readonly step: string;
  readonly form: (entries: string) => string;
  readonly segments: readonly [open: string, close: string];
  readonly text: (value: string) => string;
  readonly json: (value: string) => string;
}

const PYTHON: Language = {
  step: '    ',
  form: (entries) => entries,
  segments: ['"\\r".join([', ']).encode()'],
  text: (value) => `${value}.encode()`,
  // A raw string keeps the backslashes of JSON.
  json: (value) => `r"""${value}""".encode()`,
};
const JAVASCRIPT: Language = {
  step: '  ',
  form: (entries) => `new URLSearchParams(${entries})`,
  segments: ['[', '].join("\\r")'],
  text: (value) => value,
  json: (value) => `JSON.stringify(${value.replaceAll('\n', '\n  ')})`,
};

/** Rows between brackets, one a line. */
const block = (open: string, rows: readonly string[], close: string, step: string, indent = ''): string =>
  `${open}\n${rows.map((row) => `${indent}${step}${row},\n`).join('')}${indent}${close}`;

function headersOf({ headers, needsToken }: ExampleRequest, { step }: Language, variable: Variable): string[] {
  const rows = [
    ...(needsToken ? [`"Authorization": "Bearer " + ${variable(TOKEN)}`] : []),
    ...Object.entries(headers).map(([name, value]) => `${literal(name)}: ${literal(value)}`),
  ];
  return rows.length === 0 ? [] : [block('{', rows, '}', step, step)];
}

function bodyOf({ body }: ExampleRequest, language: Language, variable: Variable): string[] {
  if (body === undefined) return [];
  const { step, form, segments, text, json } = language;
  if (typeof body === 'string') {
    const rows = segmentsOf(body).map(literal);
    const [open, close] = segments;
    return [rows.length === 0 ? text(literal(body)) : block(open, rows, close, step, step)];
  }
  if ('json' in body) return [json(JSON.stringify(body.json, null, 2))];
  const rows = Object.entries(body.form).map(([name, value]) => {
    const named = variableOf(value);
    return `${literal(name)}: ${named === undefined ? literal(value) : variable(named)}`;
  });
  return [form(block('{', rows, '}', step, step))];
}

/** An expression of Python: the answer, by the library requests. */
export function pythonCall(request: ExampleRequest, variable: Variable): string {
  const headers = headersOf(request, PYTHON, variable).map((value) => `headers=${value}`);
  const data = bodyOf(request, PYTHON, variable).map((value) => `data=${value}`);
  const rows = [literal(request.method), literal(request.url), ...headers, ...data];
  return block('requests.request(', rows, ')', PYTHON.step);
}

/** An expression of JavaScript: a promise of the answer. */
export function javascriptCall(request: ExampleRequest, variable: Variable): string {
  const headers = headersOf(request, JAVASCRIPT, variable).map((value) => `headers: ${value}`);
  const body = bodyOf(request, JAVASCRIPT, variable).map((value) => `body: ${value}`);
  const rows = [`method: ${literal(request.method)}`, ...headers, ...body];
  return block(`fetch(${literal(request.url)}, {`, rows, '})', JAVASCRIPT.step);
}

/** Code that prints the answer's status and body. It reads its variables from the environment. */
export const python = (request: ExampleRequest): string =>
  `# pip install requests
import os
import requests

answer = ${pythonCall(request, (name) => `os.environ["${name}"]`)}
print(answer.status_code, answer.text)`;

/** The same in JavaScript, for Node. */
export const javascript = (request: ExampleRequest): string =>
  `const answer = await ${javascriptCall(request, (name) => `process.env.${name}`)};
console.log(answer.status, await answer.text());`;

/** The expression of the body for Java. @returns undefined for a request without one */
function javaBody({ body }: ExampleRequest): string | undefined {
  if (body === undefined) return undefined;
  const join = (separator: string, rows: readonly string[]): string =>
    `String.join(${literal(separator)},\n${rows.map((row) => `            ${row}`).join(',\n')})`;
  if (typeof body === 'string') {
    const segments = segmentsOf(body);
    return segments.length === 0 ? literal(body) : join('\r', segments.map(literal));
  }
  if ('json' in body) {
    // A text block changes backslashes.
    const text = JSON.stringify(body.json, null, 2).replaceAll('\\', '\\\\');
    return `"""\n${text.replaceAll(/^/gm, '            ')}"""`;
  }
  return join(
    '&',
    Object.entries(body.form).map(([name, value]) => {
      const named = variableOf(value);
      const start = `${name}=${named === undefined ? encodeURIComponent(value) : ''}`;
      return named === undefined ? literal(start) : `${literal(start)} + System.getenv("${named}")`;
    }),
  );
}

/** The same as a program of Java 17, which needs no library. */
export function java(request: ExampleRequest): string {
  const { method, url, needsToken } = request;
  const form = typeof request.body === 'object' && 'form' in request.body;
  const headers = [
    ...(needsToken ? [['Authorization', `"Bearer " + System.getenv("${TOKEN}")`]] : []),
    ...Object.entries(request.headers).map(([name, value]) => [name, literal(value)]),
    ...(form ? [['Content-Type', '"application/x-www-form-urlencoded"']] : []),
  ];
  const body = javaBody(request);
  const publisher = body === undefined ? 'BodyPublishers.noBody()' : `BodyPublishers.ofString(${body})`;
  return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

public class Example {
  public static void main(String[] arguments) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(${literal(url)}))
${headers.map(([name = '', value = '']) => `        .header("${name}", ${value})\n`).join('')}        .method("${method}", ${publisher})
        .build();
    var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    var answer = client.send(request, BodyHandlers.ofString());
    System.out.println(answer.statusCode() + " " + answer.body());
  }
}`;
}

/** A verbatim string of C# keeps backslashes and line ends. */
const csharpText = (value: string): string => `@"${value.replaceAll('"', '""')}"`;

/** Lines of C# that set the content of the request. */
function csharpContent({ body, headers }: ExampleRequest): string[] {
  if (body === undefined) return [];
  if (typeof body === 'object' && 'form' in body) {
    const rows = Object.entries(body.form).map(([name, value]) => {
      const named = variableOf(value);
      const text = named === undefined ? literal(value) : `Environment.GetEnvironmentVariable("${named}")`;
      return `            [${literal(name)}] = ${text},`;
    });
    return [
      'request.Content = new FormUrlEncodedContent(new Dictionary<string, string>',
      '        {',
      ...rows,
      '        });',
    ];
  }
  const segments = typeof body === 'string' ? segmentsOf(body) : [];
  const joined = segments.map((segment) => `            ${literal(segment)}`).join(',\n');
  const given = typeof body === 'string' ? literal(body) : csharpText(JSON.stringify(body.json, null, 2));
  const text = segments.length === 0 ? given : `string.Join("\\r",\n${joined})`;
  const type = Object.entries(headers).find(([name]) => name === CONTENT_TYPE)?.[1] ?? 'text/plain';
  return [`request.Content = new StringContent(${text}, Encoding.UTF8, ${literal(type)});`];
}

/** The same as a program of C#, which needs no package. */
export function csharp(request: ExampleRequest): string {
  const { method, url, needsToken } = request;
  const headers = [
    ...(needsToken ? [['Authorization', `"Bearer " + Environment.GetEnvironmentVariable("${TOKEN}")`]] : []),
    ...Object.entries(request.headers)
      .filter(([name]) => name !== CONTENT_TYPE)
      .map(([name, value]) => [name, literal(value)]),
  ];
  const lines = [
    'var client = new HttpClient();',
    `var request = new HttpRequestMessage(new HttpMethod(${literal(method)}), ${literal(url)});`,
    ...headers.map(([name = '', value = '']) => `request.Headers.Add("${name}", ${value});`),
    ...csharpContent(request),
    'var answer = await client.SendAsync(request);',
    'Console.WriteLine($"{(int)answer.StatusCode} {await answer.Content.ReadAsStringAsync()}");',
  ];
  return `using System;
using System.Collections.Generic;
using System.Net.Http;
using System.Text;
using System.Threading.Tasks;

public class Example
{
    public static async Task Main()
    {
${lines.map((line) => (/^(?:\s|$)/.test(line) ? line : `        ${line}`)).join('\n')}
    }
}`;
}
