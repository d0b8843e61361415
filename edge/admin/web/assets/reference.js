/*
 * Starts Swagger UI with the document of the page, without a validator and without storing tokens. Adds a filter over the
 * operations, and the document's code samples.
 */
const place = document.getElementById('reference');
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
follow();
dark.addEventListener('change', follow);

/** Filters operations by the words of their path and summary; a tag with all words keeps all its operations. */
function opsFilter(tagged, phrase) {
  const parts = phrase.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text) => parts.every((part) => text.toLowerCase().includes(part));
  return tagged
    .map((group, tag) =>
      has(tag)
        ? group
        : group.update('operations', (operations) =>
            operations.filter((one) =>
              has([tag, one.get('method'), one.get('path'), one.getIn(['operation', 'summary'])].join(' ')),
            ),
          ),
    )
    .filter((group) => group.get('operations').size > 0);
}

let language = 'curl';

/** The samples of an operation, above its responses. */
function withSamples(Responses, system) {
  const { createElement: make, useState, Fragment } = system.React;
  const Samples = ({ samples }) => {
    const [chosen, choose] = useState(language);
    const shown = samples.find((one) => one.get('label') === chosen) ?? samples.first();
    return make(
      'div',
      { className: 'samples' },
      make(
        'div',
        { className: 'samples-head', role: 'group', 'aria-label': 'Samples' },
        make('h4', null, 'Samples'),
        samples.map((one) =>
          make(
            'button',
            {
              key: one.get('label'),
              type: 'button',
              'aria-pressed': one === shown,
              onClick: () => {
                language = one.get('label');
                choose(language);
              },
            },
            one.get('label'),
          ),
        ),
        make(
          'button',
          {
            type: 'button',
            className: 'samples-copy',
            onClick: () => navigator.clipboard.writeText(shown.get('source')),
          },
          'Copy',
        ),
      ),
      make(
        'pre',
        { tabIndex: 0, 'aria-label': `Sample: ${shown.get('label')}` },
        make('code', null, shown.get('source')),
      ),
    );
  };
  return (props) => {
    const samples = system.specSelectors.specJson().getIn(['paths', props.path, props.method, 'x-codeSamples']);
    return make(Fragment, null, samples === undefined ? null : make(Samples, { samples }), make(Responses, props));
  };
}

/**
 * A generated example has an ellipsis for each unknown text, not "string". The row of an operation is a button, so its path
 * is not a link in it.
 */
const readable = (system) => ({
  afterLoad() {
    const { getSampleSchema } = this.fn;
    this.fn.getSampleSchema = (...given) => {
      const sample = getSampleSchema(...given);
      return typeof sample === 'string' ? sample.replaceAll(/(^|")string("|$)/g, '$1…$2') : sample;
    };
  },
  wrapComponents: {
    DeepLink:
      () =>
      ({ text }) =>
        system.React.createElement('span', null, text),
    responses: withSamples,
  },
});

/** Names the fields that Swagger UI leaves without a name, and lets the keyboard scroll an example. */
function nameFields() {
  for (const field of place.querySelectorAll('tr[data-param-name] :is(input, select, textarea):not([aria-label])'))
    field.setAttribute('aria-label', field.closest('tr').dataset.paramName);
  for (const field of place.querySelectorAll('textarea.body-param__text:not([aria-label])'))
    field.setAttribute('aria-label', 'Request body');
  for (const select of place.querySelectorAll('.servers select:not([aria-label])'))
    select.setAttribute('aria-label', 'Server');
  for (const example of place.querySelectorAll('pre.microlight:not([tabindex])')) example.tabIndex = 0;
}
new MutationObserver(nameFields).observe(place, { childList: true, subtree: true });

const showTag = (tag) => globalThis.ui.layoutActions.show(['operations-tag', tag], true);

globalThis.ui = SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: true,
  docExpansion: 'none',
  defaultModelRendering: 'example',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [() => ({ fn: { opsFilter } }), readable],
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  onComplete() {
    // An address of an operation opens its own tag.
    if (location.hash.length < 3) for (const tag of JSON.parse(place.dataset.opens)) showTag(tag);
    const filter = place.querySelector('.operation-filter-input');
    filter?.setAttribute('placeholder', 'Filter: Patient search, PUT, $export …');
    filter?.setAttribute('aria-label', 'Filter operations');
    filter?.addEventListener('input', () => {
      if (filter.value === '') return;
      const spec = globalThis.ui.specSelectors.taggedOperations();
      for (const tag of opsFilter(spec, filter.value).keys()) showTag(tag);
    });
  },
});
