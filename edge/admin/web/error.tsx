/** A failure as a page: what happened, what can be done, and the id that leads to it in the log. */
import type { Fault } from '../../../shared/fault.ts';
import type { Config } from '../../config.ts';
import { statusOf, titleOf } from '../../http/problem.ts';
import type { Session } from '../staff/session.ts';
import { linkTo, Page, respond } from './layout.tsx';
import { type Unsent, UnsentForm } from './unsent.tsx';

interface Circumstances {
  readonly requestId: string;
  /** Who looks, where somebody is signed in: the page keeps their navigation. */
  readonly session?: Session | undefined;
  /** What was typed into a form that was refused because the session had ended. */
  readonly unsent?: Unsent | undefined;
}

/** @param fault undefined for a bug of ours, of which nothing is told */
export function errorPage(
  config: Config,
  fault: Fault | undefined,
  { requestId, session, unsent }: Circumstances,
): Promise<Response> {
  const status = fault === undefined ? 500 : statusOf(fault);
  const isSignIn = fault?.code === 'sign_in' || fault?.kind === 'unauthenticated';
  const signInPath = linkTo(config, '/admin/sign-in');
  const page = (
    <Page title={titleOf(status)} config={config} session={session}>
      <p class="lead">{fault?.message ?? 'Something went wrong here.'}</p>
      {unsent === undefined ? (
        <p class="actions">
          <a class="button" href={isSignIn ? signInPath : linkTo(config, '/admin')}>
            {isSignIn ? 'Sign in again' : 'Back to the first page'}
          </a>
        </p>
      ) : (
        <UnsentForm unsent={unsent} signInPath={signInPath} />
      )}
      <p class="quiet">
        Request <code>{requestId}</code>
      </p>
    </Page>
  );
  return respond(config, page, status, fault?.headers);
}
