/** The first page: what is configured, what goes on, who carries the messages. */
import type { SidecarRow } from '../../store/sidecar.ts';
import type { SiteSummary } from '../../store/site.ts';
import type { Charts } from './charts.ts';
import { type Endpoint, ENDPOINT_TITLES } from './endpoints.ts';
import { Badge, Empty, Row, Table, When } from '../web/ui.tsx';

interface OverviewProps {
  readonly endpoints: readonly Endpoint[];
  readonly summary: SiteSummary;
  readonly charts: Charts;
  readonly sidecars: readonly SidecarRow[];
  readonly path: string;
}

const Number = ({ value, label }: { value: number; label: string }) => (
  <div>
    <dt>{label}</dt>
    <dd>{value.toLocaleString('en')}</dd>
  </div>
);

const SPANS = [
  { span: '24h', title: 'Last 24 hours' },
  { span: '30d', title: 'Last 30 days' },
] as const;

const total = (values: readonly (number | null)[]): number =>
  values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

const highest = (values: readonly (number | null)[]): number => Math.max(0, ...values.map((value) => value ?? 0));

const ChartFigure = ({ chart, times }: { chart: Charts['charts'][number]; times: readonly number[] }) => (
  <figure>
    <figcaption>{chart.title}</figcaption>
    <div
      class="chart"
      data-chart={JSON.stringify({ ...chart, times })}
      role="img"
      aria-label={`Chart: ${chart.title}; its figures are in the list below`}
    ></div>
    <ul class="legend">
      {chart.series.map(({ label, values }, at) => (
        <li>
          <span class={`swatch series-${at + 1}`}></span>
          {label}
          <strong>{chart.unit === 'ms' ? `up to ${highest(values)} ms` : total(values).toLocaleString('en')}</strong>
        </li>
      ))}
    </ul>
  </figure>
);

export const Overview = ({ endpoints, summary, charts, sidecars, path }: OverviewProps) => (
  <>
    <dl class="numbers">
      <Number value={summary.active_keys} label="active API keys" />
      <Number value={summary.disabled_keys} label="disabled API keys" />
      <Number value={summary.messages_today} label="HL7 messages in 24 hours" />
      <Number value={summary.refusals_today} label="refusals in 24 hours" />
    </dl>
    <section aria-labelledby="charts">
      <div class="heading">
        <h2 id="charts">Traffic</h2>
        <nav class="tabs" aria-label="Time span">
          {SPANS.map(({ span, title }) => (
            <a href={`${path}?span=${span}`} aria-current={span === charts.span ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </div>
      <div class="charts">
        {charts.charts.map((chart) => (
          <ChartFigure chart={chart} times={charts.times} />
        ))}
      </div>
    </section>
    <section aria-labelledby="endpoints">
      <div class="heading">
        <h2 id="endpoints">Endpoints</h2>
        <a href={`${path}/health`}>Is all well here?</a>
      </div>
      <Table label="Endpoints" head={['Endpoint', 'Status', 'Value', 'Setting']}>
        {endpoints.map(({ name, status, value }) => (
          <Row>
            <th scope="row">{ENDPOINT_TITLES[name]}</th>
            <td>
              {status === 'configured' ? (
                <Badge tone="good">configured</Badge>
              ) : (
                <Badge tone="warn">not configured</Badge>
              )}
            </td>
            <td class="value">{value ?? ''}</td>
            <td>
              <code>{name}</code>
            </td>
          </Row>
        ))}
      </Table>
    </section>
    <section aria-labelledby="sidecars">
      <h2 id="sidecars">MLLP sidecars</h2>
      {sidecars.length === 0 ? (
        <Empty>None has called in the last seven days.</Empty>
      ) : (
        <Table label="MLLP sidecars" head={['Sidecar', 'Last seen', 'First seen']}>
          {sidecars.map(({ issuer, last_seen, first_seen }) => (
            <Row>
              <th scope="row">
                <code>{issuer}</code>
              </th>
              <td>
                <When at={last_seen} />
              </td>
              <td>
                <When at={first_seen} />
              </td>
            </Row>
          ))}
        </Table>
      )}
    </section>
  </>
);
