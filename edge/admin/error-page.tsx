/** A failure as a page: the message, the next step, and the request id, which finds the failure in the log. */
import { type Fault, printPlace } from '../../shared/fault.ts';
import type { Config } from '../config.ts';
import { statusOf, titleOf } from '../http/problem.ts';
import type { Session } from './staff/session.ts';
import { linkTo, respond } from './web/layout.tsx';
import { Faults } from './web/ui.tsx';
import { type Unsent, UnsentForm } from './sign-in/unsent.tsx';

interface ErrorPageProps {
  readonly requestId: string;
  /** With a session the page keeps its navigation. */
  readonly session?: Session | undefined;
  /** The form that was rejected because the session had ended. */
  readonly unsent?: Unsent | undefined;
}

/** @param fault undefined for a bug of the gateway, whose details are only logged */
export function errorPage(
  config: Config,
  fault: Fault | undefined,
  { requestId, session, unsent }: ErrorPageProps,
): Promise<Response> {
  const status = fault === undefined ? 500 : statusOf(fault);
  const isSignIn = fault?.code === 'sign_in' || fault?.kind === 'unauthenticated';
  const signInPath = linkTo(config, '/admin/sign-in');
  return respond(
    { title: titleOf(status), config, session, status, headers: fault?.headers },
    <p class="lead">
      {fault?.message ??
        'The gateway failed to answer. Try again; if it fails again, give the request id to the operator.'}
    </p>,
    <Faults of={fault?.issues.map((issue) => `${printPlace(issue)}: ${issue.message}`) ?? []} />,
    unsent === undefined ? (
      <p class="actions">
        <a class="button" href={isSignIn ? signInPath : linkTo(config, '/admin')}>
          {isSignIn ? 'Sign in again' : 'Back to the first page'}
        </a>
      </p>
    ) : (
      <UnsentForm unsent={unsent} signInPath={signInPath} />
    ),
    <p class="quiet">
      Request <code>{requestId}</code>
    </p>,
  );
}
