/** The URIs of the namespaces in one message: from the site, from earlier messages of the API key, and from the message. */
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { componentOf, locatePart, repetitions, type Part } from '../../../shared/hl7/value.ts';
import type { KeyRecord } from '../../members/api-key.ts';
import type { NewAlias } from '../../store/hl7.ts';
import { note, type MapContext } from '../mapping/context.ts';
import { first, textOf } from '../mapping/datatypes/text.ts';
import {
  aliasKey,
  taughtBy,
  uriOfName,
  type Authorities,
  type HierarchicDesignator,
  type Taught,
} from '../mapping/assigning-authority.ts';

/** An HD in a component of a CX. */
export function designator(part: Part | undefined, component: number): HierarchicDesignator {
  const hd = part === undefined ? undefined : componentOf(part, component);
  return { namespace: textOf(hd, 1), universalId: textOf(hd, 2) };
}

/** Namespaces in the settings of a site and an API key. */
export interface NamespaceSettings
  extends Pick<Authorities, 'taught' | 'contested' | 'shared' | 'rejected'>, Pick<KeyRecord, 'hl7_default_authority'> {
  /** Namespace, in capitals, to URI, as the site's administrators named it. */
  readonly authorities: ReadonlyMap<string, string>;
  readonly clientId: string;
  /** Namespaces whose URI an administrator confirmed. */
  readonly confirmed: ReadonlySet<string>;
}

export interface MessageAuthorities {
  readonly authorities: Authorities;
  /** URIs that the message adds. */
  readonly aliases: readonly NewAlias[];
  /** Namespaces that the message gives a further URI, with its location. */
  readonly contested: readonly { readonly namespace: string; readonly at: string }[];
}

/**
 * @param msh for identifiers without an authority
 * @param fields with patient identifiers: PID-3, MRG-1
 */
export function authoritiesOf(
  settings: NamespaceSettings,
  msh: Segment | undefined,
  fields: readonly { readonly segment: Segment; readonly field: number }[],
): MessageAuthorities {
  const parts = fields.flatMap(({ segment, field }) => repetitions(segment, field));
  const said = parts.flatMap((part): (Taught & { readonly at: string })[] => {
    const taught = taughtBy(designator(part, 4));
    if (taught === undefined || settings.rejected.has(aliasKey(taught))) return [];
    return [{ ...taught, at: locatePart(part, 4) }];
  });
  const taught = new Map(settings.taught);
  const contested = new Map(settings.contested);
  const isDecided = (namespace: string): boolean =>
    settings.authorities.has(namespace) || settings.confirmed.has(namespace);
  const further = said.filter(({ namespace, uri }) => {
    const known = contested.get(namespace) ?? [taught.get(namespace) ?? uri];
    if (known.includes(uri)) {
      if (!contested.has(namespace)) taught.set(namespace, uri);
      return false;
    }
    if (isDecided(namespace)) return false;
    taught.delete(namespace);
    contested.set(namespace, [...known, uri]);
    return true;
  });
  const isKnown = ({ namespace, uri }: Taught): boolean =>
    settings.taught.get(namespace) === uri || settings.contested.get(namespace)?.includes(uri) === true;
  return {
    authorities: {
      named: settings.authorities,
      taught,
      contested,
      shared: settings.shared,
      rejected: settings.rejected,
      assumed: assumedBy(settings, msh),
    },
    aliases: said.filter((each) => !isKnown(each)).map(({ namespace, uri }) => ({ namespace, uri, isTaught: true })),
    contested: further,
  };
}

/** The key's default authority, else the sending facility, else the key itself. */
function assumedBy(
  { hl7_default_authority: namespace, clientId }: NamespaceSettings,
  msh: Segment | undefined,
): HierarchicDesignator {
  if (namespace !== null) return { namespace, universalId: uriOfName(namespace) };
  const facility = msh === undefined ? undefined : first(msh, 4);
  const sent = { namespace: textOf(facility, 1), universalId: textOf(facility, 2) };
  return sent.namespace === undefined && sent.universalId === undefined
    ? { namespace: clientId, universalId: undefined }
    : sent;
}

/** Reports a namespace of which messages had several URIs, and lists it once for the administrator. */
export function noteContestedNamespace(namespace: string, at: string, context: MapContext): void {
  note(context, 'W', '205', at, ERROR_REASONS['namespace-contested'], 'namespace-contested');
  context.attend({ kind: 'namespace-contested', patients: [], about: namespace, detail: { namespace } });
}
