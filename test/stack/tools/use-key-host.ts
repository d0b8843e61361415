/** A client's own HTTPS host for the tests of a file, and the authority of its certificate. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll } from 'vitest';

import { makeAuthority } from '../services/certificate.ts';
import { type KeyHost, startKeyHost } from '../services/key-host.ts';
import { useFolder } from './use-folder.ts';

/** @returns the host, and the PEM file of the authority for `caCertificate` of a gateway */
export async function useKeyHost(): Promise<KeyHost & { readonly caCertificate: string }> {
  const authority = makeAuthority();
  const caCertificate = join(await useFolder('authority'), 'authority.pem');
  await writeFile(caCertificate, authority.certificate);
  const host = await startKeyHost(authority.issue(['127.0.0.1']));
  afterAll(() => host.stop());
  return { ...host, caCertificate };
}
