/**
 * Which API key an MLLP message belongs to (edge/docs/behaviour.md, MLLP): by source address, MSH-3 and MSH-4 among the keys that
 * list protocol `hl7-mllp`. Pure: the keys are read elsewhere, the sender is told nothing of it, and for each key that
 * nearly fitted there is a sentence for its administrator.
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
  /** MSH-3 must be this; null: any. */
  readonly senderApplication: string | null;
  /** MSH-4 must be this; null: any. */
  readonly senderFacility: string | null;
  /** The subject of the sender's certificate must be this; null: any, or none. */
  readonly tlsSubject: string | null;
  /** The operator assigned such senders to the key's site. */
  readonly isOwn: boolean;
  /** The operator assigned such senders to another site. */
  readonly isForeign: boolean;
}

export interface MllpPeer {
  readonly address: string;
  /** MSH-3.1 and MSH-4.1, unescaped; empty when absent. */
  readonly sendingApplication: string;
  readonly sendingFacility: string;
  /** Of its certificate, as the sidecar vouches for it; empty without one. */
  readonly tlsSubject: string;
}

export interface Explanation {
  readonly clientId: string;
  readonly site: string;
  readonly reason: string;
}

/** Why no key is meant. */
export interface NoKey {
  readonly refused: MllpRefusalCode;
  /** For the log: a fixed phrase. */
  readonly reason: string;
  /** For the administrators of the keys that were concerned. */
  readonly explainTo: readonly Explanation[];
}

export type SelectedKey<Key extends MllpKey> = { readonly key: Key } | NoKey;

const PROTOCOL = 'hl7-mllp';

/** The longest prefix among a key's ranges that hold the address, or undefined when none does. */
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

/** Filters narrow, never widen: one that is set must be equal, to the letter. */
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

/** Filters that are set beat those that are not, then the longer prefix wins. */
const bySpecificity = <Key>(a: Match<Key>, b: Match<Key>): number => b.filters - a.filters || b.prefix - a.prefix;

/**
 * Every condition that a key fails, or undefined when the key has nothing to do with this peer. It has when its filters
 * name the sender, or when the peer's address is its own: not merely by `*` in a key that is not for MLLP.
 */
function explain(key: MllpKey, peer: MllpPeer, prefix: number | undefined): string | undefined {
  // The senders of another site are nobody else's to know of.
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
 * The one key for a message, or why there is none.
 *
 * Two keys of one site that are equally specific are one sender's spare keys: the first by Client ID is taken, so that
 * the choice is stable. Between sites nothing competes: where keys of two fit, which those who assign addresses and save
 * keys prevent, the message is nobody's, and both administrators are told.
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
        `the sender at ${peer.address} also fits a key of another site, so its messages are stored nowhere: ` +
        'the operator of the gateway must say whose they are',
    })),
  };
}
