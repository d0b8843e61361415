/** MLLP over TLS: versions, client certificates, and certificates exchanged while it runs (SIGHUP). */
import { X509Certificate } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConnectionOptions, TLSSocket } from 'node:tls';

import { expect, onTestFinished, test } from 'vitest';

import { useFolder } from '../stack/tools/use-folder.ts';
import { makeAuthority, type Authority, type Certificate } from '../stack/services/certificate.ts';
import { message } from '../stack/tools/edge-double.ts';
import { msaOf, type MllpPeer } from '../stack/tools/mllp-peer.ts';
import { setUpSidecar } from '../stack/tools/sidecar-setup.ts';
import { until } from '../stack/services/until.ts';

const HOST = '127.0.0.1';

interface Files {
  readonly env: Record<string, string>;
  /** Puts another certificate in place of the first. */
  exchange(certificate: Certificate): Promise<void>;
}

async function filesOf(certificate: Certificate, clientCa?: Authority): Promise<Files> {
  const folder = await useFolder('sidecar-tls', onTestFinished);
  const [certFile, keyFile, caFile] = ['cert.pem', 'key.pem', 'ca.pem'].map((name) => join(folder, name));
  if (certFile === undefined || keyFile === undefined || caFile === undefined) throw new Error('no names');
  const exchange = async (next: Certificate): Promise<void> => {
    await writeFile(certFile, next.certificate);
    await writeFile(keyFile, next.privateKey);
  };
  await exchange(certificate);
  if (clientCa !== undefined) await writeFile(caFile, clientCa.certificate);
  return {
    env: {
      MLLP_TLS_CERT_FILE: certFile,
      MLLP_TLS_KEY_FILE: keyFile,
      ...(clientCa === undefined ? {} : { MLLP_TLS_CLIENT_CA_FILE: caFile }),
    },
    exchange,
  };
}

const trusting = (authority: Authority, own?: Certificate): ConnectionOptions => ({
  ca: authority.certificate,
  ...(own === undefined ? {} : { cert: own.certificate, key: own.privateKey }),
});

const serialOf = (peer: MllpPeer): string => (peer.socket as TLSSocket).getPeerCertificate().serialNumber;

test('accepts many messages over TLS 1.3 and 1.2, and rejects older versions and plain text', async () => {
  const authority = makeAuthority();
  const { env } = await filesOf(authority.issue([HOST]));
  const { connect, metric, edge } = await setUpSidecar(env);
  for (const version of ['TLSv1.3', 'TLSv1.2'] as const) {
    const peer = await connect({ tls: { ...trusting(authority), minVersion: version, maxVersion: version } });
    expect((peer.socket as TLSSocket).getProtocol()).toBe(version);
    expect(msaOf(await peer.exchange(message(version)))).toEqual({ code: 'AA', controlId: version });
  }
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  expect(await (await connect({ tls: { ...trusting(authority), ...old } })).closed).toBe('');
  const plain = await connect();
  plain.write(`\u000b${message('PLAIN')}\u001c\r`);
  expect(await plain.closed).not.toContain('MSA');
  await metric('mllp_refusals_total{reason="tls-handshake"}', (value) => value === 2);
  const peers = await Promise.all(Array.from({ length: 50 }, () => connect({ tls: trusting(authority) })));
  const answers = await Promise.all(peers.map((peer, n) => peer.exchange(message(`T${n}`))));
  expect(answers.map((ack) => msaOf(ack).controlId)).toEqual(peers.map((_, n) => `T${n}`));
  expect(edge.received.every(({ claims }) => claims.src === HOST && claims.tls === undefined)).toBe(true);
});

test('the log names the cause of a failed handshake', async () => {
  const [authority, clients] = [makeAuthority(), makeAuthority()];
  const { env } = await filesOf(authority.issue([HOST]), clients);
  const { connect, sidecar } = await setUpSidecar({ ...env, MLLP_TLS_CLIENT_AUTH: 'request' });
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  await connect({ tls: { ...trusting(authority), ...old } });
  await connect({ tls: trusting(authority, clients.issue(['ward-7.example'], -0.5)) });
  (await connect()).write(`\u000b${message('PLAIN')}\u001c\r`);
  for (const code of ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'CERT_HAS_EXPIRED', 'ERR_SSL_WRONG_VERSION_NUMBER']) {
    await until(code, () => sidecar.logs().some((line) => line.includes(`"tls-handshake","code":"${code}"`)));
  }
});

test('an own certificate that has expired is logged at the start, and until another one is loaded', async () => {
  const authority = makeAuthority();
  const files = await filesOf(authority.issue([HOST], -0.5));
  const { sidecar } = await setUpSidecar(files.env);
  const warnings = () => sidecar.logs().filter((line) => /tls\.not-valid.*MLLP_TLS_CERT_FILE has expired/.test(line));
  await until('it is logged', () => warnings().length === 1);
  await files.exchange(authority.issue([HOST]));
  process.kill(sidecar.pid, 'SIGHUP');
  await until('it is reloaded', () => sidecar.logs().some((line) => line.includes('tls.reloaded')));
  expect(warnings()).toHaveLength(1);
});

test('closes a connection whose handshake does not end', async () => {
  const { env } = await filesOf(makeAuthority().issue([HOST]));
  const { connect, metric } = await setUpSidecar({ ...env, MLLP_OPENING_TIMEOUT_SECONDS: '0.3' });
  const peer = await connect();
  peer.write(Uint8Array.of(0x16, 0x03, 0x01));
  expect(await peer.closed).toBe('');
  await metric('mllp_refusals_total{reason="opening-timeout"}', (value) => value === 1);
  await metric('mllp_connections', (value) => value === 0);
});

test('with a client CA the sidecar requires a certificate of this CA, and sends its subject to the edge', async () => {
  const [authority, clients] = [makeAuthority(), makeAuthority()];
  const { env } = await filesOf(authority.issue([HOST]), clients);
  const { connect, edge, sidecar } = await setUpSidecar(env);
  const known = await connect({ tls: trusting(authority, clients.issue(['ward-7.example'])) });
  expect(msaOf(await known.exchange(message('K1'))).code).toBe('AA');
  expect(edge.received[0]?.claims.tls).toBe('CN=ward-7.example');
  for (const [own, code] of [
    [undefined, 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE'],
    [makeAuthority().issue(['ward-7.example']), 'ECONNRESET'],
  ] as const) {
    const stranger = await connect({ tls: trusting(authority, own) });
    stranger.write(`\u000b${message('K2')}\u001c\r`);
    expect(await stranger.closed).toBe('');
    await until(code, () => sidecar.logs().some((line) => line.includes(`"tls-handshake","code":"${code}"`)));
  }
  expect(edge.received).toHaveLength(1);
});

test('a CA file without a certificate is rejected at the start', async () => {
  const authority = makeAuthority();
  const { env } = await filesOf(authority.issue([HOST]), authority);
  await writeFile(env['MLLP_TLS_CLIENT_CA_FILE'] ?? '', new X509Certificate(authority.certificate).raw);
  await expect(setUpSidecar(env)).rejects.toThrow(/MLLP_TLS_CLIENT_CA_FILE has no certificate/);
});

test('if a certificate is only requested, a sender without one is accepted without a subject, and a certificate of another CA is not', async () => {
  const [authority, clients] = [makeAuthority(), makeAuthority()];
  const { env } = await filesOf(authority.issue([HOST]), clients);
  const { connect, edge } = await setUpSidecar({ ...env, MLLP_TLS_CLIENT_AUTH: 'request' });
  const anonymous = await connect({ tls: trusting(authority) });
  expect(msaOf(await anonymous.exchange(message('R1'))).code).toBe('AA');
  const known = await connect({ tls: trusting(authority, clients.issue(['ward-7.example'])) });
  expect(msaOf(await known.exchange(message('R2'))).code).toBe('AA');
  const stranger = await connect({ tls: trusting(authority, makeAuthority().issue(['ward-7.example'])) });
  stranger.write(`\u000b${message('R3')}\u001c\r`);
  expect(await stranger.closed).toBe('');
  expect(edge.received.map(({ claims }) => claims.tls)).toEqual([undefined, 'CN=ward-7.example']);
});

test('SIGHUP: new connections get the new certificate, open ones continue; invalid files change nothing', async () => {
  const authority = makeAuthority();
  const [first, second] = [authority.issue([HOST]), authority.issue([HOST])];
  const files = await filesOf(first);
  const { connect, sidecar } = await setUpSidecar(files.env);
  const before = await connect({ tls: trusting(authority) });
  expect(serialOf(before)).toBe(new X509Certificate(first.certificate).serialNumber);

  await files.exchange(second);
  process.kill(sidecar.pid, 'SIGHUP');
  await until('it is reloaded', () => sidecar.logs().some((line) => line.includes('tls.reloaded')));
  const after = await connect({ tls: trusting(authority) });
  expect(serialOf(after)).toBe(new X509Certificate(second.certificate).serialNumber);
  for (const peer of [before, after]) expect(msaOf(await peer.exchange(message('S1'))).code).toBe('AA');

  await files.exchange({ certificate: 'not a certificate', privateKey: second.privateKey });
  process.kill(sidecar.pid, 'SIGHUP');
  await until('it says so', () => sidecar.logs().some((line) => /tls\.reload-failed.*MLLP_TLS_CERT_FILE/.test(line)));
  expect(serialOf(await connect({ tls: trusting(authority) }))).toBe(serialOf(after));

  await rm(files.env['MLLP_TLS_KEY_FILE'] ?? '');
  process.kill(sidecar.pid, 'SIGHUP');
  await until('it names the missing file', () =>
    sidecar.logs().some((line) => /tls\.reload-failed.*key\.pem/.test(line)),
  );
});
