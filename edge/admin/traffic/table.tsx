/** The figures of the charts as a table: each step with requests, with links. */
import { Empty, Row, Table, When } from '../web/ui.tsx';
import type { Chart, Series, Traffic } from './charts.ts';
import { latencyText } from './latency.ts';
import type { Links } from './links.ts';
import { instantOf, Spans, type TrafficProps } from './page.tsx';

const LATENCY_HEAD = ['Median', '95th percentile'];

interface StepProps {
  readonly traffic: Traffic;
  readonly links: Links;
  readonly step: number;
}

const seriesOf = (charts: readonly Chart[], name: Chart['name']): readonly Series[] =>
  charts.find((chart) => chart.name === name)?.series ?? [];

const Counts = ({
  chart,
  step,
  hrefOf,
}: {
  chart: readonly Series[];
  step: number;
  hrefOf: (of: Series) => string | undefined;
}) => {
  const counted = chart.filter(({ values }) => (values[step] ?? 0) > 0);
  return (
    <>
      {counted.map((series, at) => {
        const href = hrefOf(series);
        const text = `${series.label} ${(series.values[step] ?? 0).toLocaleString('en')}`;
        return (
          <>
            {at === 0 ? '' : ', '}
            {href === undefined ? text : <a href={href}>{text}</a>}
          </>
        );
      })}
    </>
  );
};

const Step = ({ traffic: { times, end, charts }, links, step }: StepProps) => {
  const between = { from: times[step] ?? end, to: times[step + 1] ?? end };
  return (
    <Row>
      <th scope="row" id={`t${between.from}`}>
        <When at={instantOf(between.from)} />
      </th>
      <td>
        <Counts
          chart={seriesOf(charts, 'answered')}
          step={step}
          hrefOf={({ surface }) => links.answered(surface, between)}
        />
      </td>
      <td>
        <Counts
          chart={seriesOf(charts, 'refused')}
          step={step}
          hrefOf={({ surface }) => links.refused(surface, between)}
        />
      </td>
      {seriesOf(charts, 'latency').map(({ values }) => (
        <td class="number">{latencyText(values[step] ?? null)}</td>
      ))}
    </Row>
  );
};

export const TrafficTable = ({ traffic, links, path }: TrafficProps) => {
  const { charts, span } = traffic;
  const busy = traffic.times
    .map((_, step) => step)
    .filter((step) => charts.some(({ series }) => series.some(({ values }) => (values[step] ?? 0) > 0)))
    .toReversed();
  return (
    <>
      <Spans {...{ span, path }} isTable />
      {busy.length === 0 ? (
        <Empty>No requests in this time.</Empty>
      ) : (
        <Table label="Traffic" head={['From', 'Answered', 'Rejected and failed', ...LATENCY_HEAD]}>
          {busy.map((step) => (
            <Step {...{ traffic, links, step }} />
          ))}
        </Table>
      )}
    </>
  );
};
