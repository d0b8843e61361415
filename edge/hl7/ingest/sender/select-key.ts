/**
 * Selects the API key of an MLLP message (edge/docs/behaviour.md, MLLP): by source address, MSH-3, MSH-4 and certificate among
 * the keys with protocol `hl7-mllp`. Pure. The sender learns no reason; the administrator of each key that nearly fits gets a
 * sentence.
 */
import { parseAddress, parseRange, rangeContains } from '../../../../shared/ip.ts';
import { quote } from '../../../../shared/quote.ts';
import type { MllpRefusalCode } from '../../../refusals.ts';

export interface MllpKey {
  readonly clientId: string;
  readonly site: string;
  readonly status: 'active' | 'disabled';
  readonly protocols: readonly string[];
  /** Single addresses, CIDR ranges or `*`. */
  readonly allowedIps: readonly string[];
  /** Required MSH-3; null: any. */
  readonly senderApplication: string | null;
  /** Required MSH-4; null: any. */
  readonly senderFacility: string | null;
  /** Required subject of the sender's certificate; null: any, or no certificate. */
  readonly tlsSubject: string | null;
  /** The operator assigned such senders to the key's site. */
  readonly isOwn: boolean;
  /** The operator assigned such senders to another site. */
  readonly isForeign: boolean;
}

export interface MllpPeer {
  readonly address: string;
  /** MSH-3.1 and MSH-4.1, unescaped; empty without a value. */
  readonly sendingApplication: string;
  readonly sendingFacility: string;
  /** The subject of its certificate, as the sidecar reports it; empty without one. */
  readonly tlsSubject: string;
}

interface Explanation {
  readonly clientId: string;
  readonly site: string;
  readonly reason: string;
}

/** The reason why no key fits. */
export interface NoKey {
  readonly refused: MllpRefusalCode;
  /** For the log: a fixed phrase. */
  readonly reason: string;
  /** For the administrators of the keys that nearly fit. */
  readonly explainTo: readonly Explanation[];
}

export type SelectedKey<Key extends MllpKey> = { readonly key: Key } | NoKey;

const PROTOCOL = 'hl7-mllp';

/** The longest prefix among the key's ranges that contain the address; undefined without one. */
function matchedPrefix(key: MllpKey, address: Uint8Array | undefined): number | undefined {
  if (address === undefined) return undefined;
  let longest: number | undefined;
  for (const text of key.allowedIps) {
    const range = parseRange(text);
    if (range === undefined || !rangeContains(range, address)) continue;
    longest = Math.max(longest ?? 0, range.prefix);
  }
  return longest;
}

/** A filter only narrows: it must equal the value, in the same case. */
function filterProblems({ senderApplication, senderFacility, tlsSubject }: MllpKey, peer: MllpPeer): string[] {
  const compare = (field: string, is: string, want: string | null): string[] =>
    want === null || want === is ? [] : [`${field} was ${quote(is)}, the key wants ${quote(want)}`];
  return [
    ...compare('MSH-3', peer.sendingApplication, senderApplication),
    ...compare('MSH-4', peer.sendingFacility, senderFacility),
    ...compare('the certificate’s subject', peer.tlsSubject, tlsSubject),
  ];
}

const filtersSet = ({ senderApplication, senderFacility, tlsSubject }: MllpKey): number =>
  [senderApplication, senderFacility, tlsSubject].filter((filter) => filter !== null).length;

interface Match<Key> {
  readonly key: Key;
  readonly filters: number;
  readonly prefix: number;
}

/** More filters win, then the longer prefix. */
const bySpecificity = <Key>(a: Match<Key>, b: Match<Key>): number => b.filters - a.filters || b.prefix - a.prefix;

/**
 * The reasons why a key does not fit; undefined if the key has nothing to do with this peer. A key is concerned if its filters
 * name the sender, or its ranges contain the address. `*` in a key without MLLP does not count.
 */
function explain(key: MllpKey, peer: MllpPeer, prefix: number | undefined): string | undefined {
  // The senders of another site are confidential.
  if (key.isForeign && !key.isOwn) return undefined;
  const listsProtocol = key.protocols.includes(PROTOCOL);
  const filters = filterProblems(key, peer);
  const isNamed = filtersSet(key) > 0 && filters.length === 0;
  const isAddressed = prefix !== undefined && (listsProtocol || prefix > 0);
  if (!isNamed && !isAddressed) return undefined;
  return [
    ...(key.status === 'active' ? [] : ['the API key is disabled']),
    ...(listsProtocol ? [] : [`Protocols does not list ${PROTOCOL}`]),
    ...(prefix === undefined ? [`the source address ${peer.address} is not in Allowed IPs`] : []),
    ...(key.isOwn ? [] : [`the operator has not assigned ${peer.address}, or not for such messages, to this site`]),
    ...filters,
  ].join('; ');
}

/**
 * Selects the one key for a message, or returns the reason why no key fits.
 *
 * If two keys of one site are equally specific, the first by Client ID is selected, so that the choice is stable. Keys of different
 * sites never compete. If keys of two sites fit, which the checks of addresses and keys prevent, no key is selected, and both
 * administrators get the reason.
 */
export function selectKey<Key extends MllpKey>(keys: readonly Key[], peer: MllpPeer): SelectedKey<Key> {
  const address = parseAddress(peer.address);
  const matches: Match<Key>[] = [];
  const explainTo: Explanation[] = [];
  for (const key of keys) {
    const prefix = matchedPrefix(key, address);
    const fits =
      prefix !== undefined &&
      key.status === 'active' &&
      key.protocols.includes(PROTOCOL) &&
      key.isOwn &&
      filterProblems(key, peer).length === 0;
    if (fits) {
      matches.push({ key, filters: filtersSet(key), prefix });
      continue;
    }
    const reason = explain(key, peer, prefix);
    if (reason !== undefined) explainTo.push({ clientId: key.clientId, site: key.site, reason });
  }

  matches.sort((a, b) => bySpecificity(a, b) || (a.key.clientId < b.key.clientId ? -1 : 1));
  const [best] = matches;
  if (best === undefined) return { refused: 'no-key', reason: 'no API key allows this sender', explainTo };
  if (matches.every(({ key }) => key.site === best.key.site)) return { key: best.key };
  return {
    refused: 'ambiguous',
    reason: 'API keys of different sites fit this sender',
    explainTo: matches.map(({ key }) => ({
      clientId: key.clientId,
      site: key.site,
      reason:
        `the sender at ${peer.address} also fits a key of another site, so its messages are not stored. ` +
        'Ask the operator of the gateway to assign the address.',
    })),
  };
}
