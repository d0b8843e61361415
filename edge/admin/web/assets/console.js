/*
 * Copies texts, shows relative times, and refreshes sections. Everything else works without this script.
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

/* A page that shows a new secret answers a form. A reload must not send the form again, and make another secret. */
if (document.querySelector('.notice.good [data-copy]') !== null) history.replaceState(null, '', location.href);

/* The clock of the gateway; that of the computer may be minutes off. */
const { serverTiming = [], responseStart = 0 } = performance.getEntriesByType('navigation')[0] ?? {};
const serverTime = Number(serverTiming.find(({ name }) => name === 'now')?.description);
const skew = serverTime > 0 ? serverTime - (Date.now() - performance.now() + responseStart) : 0;

const DAY = 86400;
const durationOf = (seconds) => {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 2 * DAY) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / DAY)} days`;
};

/* Hovering shows the local time and the exact time. */
function showRelativeTimes() {
  for (const time of document.querySelectorAll('time[data-relative]')) {
    if (time.dataset.relative === '') {
      time.dataset.relative = time.textContent.trim();
      time.title = `${time.dataset.relative} (${time.title})`;
    }
    const ago = (Date.now() + skew - Date.parse(time.dateTime)) / 1000;
    const shown =
      Math.abs(ago) < 5
        ? 'just now'
        : Math.abs(ago) > 30 * DAY
          ? time.dataset.relative
          : ago < 0
            ? `in ${durationOf(-ago)}`
            : `${durationOf(ago)} ago`;
    if (time.textContent !== shown) time.textContent = shown;
  }
}
showRelativeTimes();
setInterval(showRelativeTimes, 5000);

/*
 * Refreshes a section. Its state is below it, where screen readers do not announce it; they announce only the end of the
 * session.
 */
function keepFresh(id, seconds) {
  const state = document.createElement('p');
  state.className = 'refreshed quiet';
  const status = state.appendChild(document.createElement('span'));
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
    status.textContent = `${since}${why}. `;
    button.textContent = isPaused ? 'Resume' : 'Pause';
  };
  const end = (why, next) => {
    hasEnded = true;
    clearInterval(ticking);
    state.setAttribute('role', 'status');
    const link = Object.assign(document.createElement('a'), { href: location.href, textContent: next });
    state.replaceChildren(`Updates have stopped: ${why}. `, link);
  };
  const refresh = async () => {
    const answer = await fetch(location.href, { headers: { 'Gateway-Refresh': '1' }, redirect: 'manual' });
    if (answer.type === 'opaqueredirect' || answer.status === 401) {
      return end('your session has ended', 'Sign in again');
    }
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const { site = document.body.dataset.site } = page.body.dataset;
    if (site !== document.body.dataset.site) {
      return end('another tab has chosen another site', 'Show this page of it');
    }
    if (!answer.ok) throw new Error(answer.statusText);
    const fresh = page.getElementById(id);
    const section = document.getElementById(id);
    // The section may have got the focus during the request.
    if (fresh === null || isPaused || isInUse(section)) return;
    section.replaceWith(fresh);
    at = Date.now();
    isAway = false;
    showRelativeTimes();
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

/* Marks a field of a message as it was sent and by name, and scrolls the other one into view. */
function markField(target, isChosen) {
  const field = target.closest('.pair [data-mark]');
  if (field === null || (field.classList.contains('marked') && !isChosen)) return;
  const pair = field.closest('.pair');
  const same = [...pair.querySelectorAll(`[data-mark="${field.dataset.mark}"]`)];
  for (const each of pair.querySelectorAll('.marked')) each.classList.remove('marked');
  for (const each of same) each.classList.add('marked');
  const text = pair.querySelector('pre');
  const sent = same.find((each) => text.contains(each));
  if (field !== sent) text.scrollTop = sent === undefined ? 0 : Math.max(0, sent.offsetTop - text.clientHeight / 2);
  if (field !== sent || !isChosen) return;
  const named = same.find((each) => each !== sent);
  named.closest('details').open = true;
  named.scrollIntoView({ block: 'nearest' });
}
// Unlike mouseover, it is not sent when the page scrolls below the pointer.
document.addEventListener('mousemove', ({ target }) => markField(target, false));
document.addEventListener('focusin', ({ target }) => markField(target, true));
document.addEventListener('click', (event) => {
  if (event.target.closest('a[data-mark]') === null) return;
  event.preventDefault();
  markField(event.target, true);
});

/* Shows the page of a row beside the list. */
let preview = null;
const markPreviewed = () => {
  for (const row of document.querySelectorAll('tr:has([data-preview])')) {
    row.classList.toggle('previewed', row.querySelector('[data-preview]').dataset.preview === preview?.dataset.of);
  }
};
function closePreview() {
  if (preview === null) return;
  const { of } = preview.dataset;
  preview.remove();
  preview = null;
  markPreviewed();
  document.querySelector(`[data-preview="${of}"]`)?.focus();
}
async function openPreview(href) {
  const answer = await fetch(href, { redirect: 'manual' });
  if (!answer.ok) return location.assign(href);
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const parts = [...page.querySelectorAll('#main > :not(.trail)')];
  // The list may have these ids too.
  for (const part of parts) {
    for (const each of [part, ...part.querySelectorAll('*')]) {
      each.removeAttribute('id');
      each.removeAttribute('aria-labelledby');
    }
  }
  const button = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'small',
    textContent: 'Close',
  });
  button.addEventListener('click', closePreview);
  const link = Object.assign(document.createElement('a'), { href, textContent: 'Open' });
  const bar = Object.assign(document.createElement('p'), { className: 'bar' });
  bar.append(link, button);
  preview?.remove();
  preview = Object.assign(document.createElement('aside'), { className: 'preview', tabIndex: -1 });
  preview.dataset.of = href;
  preview.setAttribute('aria-label', 'Preview');
  preview.append(bar, ...parts);
  document.body.append(preview);
  preview.focus();
  markPreviewed();
}
document.addEventListener('refreshed', markPreviewed);
document.addEventListener('click', ({ target }) => {
  const of = target.closest('[data-preview]')?.dataset.preview;
  if (of !== undefined) void openPreview(of);
});
document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') closePreview();
});
