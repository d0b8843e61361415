/**
 * The domain of a patient identifier: who gave the number out (IHE ITI TF-2 §3.8, Patient Identity Feed; HL7 v2.5.1
 * §2.A.14 CX). An identifier is a pair (domain, value); its type is no part of it. Pure: what the site and the key know
 * of namespaces is passed in.
 */
import { bareNameDomain, nameKey } from '../../store/patient-identity.ts';

/** An HD as it was sent (HL7 v2.5.1 §2.A.36). */
export interface HierarchicDesignator {
  readonly namespace: string | undefined;
  readonly universalId: string | undefined;
}

/** What is known of namespaces. Names compare without case: the keys of the maps are in capitals (`nameKey`). */
export interface Authorities {
  /** Namespace to URI, as the site's administrators named them. */
  readonly named: ReadonlyMap<string, string>;
  /** Namespace to URI, as messages of this key taught it by sending both. */
  readonly taught: ReadonlyMap<string, string>;
  /** What an administrator said a namespace does not stand for in the messages of this key (`aliasKey`). */
  readonly rejected: ReadonlySet<string>;
  /** Of numbers that come without any: the key's default authority, else MSH-4, else the key itself. */
  readonly assumed: HierarchicDesignator;
}

export interface Domain {
  /** A URI, as sent or as a namespace stands for it; or `name:` and the namespace in capitals, which nobody has given a URI. */
  readonly id: string;
  /** The id, and the other domains that mean the same: what was stored before a namespace was named. */
  readonly ids: readonly string[];
  /** The message names none: a guess, which teaches nothing. */
  readonly isAssumed: boolean;
}

/** What a key's message said: this namespace stands for this URI. */
export interface Taught {
  readonly namespace: string;
  readonly uri: string;
}

/** Equal for what is equal. Names in capitals hold no line feed. */
export const aliasKey = ({ namespace, uri }: Taught): string => `${namespace}\n${uri}`;

const OID = /^(?:urn:oid:)?([0-2](?:\.(?:0|[1-9]\d*))+)$/i;
const UUID = /^(?:urn:uuid:)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
const URI = /^[a-z][a-z0-9+.-]*:[^\s]+$/i;
/** Of what stands in the place of a name, which may hold a colon, only what nobody would choose for a name. */
const URI_AS_NAME = /^(?:urn|https?):[^\s]+$/i;

/** The system URI that a universal id stands for, of whatever type it says it is; undefined for a local name. */
export function uriOfUniversalId(id: string | undefined): string | undefined {
  if (id === undefined) return undefined;
  const oid = OID.exec(id)?.[1];
  if (oid !== undefined) return `urn:oid:${oid}`;
  const uuid = UUID.exec(id)?.[1];
  if (uuid !== undefined) return `urn:uuid:${uuid.toLowerCase()}`;
  return URI.test(id) ? id : undefined;
}

/** The system URI that some send in the place of the name; undefined for a name. */
export function uriOfName(name: string | undefined): string | undefined {
  const uri = uriOfUniversalId(name);
  return uri === name && uri !== undefined && !URI_AS_NAME.test(uri) ? undefined : uri;
}

/**
 * The domain of a CX, the first that applies: a universal id of CX.4, a namespace of CX.4 that has a URI, the bare
 * namespace, the same of CX.6, the assumed one.
 *
 * @param authority CX.4
 * @param facility CX.6
 */
export function domainOf(
  authority: HierarchicDesignator,
  facility: HierarchicDesignator,
  authorities: Authorities,
): Domain {
  const [sent] = [authority, facility].flatMap((designator) => domainNamedBy(designator, authorities) ?? []);
  const id = sent ?? domainNamedBy(authorities.assumed, authorities) ?? bareNameDomain('');
  return { id, ids: [...new Set([id, ...namesOf(id, authorities)])], isAssumed: sent === undefined };
}

/** What CX.4 teaches: a namespace beside a universal id. */
export function taughtBy({ namespace, universalId }: HierarchicDesignator): Taught | undefined {
  const uri = uriOfUniversalId(universalId);
  if (uri === undefined || namespace === undefined || uriOfName(namespace) !== undefined) return undefined;
  return { namespace: nameKey(namespace), uri };
}

function domainNamedBy({ namespace, universalId }: HierarchicDesignator, authorities: Authorities): string | undefined {
  const uri = uriOfUniversalId(universalId);
  if (uri !== undefined) return uri;
  // A universal id that is no URI, a domain name say, is one more name.
  const name = namespace ?? universalId;
  return name === undefined ? undefined : domainOfName(name, authorities);
}

const domainOfName = (name: string, authorities: Authorities): string =>
  uriOfNamespace(name, authorities) ?? bareNameDomain(name);

/**
 * The URI that a namespace stands for. What the site says of it goes before what a message taught; and some send an OID in
 * the place of the name.
 */
export function uriOfNamespace(name: string, { named, taught }: Authorities): string | undefined {
  const key = nameKey(name);
  return uriOfName(name) ?? named.get(key) ?? taught.get(key);
}

/** The bare namespaces that stand for a URI. */
function namesOf(id: string, authorities: Authorities): string[] {
  const names = [...authorities.named.keys(), ...authorities.taught.keys()];
  return names.filter((name) => uriOfNamespace(name, authorities) === id).map(bareNameDomain);
}
