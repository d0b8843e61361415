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
  plugins: [() => ({ fn: { opsFilter }, wrapComponents: { responses: withSamples } })],
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
