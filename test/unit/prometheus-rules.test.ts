/**
 * The rules for Prometheus and the dashboard for Grafana: valid PromQL about metrics and labels that the gateway and the
 * sidecar have. If `promtool` is on the path, it checks the rules too.
 */
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';

import { parser } from '@prometheus-io/lezer-promql';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';

import { type Family, exposition } from '../../edge/metrics/exposition.ts';
import { familiesOf, familiesOfProcess } from '../../edge/metrics/families.ts';
import { createMetrics } from '../../sidecar/metrics.ts';
import { ROOT } from '../stack/services/build.ts';

const FILE = `${ROOT}edge/metrics/prometheus-rules.yaml`;
const DASHBOARD = `${ROOT}edge/metrics/grafana-dashboard.json`;

const file = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.union([
          z.strictObject({ record: z.string(), expr: z.string() }),
          z.strictObject({
            alert: z.string().regex(/^[A-Z][A-Za-z]+$/),
            expr: z.string(),
            for: z
              .string()
              .regex(/^\d+[smhd]$/)
              .optional(),
            labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
            annotations: z.strictObject({ summary: z.string().min(20), description: z.string().min(40) }),
          }),
        ]),
      ),
    }),
  ),
});
const all = file.parse(parse(await readFile(FILE, 'utf8'))).groups.flatMap((group) => group.rules);
const rules = all.flatMap((rule) => ('alert' in rule ? [rule] : []));
const records = all.flatMap((rule) => ('record' in rule ? [rule] : []));

const site = 'site';
const deployment = { schema: 1, version: 'v1', kids: ['k'] };
const families = [
  ...familiesOfProcess(deployment, true, {
    residentBytes: 1,
    heapBytes: 1,
    loopDelay: 0,
    pool: { busy: 0, idle: 1, waiting: 0 },
  }),
  ...familiesOf(
    {
      usage: JSON.stringify([{ site, surface: 'fhir', outcome: 'ok', durationMs: 1, latency: [1] }]),
      answers: JSON.stringify(['200', 'AA', 'token'].map((answer) => ({ site, surface: 'hl7', answer, answers: 1 }))),
      feeds: JSON.stringify([{ site, clientId: 'svc', surface: 'hl7', at: 1 }]),
      failed: JSON.stringify([{ site, messages: 1 }]),
      sidecars: JSON.stringify([{ name: 'sidecar', at: 1 }]),
      jobs: JSON.stringify([{ kind: 'reindex', open: 1, failed: 0, dueSeconds: 0 }]),
      alerts: JSON.stringify([{ site, kind: 'feed-silent', state: 'open', alerts: 1 }]),
      signing_keys: JSON.stringify([{ kid: 'k', at: 1 }]),
      counted: JSON.stringify({ usage: 1, answers: 3, feeds: 1 }),
      sites: JSON.stringify([{ site, name: 'Site' }]),
      subscriptions: JSON.stringify([
        { site, requested: 0, active: 1, error: 0, off: 0, events: 1, seconds: 1, accepted: 1, failed: 0 },
      ]),
    },
    deployment,
  ),
];

/** Labels that a scrape adds. */
const OF_PROMETHEUS = ['job', 'instance'];

/** Metrics with their labels. */
const known = new Map<string, ReadonlySet<string>>([
  ['up', new Set(OF_PROMETHEUS)],
  ...records.map(({ record }) => [record, new Set(['surface'])] as const),
  ...families.flatMap(({ name, samples }: Family) =>
    samples.map(
      ({ suffix, labels }) => [`${name}${suffix ?? ''}`, new Set([...Object.keys(labels), ...OF_PROMETHEUS])] as const,
    ),
  ),
  // The sidecar's labels that were never used are known by their declaration only.
  ...(await createMetrics().registry.getMetricsAsJSON()).flatMap(({ name }) =>
    ['', '_bucket', '_sum', '_count'].map(
      (suffix) => [`${name}${suffix}`, new Set(['result', 'reason', 'code', 'le', ...OF_PROMETHEUS])] as const,
    ),
  ),
]);

interface Named {
  readonly metrics: string[];
  readonly labels: string[];
  readonly errors: string[];
}

function namesIn(expression: string): Named {
  const found: Named = { metrics: [], labels: [], errors: [] };
  parser.parse(expression).iterate({
    enter({ type, from, to }) {
      const text = expression.slice(from, to);
      if (type.isError) found.errors.push(`at ${from}: ${expression.slice(from, from + 20)}`);
      if (type.name === 'Identifier') found.metrics.push(text);
      if (type.name === 'LabelName') found.labels.push(text);
    },
  });
  return found;
}

test('the check finds faulty PromQL, an unknown metric and an unknown label', () => {
  expect(namesIn('sum(rate(x[5m])').errors).not.toEqual([]);
  expect(namesIn('sum by (site) (rate(x_total{code="AA"}[5m])) > 1')).toEqual({
    metrics: ['x_total'],
    labels: ['site', 'code'],
    errors: [],
  });
});

/** @param reported labels that a text beside the expression names */
function expectKnown(expr: string, reported: readonly string[]): void {
  const { metrics, labels, errors } = namesIn(expr);
  expect(errors).toEqual([]);
  expect(metrics.length).toBeGreaterThan(0);
  expect(metrics.filter((name) => !known.has(name))).toEqual([]);
  const ofMetrics = new Set(metrics.flatMap((name) => [...(known.get(name) ?? [])]));
  expect([...labels, ...reported].filter((label) => !ofMetrics.has(label))).toEqual([]);
}

const captured = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = '']) => name);

test.each(records.map(({ record, expr }) => [record, expr] as const))('the series %s', (_, expr) =>
  expectKnown(expr, []),
);

test.each(rules.map((rule) => [rule.alert, rule] as const))('%s', (_, { expr, annotations }) => {
  expectKnown(expr, captured(annotations.summary, /\$labels\.(\w+)/g));
});

const dashboard = z
  .looseObject({
    panels: z.array(
      z.looseObject({
        id: z.number(),
        type: z.string(),
        title: z.string(),
        targets: z.array(z.looseObject({ expr: z.string(), legendFormat: z.string() })).default([]),
      }),
    ),
  })
  .parse(JSON.parse(await readFile(DASHBOARD, 'utf8')));
const drawn = dashboard.panels.flatMap(({ title, targets }) => targets.map((target) => [title, target] as const));

test.each(drawn)('the dashboard’s panel: %s', (_, { expr, legendFormat }) => {
  // Grafana replaces these.
  expectKnown(expr.replaceAll('$__rate_interval', '5m'), captured(legendFormat, /\{\{(\w+)\}\}/g));
});

test('the dashboard shows every metric of the gateway, and each panel once', () => {
  const shown = new Set(drawn.flatMap(([, { expr }]) => namesIn(expr.replaceAll('$__rate_interval', '5m')).metrics));
  const names = families.map(({ name }) => name).filter((name) => name !== 'gateway_info');
  expect(names.filter((name) => ![...shown].some((each) => each.startsWith(name)))).toEqual([]);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});

test('every alert has a different name', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

const promtool = spawnSync('promtool', ['--version']).status === 0;
test.skipIf(!promtool)('promtool, which is on the path, takes the rules and what is scraped', () => {
  const checked = spawnSync('promtool', ['check', 'rules', FILE], { encoding: 'utf8' });
  expect([checked.status, checked.stderr]).toEqual([0, '']);
  const scraped = spawnSync('promtool', ['check', 'metrics'], { encoding: 'utf8', input: exposition(families) });
  expect([scraped.status, scraped.stdout + scraped.stderr]).toEqual([0, '']);
  const tested = spawnSync('promtool', ['test', 'rules', 'test/unit/prometheus-rules.yaml'], {
    encoding: 'utf8',
    cwd: ROOT,
  });
  expect([tested.status, tested.stderr]).toEqual([0, '']);
});
