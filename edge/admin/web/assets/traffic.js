/*
 * The charts of Traffic (uPlot): counts as stacked bars, latency as lines. The pointer or the arrow keys choose a step, whose
 * values the legend shows; a click or Enter opens the list behind it.
 */
/* A custom property as a color of the current scheme, which a canvas can draw. */
function colorOf(element, name) {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

/* A browser that does not know the zone shows UTC. */
function zoneOf(timeZone) {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}

function draw(element, { times, end, timeZone, table }) {
  const { series, unit, longer } = JSON.parse(element.dataset.chart);
  const isLatency = unit === 'ms';
  const zone = zoneOf(timeZone);
  const formats = Object.fromEntries(
    Object.entries({
      time: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
      day: { day: 'numeric', month: 'short' },
      weekday: { weekday: 'short', day: 'numeric', month: 'short' },
    }).map(([name, parts]) => [name, new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: zone })]),
  );
  const timeOf = (seconds) => formats.time.format(seconds * 1000);
  const labelOf = (seconds) => (timeOf(seconds) === '00:00' ? formats.day.format(seconds * 1000) : timeOf(seconds));
  const endOf = (step) => times[step + 1] ?? end;
  const isDays = times.length > 1 && times[1] - times[0] > 7200;
  const spanOf = (step) => {
    const day = formats.weekday.format(times[step] * 1000);
    return isDays ? day : `${day}, ${timeOf(times[step])} to ${timeOf(endOf(step))}`;
  };
  const seconds = (ms) => (ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`);
  const said = (value) => {
    if (!isLatency) return (value ?? 0).toLocaleString('en');
    return value == null ? 'none' : value >= longer ? `over ${seconds(longer - 1)}` : `up to ${seconds(value)}`;
  };

  // Stacked: the sum of all is drawn first, each smaller one over it.
  const sums = series.map((_, at) =>
    times.map((__, step) => series.slice(0, at + 1).reduce((sum, { values }) => sum + (values[step] ?? 0), 0)),
  );
  const order = isLatency ? series.map((_, at) => at) : series.map((_, at) => series.length - 1 - at);
  const figure = element.closest('figure');
  const reading = figure.querySelector('[data-reading]');
  const totals = [...figure.querySelectorAll('.legend strong')];
  const overall = totals.map((total) => total.textContent);
  const size = () => ({ width: element.clientWidth, height: element.clientHeight });
  const axis = {
    stroke: colorOf(element, '--quiet'),
    grid: { stroke: colorOf(element, '--line'), width: 1 },
    ticks: { show: false },
  };
  const steps = [1, 2, 5]
    .flatMap((n) => [n, n * 10, n * 100, n * 1e3, n * 1e4, n * 1e5, n * 1e6])
    .sort((a, b) => a - b);

  let chosen = null;
  const tell = (step) => {
    chosen = step;
    reading.textContent = step === null ? '' : spanOf(step);
    totals.forEach((total, at) => {
      total.textContent = step === null ? overall[at] : said(series[at].values[step]);
    });
    if (element.getAttribute('role') !== 'slider') return;
    element.setAttribute('aria-valuenow', step ?? times.length - 1);
    const values = series.map(({ label, values }) => `${label} ${said(values[step])}`);
    element.setAttribute('aria-valuetext', step === null ? 'no time chosen' : `${spanOf(step)}: ${values.join(', ')}`);
  };

  element.replaceChildren();
  // Aborted with the chart, so that its listeners end.
  const listening = new AbortController();
  const plot = new uPlot(
    {
      ...size(),
      legend: { show: false },
      tzDate: (time) => uPlot.tzDate(new Date(time * 1000), zone),
      cursor: { drag: { x: false, y: false }, points: { show: isLatency } },
      scales: {
        x: { range: () => [times[0], end] },
        y: { range: (_, __, high) => [0, Math.max(high ?? 0, 1) * 1.05] },
      },
      axes: [
        { ...axis, size: 30, space: 60, values: (_, splits) => splits.map(labelOf) },
        {
          ...axis,
          size: 56,
          incrs: steps,
          values: (_, splits) => splits.map((value) => (isLatency ? seconds(value) : value.toLocaleString('en'))),
        },
      ],
      series: [
        {},
        ...order.map((at) => {
          const colour = colorOf(element, `--series-${at + 1}`);
          return isLatency
            ? { stroke: colour, width: 2, spanGaps: false, points: { show: true, size: 5 } }
            : {
                stroke: colour,
                fill: colour,
                width: 0,
                points: { show: false },
                paths: uPlot.paths.bars({ size: [0.85, 40], align: 1 }),
              };
        }),
      ],
      hooks: {
        destroy: [() => listening.abort()],
        setCursor: [
          ({ cursor: { left } }) => {
            // A bar begins where its step does; uPlot's own index is of the nearest beginning.
            if (left < 0) return tell(null);
            const at = plot.posToVal(left, 'x');
            tell(
              Math.max(
                0,
                times.findLastIndex((time) => time <= at),
              ),
            );
          },
        ],
      },
    },
    [times, ...order.map((at) => (isLatency ? series[at].values : sums[at]))],
    element,
  );
  new ResizeObserver(() => plot.setSize(size())).observe(element);

  /* Opens the list behind a step: that of the series under the pointer, else the step's row of the table. */
  const go = (step, at) => {
    const href = at === undefined ? undefined : series[at].href;
    if (href === undefined) return location.assign(`${table}#t${times[step]}`);
    const url = new URL(href, location.href);
    url.searchParams.set('from', new Date(times[step] * 1000).toISOString());
    url.searchParams.set('to', new Date(endOf(step) * 1000).toISOString());
    location.assign(url);
  };
  plot.over.addEventListener('click', () => {
    if (chosen === null) return;
    const value = plot.posToVal(plot.cursor.top, 'y');
    const at = isLatency ? -1 : sums.findIndex((sum) => value <= sum[chosen]);
    go(chosen, at === -1 ? undefined : at);
  });

  element.tabIndex = 0;
  element.setAttribute('role', 'slider');
  element.setAttribute('aria-label', `${figure.querySelector('figcaption').firstChild.textContent.trim()}, by time`);
  element.setAttribute('aria-valuemin', 0);
  element.setAttribute('aria-valuemax', times.length - 1);
  tell(null);
  const keyed = (event) => {
    const last = times.length - 1;
    const from = chosen ?? last + 1;
    const next = {
      ArrowLeft: from - 1,
      ArrowDown: from - 1,
      ArrowRight: from + 1,
      ArrowUp: from + 1,
      Home: 0,
      End: last,
    }[event.key];
    if (event.key === 'Enter' && chosen !== null) go(chosen);
    if (event.key === 'Escape') plot.setCursor({ left: -10, top: -10 });
    if (next === undefined) return;
    event.preventDefault();
    const step = Math.min(last, Math.max(0, next));
    // A pixel into the step, so that rounding does not choose the one before.
    plot.setCursor({ left: plot.valToPos(times[step], 'x') + 1, top: 10 });
    tell(step);
  };
  const { signal } = listening;
  element.addEventListener('keydown', keyed, { signal });
  element.addEventListener('blur', () => plot.setCursor({ left: -10, top: -10 }), { signal });
  return plot;
}

let plots = [];
function drawAll() {
  for (const plot of plots) plot.destroy();
  plots = [...document.querySelectorAll('[data-traffic]')].flatMap((part) =>
    [...part.querySelectorAll('[data-chart]')].map((element) => draw(element, JSON.parse(part.dataset.traffic))),
  );
}
drawAll();
document.addEventListener('refreshed', drawAll);
// A chart is drawn with the colors of the scheme: draw it again when the scheme changes.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
