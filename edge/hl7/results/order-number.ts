/**
 * An order number (EI, HL7 v2.5.1 §2.A.28) and its authority. A number without an authority belongs to its sender: `1001` of
 * two laboratories is two orders.
 */
import type { Part } from '../../../shared/hl7/value.ts';
import { componentOf } from '../../../shared/hl7/value.ts';
import { nameKey } from '../../store/patient-identity.ts';
import { uriOfName, uriOfUniversalId } from '../mapping/assigning-authority.ts';
import { plainTextOf, textOf } from '../mapping/datatypes/text.ts';

export interface OrderNumber {
  readonly value: string;
  readonly authority: Authority;
}

/** At least one of both is present. */
export interface Authority {
  readonly uri: string | null;
  /** The namespace in capitals, if it has no URI in the settings. */
  readonly name: string | null;
}

/** @param named namespace to URI, as the site's administrators named it */
export function authorityOf(
  namespace: string | undefined,
  universalId: string | undefined,
  named: ReadonlyMap<string, string>,
): Authority | undefined {
  const name = namespace ?? universalId;
  if (name === undefined) return undefined;
  const uri = uriOfUniversalId(universalId) ?? uriOfName(name) ?? uriNamed(name, named);
  return { uri: uri ?? null, name: uriOfName(name) === undefined ? nameKey(name) : null };
}

function uriNamed(name: string, named: ReadonlyMap<string, string>): string | undefined {
  const key = nameKey(name);
  for (const [each, uri] of named) if (nameKey(each) === key) return uri;
  return undefined;
}

/**
 * EI.1 with EI.2 and EI.3. Some senders put a complete HD into EI.2, which has only its namespace.
 *
 * @param own authority of numbers without one
 */
export function orderNumberOf(
  part: Part | undefined,
  named: ReadonlyMap<string, string>,
  own: Authority,
): OrderNumber | undefined {
  const value = plainTextOf(part, 1);
  if (part === undefined || value === undefined) return undefined;
  const hd = componentOf(part, 2);
  return { value, authority: authorityOf(textOf(hd, 1), textOf(part, 3) ?? textOf(hd, 2), named) ?? own };
}

/** A namespace has the URI that arrived beside it before or later: only two different URIs are two authorities. */
export function isSameAuthority(a: Authority, b: Authority): boolean {
  if (a.uri !== null && b.uri !== null) return a.uri === b.uri;
  return a.name !== null && a.name === b.name;
}

export const isSameNumber = (a: OrderNumber, b: OrderNumber): boolean =>
  a.value === b.value && isSameAuthority(a.authority, b.authority);

/** Checks for a number with the authority of its sender: it was probably sent without an authority. */
export const isAssumed = ({ authority }: OrderNumber, own: Authority): boolean =>
  authority.uri === own.uri && authority.name === own.name;

/**
 * The authority of a sender's numbers without one.
 *
 * @param key the default authority of its API key, a namespace or a URI; else MSH-3 and MSH-4 together are the name
 */
export function ownAuthority(
  key: string | undefined,
  application: string | undefined,
  facility: string | undefined,
  named: ReadonlyMap<string, string>,
): Authority {
  return (
    authorityOf(key, key, named) ?? {
      uri: null,
      name: senderName(application, facility),
    }
  );
}

/** A sender by MSH-3 and MSH-4, in any case. */
export const senderName = (application: string | undefined, facility: string | undefined): string =>
  JSON.stringify([application, facility].map((name) => nameKey(name ?? '')));
