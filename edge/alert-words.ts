/** Each kind of alert in words, for the console and for whoever its webhook tells: what is wrong, and what to do about it (edge/docs/behaviour.md, Alerts). */
import type { AlertKind } from './store/alert.ts';

interface Words {
  /** A sentence of ours, without a name of a key, a person or a patient. */
  readonly title: string;
  readonly todo: string;
}

export const ALERT_WORDS: Readonly<Record<AlertKind, Words>> = {
  'feed-silent': {
    title: 'A feed is silent',
    todo: 'Ask the sender. It ends with the next message; the hours in which this key is watched are set with it.',
  },
  'error-rate': {
    title: 'Too many requests are refused or fail',
    todo: 'Look at Requests, which says why, of which key and since when.',
  },
  'sidecar-silent': {
    title: 'An MLLP sidecar does not call',
    todo: 'The operator looks at its /readyz and its log. Messages wait at their senders, and nothing is lost.',
  },
  'provider-away': {
    title: 'The staff’s OpenID provider does not answer',
    todo:
      'Nobody can sign in to the console, and sessions end within the hour; messages and clients go on. Whoever runs the ' +
      'provider looks at it; Health says what it answers.',
  },
  'signing-key-old': {
    title: 'The key that signs access tokens is older than a year',
    todo: 'The operator rotates it; no request fails on the way.',
  },
  'jwks-uri-failing': {
    title: 'The JWKS URI of an API key cannot be used',
    todo: 'Its client gets no token. The page of the key says what is wrong with the address.',
  },
  'replay-needed': {
    title: 'The gateway failed to process messages',
    todo: 'It tries again for nine hours. Tell the operator; once that is mended, replay what is left.',
  },
};
