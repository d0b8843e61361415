/** The subject of a client certificate as the sidecar sends it: `C=DE, O=Hospital, CN=lab`, in the certificate's order. */
import { optionalText } from './schemas.ts';

/** Less than the limit of the sidecar's claim (shared/mllp-contract.ts), so that a truncated subject never matches. */
const MAX_SUBJECT_CHARACTERS = 1000;

/** Normalizes what OpenSSL and others print: `subject=C = DE, O = Hospital`. */
export const plainSubject = (text: string): string =>
  text
    .trim()
    .replace(/^subject\s*[=:]\s*/i, '')
    .split(/(?<!\\),/)
    .map((part) => part.trim().replace(/^([A-Za-z0-9.]+)\s*=\s*/, '$1='))
    .join(', ');

/** The schema of a subject; null for none. */
export const tlsSubject = optionalText(MAX_SUBJECT_CHARACTERS).transform((given) =>
  given === null ? null : plainSubject(given),
);
