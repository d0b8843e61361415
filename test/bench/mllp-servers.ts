/**
 * What the sidecar is measured beside, each in a process of its own so that its CPU time can be counted: a bare server
 * that only looks for FS CR, our framing alone, `@medplum/hl7`'s server, and an edge that answers every message at once.
 */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';

import { Hl7Server } from '@medplum/hl7';

import { createMllpDecoder, encodeMllpFrame } from '../../shared/hl7/mllp.ts';
import { MLLP_CONNECTION_HEADER, MLLP_CONTENT_TYPE, MLLP_RANGES_PATH } from '../../shared/mllp-contract.ts';
import { serveForked } from './forked.ts';

export type ServerName = 'bare' | 'framing' | 'medplum' | 'edge';

const ACK = Buffer.from('MSH|^~\\&|GW|GW|BENCH|SITE|20261101083000.000+0000||ACK^A04^ACK|1|P|2.5.1\rMSA|AA|BENCH-1\r');
const ACK_FRAME = Buffer.from(encodeMllpFrame(ACK));
const FRAME_END = Buffer.from([0x1c, 0x0d]);

/** The least that a server of this protocol can do. */
const bare = (): Server =>
  createServer({ noDelay: true }, (socket) => {
    let held = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      for (let end = held.indexOf(FRAME_END); end >= 0; end = held.indexOf(FRAME_END)) {
        held = held.subarray(end + FRAME_END.length);
        socket.write(ACK_FRAME);
      }
    });
  });

const framing = (): Server =>
  createServer({ noDelay: true }, (socket) => {
    const decoder = createMllpDecoder({ maxFrameBytes: 1024 * 1024 });
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      for (const { kind } of decoder.push(chunk)) if (kind === 'frame') socket.write(encodeMllpFrame(ACK));
    });
  });

const edge = (): Server =>
  createHttpServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    request.resume().on('end', () => {
      if (request.url === MLLP_RANGES_PATH) {
        response.setHeader('Content-Type', 'application/json').end('{"ranges":["*"],"maxAgeSeconds":600}');
        return;
      }
      response.writeHead(200, { 'Content-Type': MLLP_CONTENT_TYPE, [MLLP_CONNECTION_HEADER]: 'keep' }).end(ACK);
    });
  });

async function medplum(): Promise<number> {
  const server = new Hl7Server((connection) => {
    connection.addEventListener('message', ({ message }) => connection.send(message.buildAck()));
  });
  await server.start(0);
  const address = server.server?.address();
  if (address === null || typeof address !== 'object') throw new Error('@medplum/hl7 does not listen');
  return address.port;
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const STARTERS: Readonly<Record<ServerName, () => Promise<number>>> = {
  bare: () => listening(bare()),
  framing: () => listening(framing()),
  edge: () => listening(edge()),
  medplum,
};

if (import.meta.main) {
  const start = STARTERS[process.argv[2] as ServerName];
  serveForked(await start());
}
