/** A media type with its parameters (RFC 9110 §8.3.1), as `Content-Type` and `Accept` have it. */
export interface MediaType {
  /** In lower case. */
  readonly type: string;
  /** By name, in lower case; the values without quotes. */
  readonly parameters: ReadonlyMap<string, string>;
}

export function parseMediaType(text: string): MediaType {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = rest.map((part): [string, string] => {
    const [name = '', value = ''] = part.split('=');
    return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1')];
  });
  return { type: type.toLowerCase(), parameters: new Map(parameters) };
}
