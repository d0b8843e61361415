/**
 * How a receiver knows that a webhook is ours: Standard Webhooks 1.0, HMAC-SHA256 over id, time and body with a secret of the
 * site. The secret is derived from GATEWAY_SECRET, so it is kept nowhere; while that is rotated there is a signature by
 * each.
 */
const utf8 = new TextEncoder();

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

/** 32 bytes of one site, for this purpose alone (RFC 5869). */
async function secretBytes(secret: string, site: string): Promise<Uint8Array<ArrayBuffer>> {
  const material = await crypto.subtle.importKey('raw', utf8.encode(secret), 'HKDF', false, ['deriveBits']);
  const info = utf8.encode(`alert webhook of ${site}`);
  const derived = await crypto.subtle.deriveBits(
    { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info },
    material,
    256,
  );
  return new Uint8Array(derived);
}

/** What a receiver is configured with, as Standard Webhooks writes a secret: `whsec_…`. */
export async function webhookSecret([secret = '']: readonly string[], site: string): Promise<string> {
  return `whsec_${base64(await secretBytes(secret, site))}`;
}

/**
 * The headers of a webhook.
 *
 * @param secrets GATEWAY_SECRET, the first of which receivers know; the others sign too
 * @param id the same whenever it is sent again
 */
export async function webhookHeaders(
  secrets: readonly string[],
  site: string,
  id: string,
  nowMs: number,
  body: string,
): Promise<Readonly<Record<string, string>>> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signatures = await Promise.all(
    secrets.map(async (secret) => {
      const bytes = await secretBytes(secret, site);
      const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
      const signature = await crypto.subtle.sign('HMAC', key, utf8.encode(`${id}.${timestamp}.${body}`));
      return `v1,${base64(new Uint8Array(signature))}`;
    }),
  );
  return {
    'content-type': 'application/json',
    'user-agent': 'integration-gateway',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
