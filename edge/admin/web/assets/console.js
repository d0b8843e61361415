/*
 * What a page cannot do by itself: copying a text, saying how long ago something was, and drawing the charts. Without it
 * everything else still works.
 */
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

/* By the gateway's clock: a computer's own may be minutes off. */
const { serverTiming = [], responseStart = 0 } = performance.getEntriesByType('navigation')[0] ?? {};
const told = Number(serverTiming.find(({ name }) => name === 'now')?.description);
const skew = told > 0 ? told - (Date.now() - performance.now() + responseStart) : 0;

const DAY = 86400;
const words = (seconds) => {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 2 * DAY) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / DAY)} days`;
};

/* The time itself stays on hover, before the exact one. */
function sayHowLongAgo() {
  for (const time of document.querySelectorAll('time[data-relative]')) {
    if (time.dataset.relative === '') {
      time.dataset.relative = time.textContent.trim();
      time.title = `${time.dataset.relative} (${time.title})`;
    }
    const ago = (Date.now() + skew - Date.parse(time.dateTime)) / 1000;
    const said =
      Math.abs(ago) < 5
        ? 'just now'
        : Math.abs(ago) > 30 * DAY
          ? time.dataset.relative
          : ago < 0
            ? `in ${words(-ago)}`
            : `${words(ago)} ago`;
    if (time.textContent !== said) time.textContent = said;
  }
}
sayHowLongAgo();
setInterval(sayHowLongAgo, 5000);

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
