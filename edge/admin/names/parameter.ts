/** A name as a parameter of an address: `authority:HOSP`. */
import * as z from 'zod';

import { nameKey } from '../../store/patient-identity.ts';
import { isNameKind, type UnmappedName } from '../../store/unmapped-name.ts';

export const toParameter = ({ kind, name }: UnmappedName): string => `${kind}:${name}`;

/** @returns undefined for an invalid name */
export function readParameter(text: string): UnmappedName | undefined {
  const at = text.indexOf(':');
  const kind = text.slice(0, Math.max(at, 0));
  const name = nameKey(text.slice(at + 1));
  return isNameKind(kind) && name !== '' ? { kind, name } : undefined;
}

/** In a query or a body; '' for any. */
export const unmappedParameter = z
  .string()
  .max(300)
  .default('')
  .refine(
    (text) => text === '' || readParameter(text) !== undefined,
    'must be like authority:HOSP or code-system:99LAB',
  )
  .meta({ description: 'A name that they have without a URI: `authority:HOSP`, `code-system:99LAB`.' });
