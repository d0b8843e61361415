/* The elements that the page `try` shows. Received texts become text nodes, never markup. */

/** @param properties properties of the element, and its attributes as `attributes` */
export function make(tag, { attributes = {}, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}

export const counted = (count, one) => `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
export const badge = (tone, text) => make('span', { className: `badge ${tone}` }, text);
export const notice = (tone, ...children) => make('div', { className: `notice ${tone}` }, ...children);
export const quiet = (text) => make('p', { className: 'quiet' }, text);
export const when = (at) =>
  make('time', { dateTime: at, title: at }, new Date(at).toLocaleString(undefined, { timeZoneName: 'short' }));

/** As the tables of the console: on a phone each row is a card, headed by its first cell. */
export const table = (label, head, rows) =>
  make(
    'div',
    { className: 'table', tabIndex: 0, attributes: { role: 'group', 'aria-label': label } },
    make(
      'table',
      {},
      make('thead', {}, make('tr', {}, ...head.map((title) => make('th', { scope: 'col' }, title)))),
      make(
        'tbody',
        {},
        ...rows.map(({ cells: [first, ...cells], className = '' }) =>
          make(
            'tr',
            {},
            make('th', { scope: 'row' }, make('div', {}, first)),
            ...cells.map((cell, at) => {
              const held = [cell].flat().filter((each) => each !== null && each !== '');
              const isLast = at === cells.length - 1;
              return make(
                'td',
                { className: isLast ? className : '', attributes: { 'data-label': head[at + 1] } },
                ...(held.length === 0 ? [] : [make('div', {}, ...held)]),
              );
            }),
          ),
        ),
      ),
    ),
  );

export const code = (label, text) =>
  make(
    'div',
    { className: 'code' },
    make('pre', { tabIndex: 0, attributes: { role: 'group', 'aria-label': label } }, make('code', {}, text)),
    make(
      'button',
      { type: 'button', className: 'small', attributes: { 'data-copy': text, 'aria-label': `Copy ${label}` } },
      'Copy',
    ),
  );

export const section = (title, ...children) => make('section', {}, make('h2', {}, title), ...children);
