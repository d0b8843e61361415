/**
 * TLS for accepted sockets (1.2 and later), with client certificates where a CA is configured, and certificates that
 * can be exchanged while it runs. A tls.Server that never listens does the handshakes: the sockets come from the one
 * listener, after the PROXY header.
 */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { createServer, type SecureContextOptions, type TLSSocket } from 'node:tls';

import type { TlsFiles } from './config.ts';

export interface TlsAcceptor {
  /** @throws when the handshake fails; the socket is closed then */
  accept(raw: Socket): Promise<SecurePeer>;
  /** Reads the files again; connections that are open keep what they have. @throws and keeps all when one is unfit */
  reload(): Promise<void>;
}

export interface SecurePeer {
  readonly socket: TLSSocket;
  /** `CN=…, O=…` of a verified client certificate. */
  readonly subject: string | undefined;
}

/** As long as the contract's claim allows. */
const MAX_SUBJECT_LENGTH = 1024;

async function readFiles({ certFile, keyFile, clientCaFile }: TlsFiles): Promise<SecureContextOptions> {
  const [cert, key, ca] = await Promise.all([
    readFile(certFile),
    readFile(keyFile),
    clientCaFile === undefined ? undefined : readFile(clientCaFile),
  ]);
  return { cert, key, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) };
}

/** @throws when a file cannot be read or holds no usable certificate or key */
export async function createTlsAcceptor(files: TlsFiles): Promise<TlsAcceptor> {
  const asksForCertificate = files.clientCaFile !== undefined;
  const requiresCertificate = asksForCertificate && files.clientAuth === 'require';
  const server = createServer({
    ...(await readFiles(files)),
    requestCert: asksForCertificate,
    rejectUnauthorized: requiresCertificate,
    // The opening timeout of the listener counts, which includes what comes before the handshake.
    handshakeTimeout: 0x7fffffff,
  });
  const waiting = new Map<string, (socket: TLSSocket) => void>();
  server.on('secureConnection', (socket) => waiting.get(endpointOf(socket))?.(socket));
  // What went wrong is told to `accept` by the raw socket's end.
  server.on('tlsClientError', (_, socket) => socket.destroy());

  const accept = (raw: Socket): Promise<SecurePeer> =>
    new Promise((resolve, reject) => {
      const endpoint = endpointOf(raw);
      const fail = (): void => {
        waiting.delete(endpoint);
        reject(new Error('TLS handshake failed'));
      };
      raw.once('close', fail);
      waiting.set(endpoint, (socket) => {
        raw.off('close', fail);
        waiting.delete(endpoint);
        const isPresented = asksForCertificate && Object.keys(socket.getPeerCertificate()).length > 0;
        if (isPresented && !socket.authorized) {
          socket.destroy();
          reject(new Error('the client certificate is of no known CA'));
          return;
        }
        resolve({ socket, subject: isPresented ? subjectOf(socket) : undefined });
      });
      server.emit('connection', raw);
    });

  return {
    accept,
    async reload() {
      server.setSecureContext(await readFiles(files));
    },
  };
}

/** Unique among open connections to one listener. */
const endpointOf = (socket: Socket): string => `${socket.remoteAddress}|${socket.remotePort}|${socket.localAddress}`;

function subjectOf(socket: TLSSocket): string | undefined {
  const lines = socket.getPeerX509Certificate()?.subject.split('\n') ?? [];
  return lines.length === 0 ? undefined : lines.join(', ').slice(0, MAX_SUBJECT_LENGTH);
}
