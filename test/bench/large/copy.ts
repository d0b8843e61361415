/** Empties a table and copies rows into it as text (PostgreSQL: Frontend/Backend Protocol, COPY Operations; COPY, File Formats). */
import { once } from 'node:events';

import { Client, type Connection } from 'pg';

/** The size of one write, in characters. */
const CHUNK = 256 * 1024;
const COPY_DATA = 0x64;
const COPY_DONE = Buffer.from([0x63, 0, 0, 0, 4]);
const HEADER_BYTES = 5;

export interface TableCopy {
  /** @param lines complete lines of ASCII @returns a promise to wait for before the next write, or undefined */
  write(lines: string): Promise<unknown> | undefined;
  /** Commits the rows. */
  end(): Promise<void>;
}

/** A cell in COPY's text format. */
export const cellOf = (value: string | null): string =>
  value === null ? String.raw`\N` : value.replace(/[\\\n\r\t]/g, (character) => ESCAPED[character] ?? character);
const ESCAPED: Readonly<Record<string, string>> = {
  '\\': String.raw`\\`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
};

/** @param text ASCII */
function copyData(text: string): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + text.length);
  frame[0] = COPY_DATA;
  frame.writeUInt32BE(text.length + 4, 1);
  frame.write(text, HEADER_BYTES, 'latin1');
  return frame;
}

/** Empties and fills the table in one transaction. PostgreSQL therefore writes no log, and each row is frozen and visible to all. */
export async function copyInto(url: string, table: string, columns: readonly string[]): Promise<TableCopy> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`begin; truncate ${table}`);
  let failure: Error | undefined;
  const ready = Promise.withResolvers<Connection>();
  const ended = Promise.withResolvers<undefined>();
  const fail = (error: Error): void => {
    failure = error;
    ready.reject(error);
    ended.reject(error);
  };
  client.on('error', fail);
  ended.promise.catch(() => undefined);
  const list = columns.map((column) => `"${column}"`).join(', ');
  const copying = {
    submit: (connection: Connection) => connection.query(`copy ${table} (${list}) from stdin with (freeze)`),
    handleCopyInResponse: (connection: Connection) => ready.resolve(connection),
    handleCommandComplete: () => undefined,
    handleReadyForQuery: () => ended.resolve(undefined),
    handleError: fail,
  };
  client.query(copying);
  const { stream } = await ready.promise;

  let waiting = '';
  const send = (): Promise<unknown> | undefined => {
    if (failure !== undefined) throw new Error(`${table}: ${failure.message}`, { cause: failure });
    const hasSpace = stream.write(copyData(waiting));
    waiting = '';
    return hasSpace ? undefined : Promise.race([once(stream, 'drain'), ended.promise]);
  };
  return {
    write(lines) {
      waiting += lines;
      return waiting.length < CHUNK ? undefined : send();
    },
    async end() {
      if (waiting !== '') await send();
      stream.write(COPY_DONE);
      await ended.promise;
      await client.query('commit');
      await client.end();
    },
  };
}
