/**
 * Signs webhooks: Standard Webhooks 1.0, HMAC-SHA256 over id, time and body with a secret of the site or the subscription. The
 * secret is derived from GATEWAY_SECRET, so it is stored nowhere. During its rotation, each of its secrets signs.
 */
const utf8 = new TextEncoder();

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

export const alertPurpose = (site: string): string => `alert webhook of ${site}`;
export const subscriptionPurpose = (site: string, id: string): string => `subscription ${id} of ${site}`;

/** 32 bytes for one purpose (RFC 5869). */
async function secretBytes(secret: string, purpose: string): Promise<Uint8Array<ArrayBuffer>> {
  const material = await crypto.subtle.importKey('raw', utf8.encode(secret), 'HKDF', false, ['deriveBits']);
  const info = utf8.encode(purpose);
  const derived = await crypto.subtle.deriveBits(
    { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info },
    material,
    256,
  );
  return new Uint8Array(derived);
}

/** The secret to configure at the receiver, in the format of Standard Webhooks: `whsec_…`. */
export async function webhookSecret([secret = '']: readonly string[], purpose: string): Promise<string> {
  return `whsec_${base64(await secretBytes(secret, purpose))}`;
}

/**
 * The headers of a webhook.
 *
 * @param secrets GATEWAY_SECRET; receivers know the first, and the others sign too
 * @param id stays the same for every delivery attempt
 */
export async function webhookHeaders(
  secrets: readonly string[],
  purpose: string,
  id: string,
  nowMs: number,
  body: string,
): Promise<Readonly<Record<string, string>>> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signatures = await Promise.all(
    secrets.map(async (secret) => {
      const bytes = await secretBytes(secret, purpose);
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
