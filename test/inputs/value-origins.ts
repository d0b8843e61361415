/**
 * Watches the values of a site's resources, write by write, to know the origin of each value without
 * the gateway's record.
 */
import type { Client } from 'pg';

import { isJsonObject, parseJson, printJson, type Json } from '../../shared/json.ts';

/** The values of a resource by their path without positions: `name.family "Smith"`, with how often each is there. */
type Counts = ReadonlyMap<string, number>;

/** A value's path without positions, and its JSON. */
export const valueKey = (path: string, json: string): string => `${path.replaceAll(/\[\d+\]/g, '')} ${json}`;

function countValues(value: Json, path: string, counts: Map<string, number>): Map<string, number> {
  const children: [string, Json][] = Array.isArray(value)
    ? value.map((item) => [path, item])
    : isJsonObject(value)
      ? Object.entries(value).map(([name, child]) => [path === '' ? name : `${path}.${name}`, child])
      : [];
  if (Array.isArray(value) || isJsonObject(value)) {
    for (const [name, child] of children) countValues(child, name, counts);
    return counts;
  }
  const key = valueKey(path, printJson(value));
  return counts.set(key, (counts.get(key) ?? 0) + 1);
}

interface Watched {
  readonly version: number;
  readonly counts: Counts;
  /** The write since which a value has been there; null: two equal values were there meanwhile, so it could be either's. */
  readonly since: ReadonlyMap<string, string | null>;
}

export interface Watch {
  /** Call it after each write. */
  readonly note: (write: string) => Promise<void>;
  /** Values by `valueKey`, for each `Type/id`. */
  readonly origins: () => ReadonlyMap<string, ReadonlyMap<string, string | null>>;
}

export function watchValues(client: Pick<Client, 'query'>, site: string): Watch {
  const watched = new Map<string, Watched>();
  return {
    async note(write) {
      const { rows } = await client.query<{ type: string; id: string; version: number; body: string }>(
        'select type, id, version, body from resource where site_id = $1',
        [site],
      );
      for (const { type, id, version, body } of rows) {
        const known = watched.get(`${type}/${id}`);
        if (known?.version === version) continue;
        const counts = countValues(parseJson(`{${body}}`), '', new Map());
        const since = new Map(
          [...counts].map(([key, count]) => {
            if (count > 1) return [key, null] as const;
            return [key, known?.counts.has(key) === true ? (known.since.get(key) ?? null) : write] as const;
          }),
        );
        watched.set(`${type}/${id}`, { version, counts, since });
      }
    },
    origins: () => new Map([...watched].map(([reference, { since }]) => [reference, since])),
  };
}
