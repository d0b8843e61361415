/** The URIs of the namespaces in one message: from the site, from earlier messages of the API key, and from the message. */
import type { Segment } from '../../../shared/hl7/message.ts';
import { componentOf, repetitions, type Part } from '../../../shared/hl7/value.ts';
import type { KeyRecord } from '../../members/api-key.ts';
import type { NewAlias } from '../../store/hl7.ts';
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
  extends Pick<Authorities, 'taught' | 'rejected'>, Pick<KeyRecord, 'hl7_default_authority'> {
  /** Namespace, in capitals, to URI, as the site's administrators named it. */
  readonly authorities: ReadonlyMap<string, string>;
  readonly clientId: string;
}

export interface MessageAuthorities {
  readonly authorities: Authorities;
  /** URIs that the message adds. */
  readonly aliases: readonly NewAlias[];
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
  const said = parts.flatMap((part): Taught[] => {
    const taught = taughtBy(designator(part, 4));
    return taught === undefined || settings.rejected.has(aliasKey(taught)) ? [] : [taught];
  });
  const news = said.filter(({ namespace, uri }) => settings.taught.get(namespace) !== uri);
  return {
    authorities: {
      named: settings.authorities,
      // The first URI of a namespace stays: those of earlier messages, then those of this message.
      taught: new Map([
        ...said.toReversed().map(({ namespace, uri }) => [namespace, uri] as const),
        ...settings.taught,
      ]),
      rejected: settings.rejected,
      assumed: assumedBy(settings, msh),
    },
    aliases: news.map((alias) => ({ ...alias, isTaught: true })),
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
