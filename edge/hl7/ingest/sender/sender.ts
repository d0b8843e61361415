/**
 * The sender of a message, and the check of the sender at the beginning of each transaction. `select-key.ts` selects among API
 * keys.
 */
import type { Header } from '../../../../shared/hl7/header.ts';
import { plainAddress } from '../../../../shared/ip.ts';
import { callerArguments, type CallerIdentity } from '../../../store/api-key.ts';
import type { AuditAction } from '../../../audit-actions.ts';
import type { AuditBy } from '../../../store/audit.ts';
import type { MessageIdentity } from '../../../store/hl7-snapshot.ts';
import { linkArguments, type PresentedLink } from '../../../store/key-link.ts';
import type { MllpPeer } from './select-key.ts';

/** Why a person sees a message, for the audit. */
interface Shown {
  readonly action: AuditAction;
  /** Null for a message that is not stored. */
  readonly messageId: string | null;
}

export type Sender =
  /** The bearer of an access token. */
  | { readonly kind: 'caller'; readonly caller: CallerIdentity }
  /** The bearer of a link of an API key, who can check messages and send none. */
  | { readonly kind: 'link'; readonly link: PresentedLink }
  /** An API key that the gateway names itself, also a disabled one: for a replay or a preview. */
  | {
      readonly kind: 'key';
      readonly site: string;
      readonly clientId: string;
      /** Null for a preview. */
      readonly by: AuditBy | null;
      /** Null if no person sees what is found. */
      readonly shown: Shown | null;
    }
  /** A peer of an MLLP sidecar. */
  | {
      readonly kind: 'address';
      readonly address: string;
      /** The subject of the peer's certificate. */
      readonly tlsSubject: string | undefined;
      /** The sidecar's name. */
      readonly sidecar: string;
      /** The sites that the sidecar speaks for; undefined: all. */
      readonly sites?: readonly string[] | undefined;
    };

/** How a transaction about a message begins: with one API key, or with an address and all keys that it may belong to. */
export type Opening = {
  /** The argument of `hl7_open`. */
  readonly arguments: readonly string[];
} & (
  | { readonly kind: 'key'; readonly site: string; readonly clientId: string }
  | {
      readonly kind: 'address';
      readonly peer: MllpPeer;
      /** The sites that the sidecar speaks for; undefined: all. */
      readonly sites: readonly string[] | undefined;
    }
);

/** Finds the API keys that may have sent a message. */
export function openingOf(sender: Sender, header: Header, { application, facility }: MessageIdentity): Opening {
  if (sender.kind === 'key') return keyOpening(sender);
  if (sender.kind === 'caller') return { ...keyOpening(sender.caller), arguments: callerArguments(sender.caller) };
  if (sender.kind === 'link') return { ...keyOpening(sender.link), arguments: [...linkArguments(sender.link), 'link'] };
  const { address, tlsSubject = '', sites } = sender;
  const { sendingApplication = '', sendingFacility = '' } = header;
  const peer = { address, sendingApplication, sendingFacility, tlsSubject };
  return { kind: 'address', arguments: [plainAddress(address), application, facility, tlsSubject], peer, sites };
}

export const keyOpening = ({ site, clientId }: { readonly site: string; readonly clientId: string }) =>
  ({ kind: 'key', arguments: [site, clientId], site, clientId }) as const;

/** Checks whether a message with this opening may belong to the site. */
export const isOpenTo = (opening: Opening, site: string): boolean =>
  opening.kind === 'key' || opening.sites === undefined || opening.sites.includes(site);
