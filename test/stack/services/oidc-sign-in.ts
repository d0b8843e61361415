/** The sign-in page of the local OpenID provider: a name and a password, nothing else. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import type Provider from 'oidc-provider';

import type { Account } from './oidc-accounts.ts';
import { oidcPage } from './oidc-page.ts';

const page = (uid: string, problem = ''): string =>
  oidcPage(
    'Sign in',
    `<p>The local stack's own OpenID provider, for development and tests.</p>
<form method="post" action="/interaction/${encodeURIComponent(uid)}"><p role="alert">${problem}</p>
<label for="username">Name</label><input id="username" name="username" autocomplete="username" required autofocus>
<label for="password">Password</label><input id="password" name="password" type="password" required>
<button>Sign in</button></form>`,
  );

/** Answers `GET` and `POST /interaction/{uid}`. */
export async function signIn(
  provider: Provider,
  accounts: readonly Account[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { uid } = await provider.interactionDetails(request, response);
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  if (request.method !== 'POST') {
    response.end(page(uid));
    return;
  }
  const form = new URLSearchParams(await text(request));
  const account = accounts.find(
    ({ username, password }) => username === form.get('username') && password === form.get('password'),
  );
  if (account === undefined) {
    response.end(page(uid, 'The name or the password is wrong.'));
    return;
  }
  const result = { login: { accountId: account.username } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}
