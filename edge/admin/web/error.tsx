/** A failure as a page: what happened, what can be done, and the id that leads to it in the log. */
import type { Fault } from '../../../shared/fault.ts';
import type { Config } from '../../config.ts';
import { statusOf, titleOf } from '../../http/problem.ts';
import { linkTo, Page, respond } from './layout.tsx';

/** @param fault undefined for a bug of ours, of which nothing is told */
export function errorPage(config: Config, fault: Fault | undefined, requestId: string): Promise<Response> {
  const status = fault === undefined ? 500 : statusOf(fault);
  const isSignIn = fault?.code === 'sign_in' || fault?.kind === 'unauthenticated';
  const link = isSignIn ? '/admin/sign-in' : '/admin';
  const page = (
    <Page title={titleOf(status)} config={config}>
      <p>{fault?.message ?? 'Something went wrong here.'}</p>
      {fault?.code === 'session_ended' ? (
        <p>
          Nothing was saved. Sign in in another tab, come back to this one, and go back one page: what you typed is
          still in the form, and can be sent again.
        </p>
      ) : null}
      <p>
        <a
          class="button"
          href={linkTo(config, link)}
          {...(fault?.code === 'session_ended' ? { target: '_blank' } : {})}
        >
          {isSignIn ? 'Sign in again' : 'Back to the overview'}
        </a>
      </p>
      <p class="quiet">
        Request <code>{requestId}</code>
      </p>
    </Page>
  );
  return respond(config, page, status, fault?.headers);
}
