/** The traffic page: totals compared with the span before, charts, and totals by surface. */
import type { Chart, Figures, SurfaceFigures, Traffic } from './charts.ts';
import { latencyText, LONGER_MS } from './latency.ts';
import type { Between, Links } from './links.ts';
import { SPAN_NAMES, SPANS, type Span } from './span.ts';
import type { KeyTrafficRow } from '../../store/key-traffic.ts';
import { Count, KeyTraffic } from './keys.tsx';
import { Refreshed, Table, When } from '../web/ui.tsx';

export interface TrafficProps {
  readonly traffic: Traffic;
  readonly links: Links;
  readonly path: string;
}

export const instantOf = (seconds: number): string => new Date(seconds * 1000).toISOString();

const betweenOf = ({ times, end }: Traffic): Between => ({ from: times[0] ?? end, to: end });

/** Choice of the span, and of charts or a table. */
export const Spans = ({ span, path, isTable }: { span: Span; path: string; isTable: boolean }) => (
  <div class="heading">
    <nav class="tabs" aria-label="Time span">
      {SPAN_NAMES.map((name) => (
        <a href={`${path}?span=${name}${isTable ? '&as=table' : ''}`} aria-current={name === span ? 'page' : undefined}>
          {SPANS[name].title}
        </a>
      ))}
    </nav>
    <a href={`${path}?span=${span}${isTable ? '' : '&as=table'}`}>{isTable ? 'As charts' : 'As a table'}</a>
  </div>
);

/** Such as `12% more than in the 24 hours before`. */
function changeText(now: number, before: number, span: Span): string {
  const { before: when } = SPANS[span];
  if (now === before) return now === 0 ? `none in ${when} either` : `as many as in ${when}`;
  if (before === 0) return `none in ${when}`;
  const change = Math.round((Math.abs(now - before) / before) * 100);
  const text =
    change === 0 ? 'about as many as' : `${change.toLocaleString('en')}% ${now > before ? 'more' : 'fewer'} than`;
  return `${text} in ${when}`;
}

/** A number with what it is compared with; the whole of it leads to what is behind. */
const Tile = ({
  name,
  value,
  change,
  href,
}: {
  name: string;
  value: string;
  change: string;
  href?: string | undefined;
}) => (
  <div class="tile">
    <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
    <dd>
      {value} <small>{change}</small>
    </dd>
  </div>
);

const Tiles = ({ traffic, links, all }: Omit<TrafficProps, 'path'> & { all: SurfaceFigures }) => {
  const { span } = traffic;
  const { now, before } = all.compared;
  const between = betweenOf(traffic);
  const count = (name: string, of: 'answered' | 'refused' | 'failed', href?: string) => (
    <Tile {...{ name, href }} value={all[of].toLocaleString('en')} change={changeText(now[of], before[of], span)} />
  );
  return (
    <dl class="tiles">
      {count('Answered', 'answered', '#surfaces')}
      {count('Rejected', 'refused', links.refused(null, between))}
      {count('Failed', 'failed', links.failed(null, between))}
      <Tile
        name="95 of 100 answers took"
        value={latencyText(all.p95)}
        change={before.p95 === null ? '' : `${latencyText(before.p95)} in ${SPANS[span].before}`}
      />
    </dl>
  );
};

interface FigureProps {
  readonly chart: Chart;
  readonly traffic: Traffic;
  readonly links: Links;
  readonly all: SurfaceFigures;
}

/** The total of the span, for the legend. */
function overall({ unit, name }: Chart, at: number, { figures }: Traffic, all: SurfaceFigures): string {
  if (unit === 'ms') return latencyText(at === 0 ? all.median : all.p95);
  const found = figures[at] ?? all;
  return (name === 'answered' ? found.answered : found.refused + found.failed).toLocaleString('en');
}

/** traffic.js draws the chart and shows the values; the table has the same figures. */
const ChartFigure = ({ chart, traffic, links, all }: FigureProps) => {
  const { name, title, unit, series } = chart;
  const drawn = {
    unit,
    longer: LONGER_MS,
    series: series.map(({ label, values, surface }) => ({
      label,
      values,
      // traffic.js puts the step that was chosen in the place of the whole span.
      href: name === 'latency' ? undefined : links[name](surface, betweenOf(traffic)),
    })),
  };
  return (
    <figure>
      <figcaption>
        {title} <span class="quiet" data-reading></span>
      </figcaption>
      <div
        class="chart"
        data-chart={JSON.stringify(drawn)}
        role="img"
        aria-label={`Chart: ${title}; its figures are in the table`}
      ></div>
      <ul class="legend">
        {series.map(({ label }, at) => (
          <li>
            <span class={`swatch series-${at + 1}`}></span>
            {label}
            <strong>{overall(chart, at, traffic, all)}</strong>
          </li>
        ))}
      </ul>
    </figure>
  );
};

const NONE: Figures = { answered: 0, refused: 0, failed: 0, median: null, p95: null };

interface PageProps extends TrafficProps {
  readonly keys: readonly KeyTrafficRow[];
  readonly timeZone: string;
}

export const TrafficPage = ({ traffic, links, path, keys, timeZone }: PageProps) => {
  const { span, times, end, charts, figures } = traffic;
  const between = betweenOf(traffic);
  const all = figures.at(-1) ?? { ...NONE, surface: null, label: 'All', compared: { now: NONE, before: NONE } };
  const table = `${path}?span=${span}&as=table`;
  return (
    <>
      <Spans {...{ span, path }} isTable={false} />
      <Refreshed id="traffic" seconds={60}>
        <p class="quiet">
          Since <When at={instantOf(between.from)} />
        </p>
        <Tiles {...{ traffic, links, all }} />
        <div class="charts" data-traffic={JSON.stringify({ times, end, timeZone, table })}>
          {charts.map((chart) => (
            <ChartFigure {...{ chart, traffic, links, all }} />
          ))}
        </div>
        <h2 id="surfaces">By surface</h2>
        <Table
          label="By surface"
          rows={figures}
          columns={{
            Surface: (row) => row.label,
            Answered: (row) => (
              <td class="number">
                <Count count={row.answered} href={links.answered(row.surface, between)} />
              </td>
            ),
            Rejected: (row) => (
              <td class="number">
                <Count count={row.refused} href={links.refused(row.surface, between)} />
              </td>
            ),
            Failed: (row) => (
              <td class="number">
                <Count count={row.failed} href={links.failed(row.surface, between)} />
              </td>
            ),
            Median: (row) => <td class="number">{latencyText(row.median)}</td>,
            '95th percentile': (row) => <td class="number">{latencyText(row.p95)}</td>,
            Change: (row) => (
              <td class="quiet">{changeText(row.compared.now.answered, row.compared.before.answered, span)}</td>
            ),
          }}
        />
        <KeyTraffic {...{ keys, between }} links={links.ofKey} />
      </Refreshed>
    </>
  );
};
