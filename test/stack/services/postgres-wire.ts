/**
 * A proxy before PostgreSQL's TCP port that counts round trips. It parses the frontend's messages (PostgreSQL manual §54.7),
 * changes nothing, and stores no answer. It has no TLS, and listens on loopback.
 */
import { startTcpProxy } from './tcp-proxy.ts';

export interface PostgresWire {
  readonly port: number;
  /** Syncs so far: with each a client waits for an answer. Those behind what `isLeftOut` are not counted. */
  requests(): number;
  /** Rejects new connections and ends existing ones. */
  close(): Promise<void>;
}

export interface PostgresWireOptions {
  readonly targetPort: number;
  /** A statement's text. */
  readonly isLeftOut: (text: string) => boolean;
}

const LENGTH_BYTES = 4;

const cstring = (bytes: Buffer, from: number): string => bytes.toString('utf8', from, bytes.indexOf(0, from));

/** Parses a client's bytes in pieces of any size; reports the texts before each Sync. */
function createReader(onSync: (texts: readonly string[]) => void): (piece: Buffer) => void {
  const prepared = new Map<string, string>();
  // The pieces of a long message are joined once: joining at each piece would copy a scan of 10 MiB hundreds of times.
  let pieces: Buffer[] = [];
  let length = 0;
  let needed = 0;
  let isStarted = false;
  let texts: string[] = [];

  const read = (type: string, body: Buffer): void => {
    if (type === 'P') prepared.set(cstring(body, 0), cstring(body, body.indexOf(0) + 1));
    if (type === 'B') texts.push(prepared.get(cstring(body, body.indexOf(0) + 1)) ?? '');
    if (type !== 'S') return;
    onSync(texts);
    texts = [];
  };

  return (piece) => {
    pieces.push(piece);
    length += piece.length;
    if (length < needed) return;
    let bytes = pieces.length === 1 ? piece : Buffer.concat(pieces);
    for (;;) {
      // The first message, of the start, has no type.
      const typeBytes = isStarted ? 1 : 0;
      needed = typeBytes + LENGTH_BYTES;
      if (bytes.length < needed) break;
      needed = typeBytes + bytes.readUInt32BE(typeBytes);
      if (bytes.length < needed) break;
      if (isStarted) read(String.fromCharCode(bytes[0] ?? 0), bytes.subarray(1 + LENGTH_BYTES, needed));
      isStarted = true;
      bytes = bytes.subarray(needed);
    }
    pieces = bytes.length === 0 ? [] : [bytes];
    length = bytes.length;
  };
}

export async function startPostgresWire({ targetPort, isLeftOut }: PostgresWireOptions): Promise<PostgresWire> {
  let requests = 0;
  const { port, close } = await startTcpProxy({ port: targetPort }, (near, far) => {
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    const read = createReader((texts) => {
      if (!texts.some(isLeftOut)) requests += 1;
    });
    near.on('data', (piece: Buffer) => {
      read(piece);
      far.write(piece);
    });
    far.on('data', (piece: Buffer) => void near.write(piece));
  });
  return { port, requests: () => requests, close };
}
