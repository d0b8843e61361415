/** Seeded defects of the runner of background work; those of its SQL functions that guard a site or a lock are in sql.ts. */
import type { Mutant } from './mutant.ts';

const JOBS = ['test/integration/jobs/jobs.test.ts'];

const REPLAYS = ['test/integration/hl7/replays.test.ts'];

const RETENTION = ['test/integration/jobs/retention.test.ts'];

export const JOB_RUNNER: readonly Mutant[] = [
  {
    name: 'retention: the refusals of another site go too',
    file: 'migrations/functions/retention_step.sql',
    find: 'where o.site_id = p_site and o.since < until.attempts',
    replace: 'where o.since < until.attempts',
    tests: RETENTION,
  },
  {
    name: 'retention: a step forgets all messages at once',
    file: 'migrations/functions/retention_step.sql',
    find: 'order by m.received_at, m.message_id limit p_limit for update skip locked',
    replace: 'order by m.received_at, m.message_id for update skip locked',
    tests: RETENTION,
  },
  {
    name: 'retention: a message that the gateway failed at is forgotten',
    file: 'migrations/functions/retention_step.sql',
    find: 'm.received_at < until.messages and not m.has_failed',
    replace: 'm.received_at < until.messages',
    tests: RETENTION,
  },
  {
    name: 'retention: the audit goes sooner than its owner has set',
    file: 'migrations/functions/audit_forget.sql',
    find: 'o.at < least(p_before, now() - make_interval(days => (select m.days from audit_minimum_age m)))',
    replace: 'o.at < p_before',
    tests: RETENTION,
  },
  {
    name: 'retention: a legal hold holds nothing',
    file: 'migrations/functions/retention_until.sql',
    find: ' and not s.legal_hold',
    replace: '',
    tests: RETENTION,
  },
  {
    name: 'retention: a runner whose clock is ahead forgets',
    file: 'migrations/functions/retention_until.sql',
    find: 'least(p_now, clock_timestamp())',
    replace: 'p_now',
    tests: RETENTION,
  },
  {
    name: 'retention: a forgotten message does not block its duplicate',
    file: 'migrations/functions/hl7_messages_forget.sql',
    find: 'refused uuid[] := array(select m from unnest(p_messages) m where m <> all (accepted));',
    replace: 'refused uuid[] := p_messages;',
    tests: RETENTION,
  },
  {
    name: 'hl7_take: a step of a replay that is run twice replays twice',
    file: 'migrations/functions/hl7_take.sql',
    find: 'and a.job_id = m."jobId";',
    replace: 'and false;',
    tests: REPLAYS,
  },
  {
    name: 'hl7_take: what failed is tried again by nobody',
    file: 'migrations/functions/hl7_take.sql',
    find: 'if m."hasFailed" then',
    replace: 'if false then',
    tests: REPLAYS,
  },
  {
    name: 'what failed is tried again for ever',
    file: 'edge/store/hl7-replay.ts',
    find: 'and a.tries < cardinality($2::integer[])',
    replace: 'and cardinality($2::integer[]) > 0',
    tests: REPLAYS,
  },
  {
    name: 'what failed is tried again at once',
    file: 'edge/store/hl7-replay.ts',
    find: 'clock_timestamp() - make_interval(mins => ($2::integer[])[a.tries + 1])',
    replace: 'clock_timestamp()',
    tests: REPLAYS,
  },
  {
    name: 'a replay means what came after it was asked for',
    file: 'edge/store/hl7-replay.ts',
    find: 'and m.message_id <= $10::uuid',
    replace: 'and $10::uuid is not null',
    tests: REPLAYS,
  },
  {
    name: 'a replay is shown to another site',
    file: 'edge/store/hl7-replay.ts',
    find: 'where j.site_id = ${site}::uuid and j.kind',
    replace: "where ${site} <> '' and j.kind",
    tests: REPLAYS,
  },
  {
    name: 'a step that no runner survives is tried for ever',
    file: 'edge/jobs/tick.ts',
    find: 'row.attempts > MAX_ATTEMPTS',
    replace: 'row.attempts > 1e9',
    tests: JOBS,
  },
  {
    name: 'a step that fails is tried once too often',
    file: 'edge/jobs/tick.ts',
    find: 'row.attempts < MAX_ATTEMPTS ?',
    replace: 'row.attempts <= MAX_ATTEMPTS ?',
    tests: JOBS,
  },
  {
    name: 'a runner does not look at its time',
    file: 'edge/jobs/tick.ts',
    find: 'while (deps.now() < until)',
    replace: 'while (deps.now() > 0)',
    tests: JOBS,
  },
  {
    name: 'job_claim: a step that failed is tried again at once',
    file: 'migrations/functions/job_claim.sql',
    find: 'd.run_after <= clock_timestamp() and ',
    replace: '',
    tests: JOBS,
  },
  {
    name: 'job_advance: failures of other steps count',
    file: 'migrations/functions/job_advance.sql',
    find: 'attempts = 0, ',
    replace: '',
    tests: JOBS,
  },
  {
    name: 'job_fail: who lost the lease hands the job back',
    file: 'migrations/functions/job_fail.sql',
    find: 'where j.job_id = p_id and j.lease = p_lease;',
    replace: 'where j.job_id = p_id;',
    tests: JOBS,
  },
  {
    name: 'job_resume: failures before it count',
    file: 'migrations/functions/job_resume.sql',
    find: 'attempts = 0, ',
    replace: '',
    tests: JOBS,
  },
];
