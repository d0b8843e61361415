/**
 * A proxy before PostgreSQL's TCP port that counts round trips. It parses the frontend's messages (PostgreSQL manual §54.7),
 * changes nothing, and stores no answer. It has no TLS, and listens on loopback.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

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

const HOST = '127.0.0.1';
const LENGTH_BYTES = 4;

const cstring = (bytes: Buffer, from: number): string => bytes.toString('utf8', from, bytes.indexOf(0, from));

/** Parses a client's bytes in pieces of any size; reports the texts before each Sync. */
function createReader(onSync: (texts: readonly string[]) => void): (piece: Buffer) => void {
  const prepared = new Map<string, string>();
  let bytes: Buffer = Buffer.alloc(0);
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
    bytes = bytes.length === 0 ? piece : Buffer.concat([bytes, piece]);
    for (;;) {
      // The first message, of the start, has no type.
      const typeBytes = isStarted ? 1 : 0;
      if (bytes.length < typeBytes + LENGTH_BYTES) return;
      const end = typeBytes + bytes.readUInt32BE(typeBytes);
      if (bytes.length < end) return;
      if (isStarted) read(String.fromCharCode(bytes[0] ?? 0), bytes.subarray(1 + LENGTH_BYTES, end));
      isStarted = true;
      bytes = bytes.subarray(end);
    }
  };
}

export async function startPostgresWire({ targetPort, isLeftOut }: PostgresWireOptions): Promise<PostgresWire> {
  const open = new Set<Socket>();
  let requests = 0;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: targetPort, host: HOST, noDelay: true });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
    const read = createReader((texts) => {
      if (!texts.some(isLeftOut)) requests += 1;
    });
    near.on('data', (piece: Buffer) => {
      read(piece);
      far.write(piece);
    });
    far.on('data', (piece: Buffer) => void near.write(piece));
  });
  server.listen({ port: 0, host: HOST, backlog: 4096 });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
