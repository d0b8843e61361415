/**
 * Sends several statements as one message and one transaction (PostgreSQL manual §54.2.4, Pipelining). One Sync follows the
 * last statement. It commits them all, unless an error has rolled them back and skipped the rest. node-postgres calls the
 * `handle…` methods.
 */
import type { Connection, Submittable } from 'pg';

import type { Expect, Query } from '../../deps.ts';
import { columnTypes } from '../../store/column-types.ts';
import { expectedAfter, UNKNOWN_BYTES } from '../database.ts';
import { parameter } from '../parameter.ts';
import { type Column, nameOf, type Slot, type Statements } from './statements.ts';

/** PostgreSQL counts parameters in 16 bits. */
const MAX_PARAMS = 65_535;

/** A parameter's text. Encoding it would silently replace half a surrogate pair. */
function checked(text: string | null): string | null {
  if (text !== null && !text.isWellFormed()) throw new TypeError('a text parameter contains half a surrogate pair');
  return text;
}

function valuesOf({ params }: Query): (string | null)[] {
  if (params.length > MAX_PARAMS) throw new RangeError(`a statement has ${params.length} parameters`);
  return params.map((param) => checked(parameter(param)));
}

interface FieldDescription {
  readonly name: string;
  readonly dataTypeID: number;
}

const columnOf = ({ name, dataTypeID }: FieldDescription): Column => ({
  name,
  parse: columnTypes.getTypeParser(dataTypeID),
});

/** The events of node-postgres, in order. */
export interface Pipeline extends Submittable {
  handleRowDescription(message: { readonly fields: readonly FieldDescription[] }): void;
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void;
  handleCommandComplete(): void;
  handleEmptyQuery(): void;
  handlePortalSuspended(): void;
  handleCopyInResponse(connection: { sendCopyFail(why: string): void }): void;
  handleCopyData(): void;
  handleError(error: Error): void;
  handleReadyForQuery(): void;
}

export interface PipelineOptions {
  /** The statements that the connection has prepared; undefined if it must not prepare by name. */
  readonly statements: Statements | undefined;
  /** Called before so many bytes of the answer are read. If it rejects, `failed` is called, and nothing more is read. */
  readonly expect: Expect;
  readonly done: (results: object[][]) => void;
  readonly failed: (error: Error) => void;
}

/** Pauses the stream while `expect` waits. @returns ends it */
function countBytes(stream: Connection['stream'], expect: Expect, failed: (error: Error) => void): () => void {
  let [read, expected] = [0, UNKNOWN_BYTES];
  let isOver = false;
  const count = (chunk: Uint8Array): void => {
    read += chunk.byteLength;
    // The last bytes come here after node-postgres has read them.
    if (isOver || read <= expected) return;
    expected = expectedAfter(read);
    stream.pause();
    expect(expected).then(() => void stream.resume(), failed);
  };
  stream.on('data', count);
  return () => {
    isOver = true;
    stream.off('data', count);
  };
}

/** @throws TypeError, RangeError for parameters that PostgreSQL cannot accept */
export function createPipeline(
  queries: readonly Query[],
  { statements, expect, done, failed }: PipelineOptions,
): Pipeline {
  const values = queries.map(valuesOf);
  // One slot for each statement. An unprepared statement gets its columns before the first row.
  const slots: Slot[] = [];
  const results: object[][] = [];
  let rows: object[] = [];
  let stopCounting = (): void => undefined;

  /** The slot of a statement; `isNew` means that it must be sent for parsing. */
  const slotOf = ({ text, planAnew }: Query): { readonly slot: Slot; readonly isNew: boolean } => {
    const earlier = slots[queries.findIndex((query, index) => index < slots.length && query.text === text)];
    const known = statements?.get(text) ?? (earlier?.name === '' ? undefined : earlier);
    if (known !== undefined) return { slot: known, isNew: false };
    return {
      slot: { name: statements === undefined || planAnew === true ? '' : nameOf(text), columns: [] },
      isNew: true,
    };
  };

  const next = (): void => {
    const [query, slot] = [queries[results.length], slots[results.length]];
    // Only now: after a failure it is unknown if the statement was prepared.
    if (query !== undefined && slot !== undefined && slot.name !== '') statements?.add(query.text, slot);
    results.push(rows);
    rows = [];
  };

  return {
    submit(connection: Connection): void {
      const { stream } = connection;
      stopCounting = countBytes(stream, expect, failed);
      stream.cork();
      for (const name of statements?.takeForgotten() ?? []) connection.close({ type: 'S', name }, true);
      for (const [index, query] of queries.entries()) {
        const { slot, isNew } = slotOf(query);
        const [{ name }, { text }] = [slot, query];
        slots.push(slot);
        if (isNew) {
          // Closing a statement that does not exist is not an error.
          if (name !== '') connection.close({ type: 'S', name }, true);
          connection.parse({ name, text, types: [] }, true);
          connection.describe({ type: 'S', name }, true);
        }
        connection.bind({ statement: name, values: values[index] ?? [] }, true);
        connection.execute(null, true);
      }
      connection.sync();
      stream.uncork();
    },
    handleRowDescription({ fields }) {
      const slot = slots[results.length];
      if (slot !== undefined) slot.columns = fields.map(columnOf);
    },
    handleDataRow({ fields }) {
      const row: Record<string, unknown> = {};
      slots[results.length]?.columns.forEach(({ name, parse }, index) => {
        const text = fields[index] ?? null;
        row[name] = text === null ? null : parse(text);
      });
      rows.push(row);
    },
    handleCommandComplete: next,
    handleEmptyQuery: next,
    handlePortalSuspended: () => undefined,
    handleCopyInResponse: (connection) => connection.sendCopyFail('COPY is not supported'),
    handleCopyData: () => undefined,
    handleError(error) {
      stopCounting();
      failed(error);
    },
    handleReadyForQuery() {
      stopCounting();
      done(results);
    },
  };
}
