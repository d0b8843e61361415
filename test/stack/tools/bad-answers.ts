/** The ways in which a host of a client misbehaves: the same for a JWKS URI and for the endpoint of a Subscription. */
import type { Behaviour } from '../services/key-host.ts';

/** Redirects lead here; nothing may request it. */
export const REDIRECT_TARGET = '/redirect-target';

export interface BadAnswer {
  readonly behaviour: Behaviour;
  /** The reason why a JWKS cannot be used. */
  readonly jwks: RegExp;
  /** The answer of a post. Its status is enough: the rest is not read. */
  readonly post: string;
}

const REDIRECTS = [301, 302, 303, 307, 308].map((status): [string, BadAnswer] => [
  `a redirect ${status}`,
  {
    behaviour: (response) => response.writeHead(status, { location: REDIRECT_TARGET }).end(),
    jwks: new RegExp(`answered ${status}, and redirects`),
    post: String(status),
  },
]);

const CHUNK = ' '.repeat(1024);

export const BAD_ANSWERS: readonly (readonly [name: string, answer: BadAnswer])[] = [
  ...REDIRECTS,
  [
    'a redirect inside',
    {
      behaviour: (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
      jwks: /answered 302, and redirects/,
      post: '302',
    },
  ],
  [
    'an endless body',
    {
      behaviour: (response) => {
        response.writeHead(200);
        const more = (): void => {
          while (!response.destroyed && response.write(CHUNK));
        };
        response.on('drain', more);
        more();
      },
      jwks: /larger than 65536 bytes/,
      post: '200',
    },
  ],
  [
    'an endless header',
    {
      behaviour: ({ socket }) => {
        if (socket === null) return;
        socket.write('HTTP/1.1 200 OK\r\nx: ');
        const more = (): void => {
          while (!socket.destroyed && socket.write(CHUNK));
        };
        socket.on('drain', more);
        more();
      },
      jwks: /cannot be reached/,
      post: 'unreachable',
    },
  ],
  [
    'a closed connection',
    { behaviour: (response) => response.destroy(), jwks: /cannot be reached/, post: 'unreachable' },
  ],
  ['no answer', { behaviour: () => undefined, jwks: /within 3 s/, post: 'timeout' }],
  [
    'a header that grows slowly',
    {
      behaviour: ({ socket }) => {
        socket?.write('HTTP/1.1 200 OK\r\nx: ');
        const timer = setInterval(() => socket?.write('y'), 100);
        socket?.on('close', () => clearInterval(timer));
      },
      jwks: /within 3 s/,
      post: 'timeout',
    },
  ],
  [
    'a body that does not end',
    { behaviour: (response) => response.writeHead(200).write('{"keys":'), jwks: /within 3 s/, post: '200' },
  ],
];
