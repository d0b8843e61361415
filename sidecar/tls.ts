/**
 * TLS for accepted sockets (1.2 and later), with client certificates if a CA is configured. Certificates can be replaced
 * while it runs. A tls.Server that never listens does the handshakes, because the sockets come from the listener after the
 * PROXY header.
 */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { createSecureContext, createServer, type SecureContextOptions, type TLSSocket } from 'node:tls';

import type { TlsFiles } from './config.ts';

export interface TlsAcceptor {
  /** @throws if the handshake fails, after closing the socket, with the `code` of the cause */
  accept(raw: Socket): Promise<SecurePeer>;
  /** Reads the files again; open connections keep their certificates. @throws and changes nothing if a file is invalid */
  reload(): Promise<void>;
  /** Why senders reject the certificate; undefined if its dates are right. */
  problem(): string | undefined;
}

interface SecurePeer {
  readonly socket: TLSSocket;
  /** `CN=…, O=…` of a verified client certificate. */
  readonly subject: string | undefined;
}

interface Waiting {
  readonly secured: (socket: TLSSocket) => void;
  readonly failed: (error: Error) => void;
}

/** The maximum of the contract's claim. */
const MAX_SUBJECT_LENGTH = 1024;

type ReadFiles = SecureContextOptions & { readonly cert: Buffer };

async function readFiles({ certFile, keyFile, clientCaFile }: TlsFiles): Promise<ReadFiles> {
  const [cert, key, ca] = await Promise.all([
    readFile(certFile),
    readFile(keyFile),
    clientCaFile === undefined ? undefined : readFile(clientCaFile),
  ]);
  // Node accepts any other file, such as one in DER, and then rejects every certificate of a sender.
  if (ca?.includes('CERTIFICATE-----') === false)
    throw new Error('the file of MLLP_TLS_CLIENT_CA_FILE has no certificate in PEM');
  const options = { cert, key, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) } as const;
  try {
    createSecureContext(options);
  } catch (error) {
    // OpenSSL's text names no file.
    if (error instanceof Error) error.message = `MLLP_TLS_CERT_FILE and MLLP_TLS_KEY_FILE: ${error.message}`;
    throw error;
  }
  return options;
}

/** @throws if a file is not readable or contains no usable certificate or key */
export async function createTlsAcceptor(files: TlsFiles): Promise<TlsAcceptor> {
  const asksForCertificate = files.clientCaFile !== undefined;
  const requiresCertificate = asksForCertificate && files.clientAuth === 'require';
  let read = await readFiles(files);
  const server = createServer({
    ...read,
    requestCert: asksForCertificate,
    rejectUnauthorized: requiresCertificate,
    // The listener's opening timeout applies, which includes the steps before the handshake.
    handshakeTimeout: 0x7fffffff,
  });
  const waiting = new Map<string, Waiting>();
  server.on('secureConnection', (socket) => waiting.get(endpointOf(socket))?.secured(socket));
  server.on('tlsClientError', (error, socket) => {
    // A closed socket has no address any more: `accept` learns of it by the end of the raw socket.
    waiting.get(endpointOf(socket))?.failed(error);
    socket.destroy();
  });

  const accept = (raw: Socket): Promise<SecurePeer> =>
    new Promise((resolve, reject) => {
      const endpoint = endpointOf(raw);
      // By the sender, or by Node because no configured CA has signed the client certificate.
      const closed = (): void => failed(withCode('ECONNRESET'));
      const failed = (error: Error): void => {
        raw.off('close', closed);
        waiting.delete(endpoint);
        reject(error);
      };
      const secured = (socket: TLSSocket): void => {
        const isPresented = asksForCertificate && Object.keys(socket.getPeerCertificate()).length > 0;
        if (isPresented && !socket.authorized) {
          // The code of OpenSSL's verification, such as CERT_HAS_EXPIRED.
          failed(withCode(`${socket.authorizationError}`));
          socket.destroy();
          return;
        }
        raw.off('close', closed);
        waiting.delete(endpoint);
        resolve({ socket, subject: isPresented ? subjectOf(socket) : undefined });
      };
      raw.once('close', closed);
      waiting.set(endpoint, { secured, failed });
      server.emit('connection', raw);
    });

  return {
    accept,
    async reload() {
      read = await readFiles(files);
      server.setSecureContext(read);
    },
    problem() {
      const { validFromDate, validToDate } = new X509Certificate(read.cert);
      if (validToDate.getTime() < Date.now()) return 'the certificate of MLLP_TLS_CERT_FILE has expired';
      return validFromDate.getTime() > Date.now()
        ? 'the certificate of MLLP_TLS_CERT_FILE is not valid yet'
        : undefined;
    },
  };
}

const withCode = (code: string): Error => Object.assign(new Error('TLS handshake failed'), { code });

/** Unique among the open connections of a listener. */
const endpointOf = (socket: Socket): string => `${socket.remoteAddress}|${socket.remotePort}|${socket.localAddress}`;

function subjectOf(socket: TLSSocket): string | undefined {
  const lines = socket.getPeerX509Certificate()?.subject.split('\n') ?? [];
  return lines.length === 0 ? undefined : lines.join(', ').slice(0, MAX_SUBJECT_LENGTH);
}
