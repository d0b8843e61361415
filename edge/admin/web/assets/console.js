/* What a page cannot do by itself: copying a text, and drawing the charts. Without it everything else still works. */
for (const button of document.querySelectorAll('[data-copy]')) {
  const label = button.textContent;
  const say = (text) => {
    button.textContent = text;
    setTimeout(() => (button.textContent = label), 1500);
  };
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(button.dataset.copy).then(
      () => say('Copied'),
      () => say('Not copied'),
    );
  });
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function draw(element) {
  const { times, series, unit } = JSON.parse(element.dataset.chart);
  const [first, second] = times;
  // Days have dates, quarters of an hour the time of day; in UTC like all times of the console.
  const label = (time) => {
    const at = new Date(time * 1000).toISOString();
    return second - first < 86400 ? at.slice(11, 16) : at.slice(5, 10);
  };
  const axis = { stroke: style('--quiet'), grid: { stroke: style('--line'), width: 1 }, ticks: { show: false } };
  const size = () => ({ width: element.clientWidth, height: element.clientHeight });
  element.replaceChildren();
  const plot = new uPlot(
    {
      ...size(),
      legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      scales: { y: { range: (_, low, high) => [0, Math.max(high ?? 0, 1) * 1.05] } },
      axes: [
        { ...axis, size: 30, values: (_, values) => values.map(label) },
        { ...axis, size: 52, values: (_, values) => values.map((value) => (unit === 'ms' ? `${value} ms` : value)) },
      ],
      series: [
        {},
        ...series.map(({ label }, at) => ({
          label,
          stroke: style(`--series-${at + 1}`),
          width: 2,
          spanGaps: false,
          points: { show: unit === 'ms' },
        })),
      ],
    },
    [times, ...series.map(({ values }) => values)],
    element,
  );
  new ResizeObserver(() => plot.setSize(size())).observe(element);
  return plot;
}

const charts = [...document.querySelectorAll('[data-chart]')];
if (typeof uPlot === 'function') {
  let plots = charts.map(draw);
  // Colours are taken when a chart is drawn: again when the reader changes between light and dark.
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const plot of plots) plot.destroy();
    plots = charts.map(draw);
  });
}
