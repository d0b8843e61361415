/** The subject of a client certificate as the sidecar tells it: `C=DE, O=Hospital, CN=lab`, in the certificate's order. */
import { optionalText } from '../record/schemas.ts';

/** Less than a sidecar's claim holds (shared/mllp-contract.ts), so that one that was cut short is never equal. */
const MAX_SUBJECT_CHARACTERS = 1000;

/** One spelling of what OpenSSL and others print: `subject=C = DE, O = Hospital`. */
export const plainSubject = (text: string): string =>
  text
    .trim()
    .replace(/^subject\s*[=:]\s*/i, '')
    .split(/(?<!\\),/)
    .map((part) => part.trim().replace(/^([A-Za-z0-9.]+)\s*=\s*/, '$1='))
    .join(', ');

/** Or null for none. */
export const tlsSubject = optionalText(MAX_SUBJECT_CHARACTERS).transform((given) =>
  given === null ? null : plainSubject(given),
);
