/** A media type with its parameters (RFC 9110 §8.3.1), from `Content-Type` or `Accept`. */
export interface MediaType {
  /** In lower case. */
  readonly type: string;
  /** Names are in lower case, values without quotes. */
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
