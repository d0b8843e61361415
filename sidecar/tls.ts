/**
 * TLS for accepted sockets (1.2 and later), with client certificates if a CA is configured. Certificates can be replaced
 * while it runs. A tls.Server that never listens does the handshakes, because the sockets come from the listener after the
 * PROXY header.
 */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { createServer, type SecureContextOptions, type TLSSocket } from 'node:tls';

import type { TlsFiles } from './config.ts';

export interface TlsAcceptor {
  /** @throws if the handshake fails, after closing the socket */
  accept(raw: Socket): Promise<SecurePeer>;
  /** Reads the files again; open connections keep their certificates. @throws and changes nothing if a file is invalid */
  reload(): Promise<void>;
}

export interface SecurePeer {
  readonly socket: TLSSocket;
  /** `CN=…, O=…` of a verified client certificate. */
  readonly subject: string | undefined;
}

/** The maximum of the contract's claim. */
const MAX_SUBJECT_LENGTH = 1024;

async function readFiles({ certFile, keyFile, clientCaFile }: TlsFiles): Promise<SecureContextOptions> {
  const [cert, key, ca] = await Promise.all([
    readFile(certFile),
    readFile(keyFile),
    clientCaFile === undefined ? undefined : readFile(clientCaFile),
  ]);
  return { cert, key, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) };
}

/** @throws if a file is not readable or contains no usable certificate or key */
export async function createTlsAcceptor(files: TlsFiles): Promise<TlsAcceptor> {
  const asksForCertificate = files.clientCaFile !== undefined;
  const requiresCertificate = asksForCertificate && files.clientAuth === 'require';
  const server = createServer({
    ...(await readFiles(files)),
    requestCert: asksForCertificate,
    rejectUnauthorized: requiresCertificate,
    // The listener's opening timeout applies, which includes the steps before the handshake.
    handshakeTimeout: 0x7fffffff,
  });
  const waiting = new Map<string, (socket: TLSSocket) => void>();
  server.on('secureConnection', (socket) => waiting.get(endpointOf(socket))?.(socket));
  // `accept` learns of the failure by the end of the raw socket.
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
          reject(new Error('no configured CA has signed the client certificate'));
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

/** Unique among the open connections of a listener. */
const endpointOf = (socket: Socket): string => `${socket.remoteAddress}|${socket.remotePort}|${socket.localAddress}`;

function subjectOf(socket: TLSSocket): string | undefined {
  const lines = socket.getPeerX509Certificate()?.subject.split('\n') ?? [];
  return lines.length === 0 ? undefined : lines.join(', ').slice(0, MAX_SUBJECT_LENGTH);
}
