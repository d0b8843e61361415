/** Seeded defects of /metrics: who reads it, and whether what it tells is true. */
import type { Mutant } from './mutant.ts';

const SUMS = ['test/integration/store/metrics.test.ts'];
const COUNTING = ['test/unit/http/usage.test.ts'];
const OVER_HTTP = ['test/contract/metrics.test.ts'];

export const METRICS: readonly Mutant[] = [
  {
    name: 'metrics are for everybody',
    file: 'edge/metrics/metrics.ts',
    find: 'given === undefined || !(await isToken(given, config.METRICS_TOKEN))',
    replace: 'config.METRICS_TOKEN.length === 0',
    tests: OVER_HTTP,
    only: 'on deno.*whoever has the token',
  },
  {
    name: 'without a token anybody is let in',
    file: 'edge/metrics/metrics.ts',
    find: 'if (config.METRICS_TOKEN === undefined) return undefined;',
    replace: "config = { METRICS_TOKEN: ['undefined'], ...config };",
    tests: ['test/integration/probes.test.ts'],
    only: 'without METRICS_TOKEN',
  },
  {
    name: 'a total falls with the charts',
    file: 'migrations/functions/metrics_told.sql',
    find: 'from usage_total u order by',
    replace: 'from usage_total u join usage using (site_id, surface, outcome) order by',
    tests: SUMS,
  },
  {
    name: 'a clock that is ahead keeps a feed alive',
    file: 'migrations/functions/usage_noted.sql',
    find: 'least(to_timestamp(x.at / 1000.0), clock_timestamp())',
    replace: 'to_timestamp(x.at / 1000.0)',
    tests: SUMS,
  },
  {
    name: 'a count that comes late makes a feed silent',
    file: 'migrations/functions/usage_noted.sql',
    find: 'greatest(f.last_at, excluded.last_at)',
    replace: 'excluded.last_at',
    tests: SUMS,
  },
  {
    name: 'the feed of a disabled key is told',
    file: 'migrations/functions/metrics_told.sql',
    find: " and k.status = 'active'",
    replace: '',
    tests: SUMS,
  },
  {
    name: 'buckets are not cumulative',
    file: 'edge/metrics/families.ts',
    find: 'below += latency[step] ?? 0;',
    replace: 'below = latency[step] ?? 0;',
    tests: SUMS,
  },
  {
    name: 'a label may end its line',
    file: 'edge/metrics/exposition.ts',
    find: '`${label}="${escape(text)}"`',
    replace: '`${label}="${text}"`',
    tests: SUMS,
  },
  {
    name: 'a message that nobody stored is a sign of life',
    file: 'edge/http/usage.ts',
    find: 'messages === undefined\n',
    replace: '!messages?.length\n',
    tests: COUNTING,
  },
  {
    name: 'a feed has the time of its first message',
    file: 'edge/http/usage.ts',
    find: 'key.at = at;',
    replace: '',
    tests: COUNTING,
  },
  {
    name: 'counts grow without end',
    file: 'edge/http/usage.ts',
    find: 'if (known !== undefined || entries.size >= MAX_COUNTS) return known;',
    replace: 'if (known !== undefined) return known;',
    tests: COUNTING,
  },
];
