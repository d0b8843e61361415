/**
 * The assigning authority of a patient identifier (IHE ITI TF-2 §3.8, Patient Identity Feed; HL7 v2.5.1 §2.A.14 CX). An
 * identifier is a pair of authority and value; its type is not part of it. Pure: the namespaces of the site and the key are
 * parameters.
 */
import { bareAuthority, isBareName, nameKey, nameOfAuthority } from '../../store/patient-identity.ts';

/** An HD as sent (HL7 v2.5.1 §2.A.36). */
export interface HierarchicDesignator {
  readonly namespace: string | undefined;
  readonly universalId: string | undefined;
}

/** Known namespaces. The keys of the maps are in capitals (`nameKey`), so that names compare without case. */
export interface Authorities {
  /** Namespace to URI, as the site's administrators named it. */
  readonly named: ReadonlyMap<string, string>;
  /** Namespace to URI, from messages of this key that had both. */
  readonly taught: ReadonlyMap<string, string>;
  /** Namespace to the URIs that messages of this key had for it, if they are several and no administrator has decided. */
  readonly contested: ReadonlyMap<string, readonly string[]>;
  /** Namespace to the URIs that messages of other keys of the site had for it. */
  readonly shared: ReadonlyMap<string, readonly string[]>;
  /** Namespaces and URIs that an administrator separated for this key (`aliasKey`). */
  readonly rejected: ReadonlySet<string>;
  /** The authority of identifiers without one: the key's default authority, else MSH-4, else the key itself. */
  readonly assumed: HierarchicDesignator;
}

export interface AssigningAuthority {
  /** A URI, as sent or of a namespace; or `name:` and a namespace without a URI in capitals. */
  readonly id: string;
  /** The id, and other ids with the same meaning: identifiers may have been stored before a namespace got its URI. */
  readonly ids: readonly string[];
  /** The message names no authority. An assumed one teaches nothing. */
  readonly isAssumed: boolean;
  /** Those of `ids` that only a taught alias connects with the sent authority. */
  readonly taught?: readonly string[];
  /** Further ids with the same meaning for another key, or of a contested namespace: they find only a matching person. */
  readonly uncertain?: readonly string[];
  /** The message names only a namespace of which messages of this key had several URIs. */
  readonly isContested?: boolean;
}

/** A namespace and its URI, as a message of the key had them. */
export interface Taught {
  readonly namespace: string;
  readonly uri: string;
}

/** Names in capitals have no line feed. */
export const aliasKey = ({ namespace, uri }: Taught): string => `${namespace}\n${uri}`;

const OID = /^(?:urn:oid:)?([0-2](?:\.(?:0|[1-9]\d*))+)$/i;
const UUID = /^(?:urn:uuid:)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
const URI = /^[a-z][a-z0-9+.-]*:[^\s]+$/i;
/** A name may contain a colon: only these schemes are certainly a URI. */
const URI_AS_NAME = /^(?:urn|https?):[^\s]+$/i;

/** The system URI of a universal id of any type; undefined for a local name. */
export function uriOfUniversalId(id: string | undefined): string | undefined {
  if (id === undefined) return undefined;
  const oid = OID.exec(id)?.[1];
  if (oid !== undefined) return `urn:oid:${oid}`;
  const uuid = UUID.exec(id)?.[1];
  if (uuid !== undefined) return `urn:uuid:${uuid.toLowerCase()}`;
  return URI.test(id) ? id : undefined;
}

/** The system URI that some senders put in the place of the name; undefined for a name. */
export function uriOfName(name: string | undefined): string | undefined {
  const uri = uriOfUniversalId(name);
  return uri === name && uri !== undefined && !URI_AS_NAME.test(uri) ? undefined : uri;
}

/**
 * The authority of a CX: a universal id of CX.4, else a namespace of CX.4 with a URI, else the bare namespace. Without these
 * the same of CX.6, else the assumed authority.
 *
 * @param authority CX.4
 * @param facility CX.6
 */
export function assigningAuthorityOf(
  authority: HierarchicDesignator,
  facility: HierarchicDesignator,
  authorities: Authorities,
): AssigningAuthority {
  const [sent] = [authority, facility].filter(isNamed);
  const id = authorityNamedBy(sent ?? authorities.assumed, authorities);
  const ids = [...new Set([id, ...namesOf(id, authorities)])];
  return { id, ids, isAssumed: sent === undefined, ...doubtsAbout(sent ?? authorities.assumed, id, ids, authorities) };
}

/** The uncertain meanings of an authority as it was sent. An administrator's names are certain. */
function doubtsAbout(
  { namespace, universalId }: HierarchicDesignator,
  id: string,
  ids: readonly string[],
  { named, contested, shared }: Authorities,
): Pick<AssigningAuthority, 'taught' | 'uncertain' | 'isContested'> {
  const name = nameKey(namespace ?? universalId ?? '');
  const sentAs = uriOfUniversalId(universalId) ?? uriOfName(namespace) ?? bareAuthority(name);
  const isCertain = sentAs === id || named.get(name) === id;
  const taught = ids.filter(
    (each) => each !== sentAs && !(isCertain && (each === id || named.get(nameOfAuthority(each) ?? '') === id)),
  );
  const meanings = [contested, shared].flatMap((uris) =>
    isBareName(id)
      ? (uris.get(name) ?? [])
      : [...uris].filter(([, each]) => each.includes(id)).map(([each]) => bareAuthority(each)),
  );
  const uncertain = [...new Set(meanings)].filter((each) => !ids.includes(each));
  return { taught, uncertain, isContested: isBareName(id) && contested.has(name) };
}

/** A namespace beside a universal id in CX.4. */
export function taughtBy({ namespace, universalId }: HierarchicDesignator): Taught | undefined {
  const uri = uriOfUniversalId(universalId);
  if (uri === undefined || namespace === undefined || uriOfName(namespace) !== undefined) return undefined;
  return { namespace: nameKey(namespace), uri };
}

const isNamed = ({ namespace, universalId }: HierarchicDesignator): boolean =>
  namespace !== undefined || universalId !== undefined;

function authorityNamedBy({ namespace, universalId }: HierarchicDesignator, authorities: Authorities): string {
  // A universal id that is not a URI, such as a domain name, is another name.
  return uriOfUniversalId(universalId) ?? authorityOfName(namespace ?? universalId ?? '', authorities);
}

const authorityOfName = (name: string, authorities: Authorities): string =>
  uriOfNamespace(name, authorities) ?? bareAuthority(name);

/**
 * The URI of a namespace. The site's setting has precedence over messages. Some senders put an OID in the place of the name.
 */
export function uriOfNamespace(name: string, { named, taught }: Authorities): string | undefined {
  const key = nameKey(name);
  return uriOfName(name) ?? named.get(key) ?? taught.get(key);
}

/** The bare namespaces with this URI. */
function namesOf(id: string, authorities: Authorities): string[] {
  const names = [...authorities.named.keys(), ...authorities.taught.keys()];
  return names.filter((name) => uriOfNamespace(name, authorities) === id).map(bareAuthority);
}
