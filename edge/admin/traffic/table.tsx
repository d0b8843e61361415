/** The figures of the charts as a table: each step with requests, with links. */
import { Table, When } from '../web/ui.tsx';
import type { Chart, Series } from './charts.ts';
import { latencyText } from './latency.ts';
import { instantOf, Spans, type TrafficProps } from './page.tsx';

const seriesOf = (charts: readonly Chart[], name: Chart['name']): readonly Series[] =>
  charts.find((chart) => chart.name === name)?.series ?? [];

/** `FHIR 3, Token 1`, with links. */
const countsOf = (chart: readonly Series[], step: number, hrefOf: (of: Series) => string | undefined) =>
  chart
    .filter(({ values }) => (values[step] ?? 0) > 0)
    .map((series, at) => {
      const href = hrefOf(series);
      const text = `${series.label} ${(series.values[step] ?? 0).toLocaleString('en')}`;
      return (
        <>
          {at === 0 ? '' : ', '}
          {href === undefined ? text : <a href={href}>{text}</a>}
        </>
      );
    });

export const TrafficTable = ({ traffic, links, path }: TrafficProps) => {
  const { charts, span, times, end } = traffic;
  const busy = times
    .map((_, step) => step)
    .filter((step) => charts.some(({ series }) => series.some(({ values }) => (values[step] ?? 0) > 0)))
    .toReversed();
  const between = (step: number) => ({ from: times[step] ?? end, to: times[step + 1] ?? end });
  const latency = (at: number) => (step: number) => (
    <td class="number">{latencyText(seriesOf(charts, 'latency')[at]?.values[step] ?? null)}</td>
  );
  return (
    <>
      <Spans {...{ span, path }} isTable />
      <Table
        label="Traffic"
        rows={busy}
        empty="No requests in this time."
        columns={{
          From: (step) => (
            <th scope="row" id={`t${between(step).from}`}>
              <When at={instantOf(between(step).from)} />
            </th>
          ),
          Answered: (step) =>
            countsOf(seriesOf(charts, 'answered'), step, ({ surface }) => links.answered(surface, between(step))),
          'Rejected and failed': (step) =>
            countsOf(seriesOf(charts, 'refused'), step, ({ surface }) => links.refused(surface, between(step))),
          Median: latency(0),
          '95th percentile': latency(1),
        }}
      />
    </>
  );
};
