/**
 * A certificate authority made for one test or one local stack (X.509 v3, RFC 5280, ECDSA P-256), so that TLS is real
 * and trusted by configuration only. Written out in DER: neither Node nor npm brings a way to make certificates.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

export interface Certificate {
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly privateKey: string;
}

export interface Authority {
  /** PEM: what has to be trusted. */
  readonly certificate: string;
  /**
   * @param hosts names and IPv4 addresses the certificate is for; the first is its common name
   * @param days how long it is valid; below 0 it has expired
   */
  issue(hosts: readonly string[], days?: number): Certificate;
}

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const BOOLEAN_TRUE = Buffer.from([0x01, 0x01, 0xff]);

function tlv(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** An OBJECT IDENTIFIER of arcs below 16,384. */
function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...arcs] = dotted.split('.').map(Number);
  const bytes = arcs.flatMap((arc) => (arc < 0x80 ? [arc] : [0x80 | (arc >> 7), arc & 0x7f]));
  return tlv(0x06, Buffer.from([first * 40 + second, ...bytes]));
}

const ECDSA_SHA256 = tlv(SEQUENCE, oid('1.2.840.10045.4.3.2'));
const name = (common: string) => tlv(SEQUENCE, tlv(SET, tlv(SEQUENCE, oid('2.5.4.3'), tlv(0x0c, Buffer.from(common)))));
const time = (at: Date) => tlv(0x18, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
const extension = (id: string, value: Buffer, critical = false) =>
  tlv(SEQUENCE, oid(id), ...(critical ? [BOOLEAN_TRUE] : []), tlv(OCTET_STRING, value));

const AUTHORITY_EXTENSIONS = [
  extension('2.5.29.19', tlv(SEQUENCE, BOOLEAN_TRUE), true), // basicConstraints: a CA
  extension('2.5.29.15', tlv(BIT_STRING, Buffer.from([1, 0x06])), true), // keyUsage: keyCertSign, cRLSign
];

function hostExtensions(hosts: readonly string[]): Buffer[] {
  const names = hosts.map((host) =>
    isIP(host) === 4 ? tlv(0x87, Buffer.from(host.split('.').map(Number))) : tlv(0x82, Buffer.from(host)),
  );
  return [
    extension('2.5.29.15', tlv(BIT_STRING, Buffer.from([7, 0x80])), true), // keyUsage: digitalSignature
    extension('2.5.29.37', tlv(SEQUENCE, oid('1.3.6.1.5.5.7.3.1'), oid('1.3.6.1.5.5.7.3.2'))), // serverAuth, clientAuth
    extension('2.5.29.17', tlv(SEQUENCE, ...names)), // subjectAltName
  ];
}

interface Contents {
  readonly issuer: string;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly days?: number;
}

const DAY_MS = 86_400_000;

function signCertificate({ issuer, subject, publicKey, extensions, days = 30 }: Contents, signer: KeyObject): string {
  const serial = randomBytes(8);
  serial[0] = 0x01;
  const now = Date.now();
  const body = tlv(
    SEQUENCE,
    tlv(0xa0, tlv(INTEGER, Buffer.from([2]))), // v3
    tlv(INTEGER, serial),
    ECDSA_SHA256,
    name(issuer),
    tlv(SEQUENCE, time(new Date(now - DAY_MS)), time(new Date(now + days * DAY_MS))),
    name(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, tlv(SEQUENCE, ...extensions)),
  );
  const signature = tlv(BIT_STRING, Buffer.from([0]), sign('sha256', body, signer));
  const lines =
    tlv(SEQUENCE, body, ECDSA_SHA256, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

export function makeAuthority(): Authority {
  const { publicKey, privateKey } = newKey();
  const issuer = `Test authority ${randomBytes(4).toString('hex')}`;
  const certificate = signCertificate(
    { issuer, subject: issuer, publicKey, extensions: AUTHORITY_EXTENSIONS },
    privateKey,
  );
  return {
    certificate,
    issue(hosts, days = 30) {
      const host = newKey();
      const extensions = hostExtensions(hosts);
      const contents = { issuer, subject: hosts[0] ?? 'host', publicKey: host.publicKey, extensions, days };
      return {
        certificate: signCertificate(contents, privateKey),
        privateKey: host.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
  };
}
