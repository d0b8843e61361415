/**
 * Page cursors: the position at which a page begins, sealed with the gateway's secret. A cursor is opaque (a sort key is a
 * name or a birth date), cannot be altered, and opens only for its site and query.
 */
import { decodeBase64url, encodeBase64url } from '../../../shared/base64url.ts';
import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { sealingRing } from '../../http/crypto.ts';
import type { Position } from '../../store/search/page-selection.ts';
import { badParameter } from './faults.ts';

const NONCE_BYTES = 12;
const utf8 = new TextEncoder();

export interface CursorSealer {
  /** @param scope everything the cursor is bound to, as one string */
  seal(position: Position, scope: string): Promise<string>;
  /** @throws Fault `malformed` for a cursor that was not sealed for this scope, or was altered */
  open(cursor: string, scope: string): Promise<Position>;
}

/** @param secrets GATEWAY_SECRET; the keys are derived from it for this use alone (RFC 5869) */
export function cursorSealer(secrets: readonly string[]): CursorSealer {
  const ring = sealingRing(secrets, 'fhir page cursor');
  const refuse = (): Fault =>
    badParameter(
      '_cursor',
      'The page link was altered, or it belongs to another query. Start again at the first page.',
    );

  return {
    async seal({ key: sortKey, id }, scope) {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const sealed = await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv: nonce, additionalData: utf8.encode(scope) },
        await ring.first(),
        utf8.encode(JSON.stringify([id, sortKey])),
      );
      return encodeBase64url(new Uint8Array([...nonce, ...new Uint8Array(sealed)]));
    },
    async open(cursor, scope) {
      const bytes = decodeBase64url(cursor);
      if (bytes === undefined || bytes.byteLength <= NONCE_BYTES) throw refuse();
      const iv = bytes.subarray(0, NONCE_BYTES);
      const sealing = { name: 'AES-GCM', iv, additionalData: utf8.encode(scope) };
      const opened = await ring.open((key) =>
        crypto.subtle.decrypt(sealing, key, bytes.subarray(NONCE_BYTES)).catch(() => undefined),
      );
      if (opened === undefined) throw refuse();
      const position: unknown = JSON.parse(new TextDecoder().decode(opened));
      const [id, sortKey] = Array.isArray(position) ? (position as unknown[]) : [];
      if (typeof id !== 'string' || !isUuid(id)) throw refuse();
      return { id, key: typeof sortKey === 'string' ? sortKey : null };
    },
  };
}
