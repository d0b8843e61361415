/** Applies a plan in one transaction. A plan without changes writes nothing. */
import { Fault } from '../../../shared/fault.ts';
import { NEVER_IDENTIFYING } from '../../../shared/hl7/identifier-type.ts';
import { type AuditActor } from '../../store/audit.ts';
import { inSite } from '../../store/in-site.ts';
import { authoritiesNamed } from '../../store/site.ts';
import { applySiteFile } from '../../store/site-apply.ts';
import { type Actor, authorOf, requirePermission } from '../staff/actor.ts';
import type { PlanDeps, PlanOptions } from './part.ts';
import { type Plan, planFile } from './plan.ts';

const planAgain = (): Fault =>
  new Fault(
    'precondition-failed',
    'the file, the site or the options changed since the plan, so nothing was written: plan again',
  );

/** Characters of the fingerprint in a comment. It is committed beside the file. */
const SHOWN_CHARACTERS = 17;

export interface ApplyOptions extends PlanOptions {
  /** The fingerprint of the plan that was read. */
  readonly fingerprint: string;
  /** The comment of new versions of rules and code tables. Default: the fingerprint. */
  readonly comment?: string | undefined;
  /** The operator may assign addresses. */
  readonly isOperator: boolean;
}

/** @throws the faults of `planFile`; `forbidden` for a change without its permission; `precondition-failed` for another plan */
export async function applyFile(
  deps: PlanDeps,
  actor: Actor,
  auditActor: AuditActor,
  given: unknown,
  options: ApplyOptions,
): Promise<Plan> {
  const plan = await planFile(deps, actor, given, options);
  // Also after an apply whose answer was lost.
  if (plan.items.length === 0) return plan;
  for (const { permissions, name } of plan.items) {
    if (permissions === null && !options.isOperator)
      throw new Fault('forbidden', `only the operator can assign the address ${name}: npm run admin -- apply`);
    for (const permission of permissions ?? []) requirePermission(actor, permission);
  }
  if (plan.fingerprint !== options.fingerprint) throw planAgain();
  const namesAuthorities = plan.items.some(({ members }) =>
    members.some(({ member }) => member === 'assigningAuthorities'),
  );
  const comparing = namesAuthorities ? [authoritiesNamed(actor.site, [...NEVER_IDENTIFYING])] : [];
  const { comment = `site file, ${plan.fingerprint.slice(0, SHOWN_CHARACTERS)}` } = options;
  const write = applySiteFile(actor.site, authorOf(actor), auditActor, plan.writes, comment);
  try {
    await inSite(deps.database, actor.site).batch([write, ...comparing]);
  } catch (error) {
    if (!(error instanceof Fault) || error.rows === undefined) throw error;
    if (error.kind === 'precondition-failed') throw planAgain();
    // Reports the public key or address that another client has got meanwhile, at its place in the file.
    await planFile(deps, actor, given, options);
    throw new Fault(error.kind, `nothing was applied: ${explained(error)}`, { cause: error });
  }
  return plan;
}

const explained = ({ kind }: Fault): string =>
  kind === 'conflict'
    ? 'an address of the file may be another site’s, or a public key another API key’s'
    : 'the Allowed IPs of an API key are outside the addresses of the site';
