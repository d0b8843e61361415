/*
 * What a page cannot do by itself: copying a text, saying how long ago something was, and keeping a section up to date.
 * Without it everything else still works.
 */
document.addEventListener('click', ({ target }) => {
  const button = target.closest('[data-copy]');
  if (button === null) return;
  button.dataset.label ??= button.textContent;
  const say = (text) => {
    button.textContent = text;
    setTimeout(() => (button.textContent = button.dataset.label), 1500);
  };
  navigator.clipboard.writeText(button.dataset.copy).then(
    () => say('Copied'),
    () => say('Not copied'),
  );
});

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

/*
 * A section that keeps itself up to date. Its state stands below it, where no screen reader announces it; only that it has
 * ended is announced.
 */
function keepFresh(id, seconds) {
  const state = document.createElement('p');
  state.className = 'refreshed quiet';
  const words = state.appendChild(document.createElement('span'));
  const button = state.appendChild(document.createElement('button'));
  button.type = 'button';
  button.className = 'small';
  button.textContent = 'Pause';
  document.getElementById(id).after(state);
  let at = Date.now();
  let next = at + seconds * 1000;
  let isPaused = false;
  let isAway = false;
  let isAsking = false;
  let hasEnded = false;

  const isInUse = (section) => {
    const selection = getSelection();
    return (
      section.contains(document.activeElement) ||
      section.querySelector('details[open]:not([data-open])') !== null ||
      (selection !== null && !selection.isCollapsed && section.contains(selection.anchorNode))
    );
  };
  const say = () => {
    const ago = Math.round((Date.now() - at) / 1000);
    const since = ago < 5 ? 'Updated just now' : `Updated ${ago < 60 ? `${ago} s` : `${Math.floor(ago / 60)} min`} ago`;
    const why = isPaused ? ', paused' : isAway ? ': the gateway does not answer' : '';
    words.textContent = `${since}${why}. `;
    button.textContent = isPaused ? 'Go on' : 'Pause';
  };
  const end = () => {
    hasEnded = true;
    clearInterval(ticking);
    state.setAttribute('role', 'status');
    const link = Object.assign(document.createElement('a'), { href: location.href, textContent: 'Sign in again' });
    state.replaceChildren('This is not updated any more: your session has ended. ', link);
  };
  const refresh = async () => {
    const answer = await fetch(location.href, { headers: { 'Gateway-Refresh': '1' }, redirect: 'manual' });
    if (answer.type === 'opaqueredirect' || answer.status === 401) return end();
    if (!answer.ok) throw new Error(answer.statusText);
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById(id);
    const section = document.getElementById(id);
    // Somebody may have begun to do something in it meanwhile.
    if (fresh === null || isPaused || isInUse(section)) return;
    section.replaceWith(fresh);
    at = Date.now();
    isAway = false;
    sayHowLongAgo();
    document.dispatchEvent(new Event('refreshed'));
  };
  const tick = async () => {
    if (!hasEnded) say();
    if (isPaused || isAsking || hasEnded || document.hidden || Date.now() < next) return;
    if (isInUse(document.getElementById(id))) return;
    isAsking = true;
    next = Date.now() + seconds * 1000;
    await refresh().catch(() => (isAway = true));
    isAsking = false;
    if (!hasEnded) say();
  };
  button.addEventListener('click', () => {
    isPaused = !isPaused;
    say();
  });
  const ticking = setInterval(() => void tick(), 1000);
  document.addEventListener('visibilitychange', () => void tick());
  say();
}
for (const { id, dataset } of document.querySelectorAll('[data-refresh]')) keepFresh(id, Number(dataset.refresh));
