// The search of the documentation: an index that was made with the pages (MiniSearch), loaded with the first key press.
const field = document.getElementById('docs-search');
const list = document.getElementById('docs-found');
let loading;

const load = () =>
  (loading ??= fetch(field.dataset.index).then(async (answer) =>
    window.MiniSearch.loadJSON(await answer.text(), {
      fields: ['heading', 'text'],
      storeFields: ['chapter', 'heading'],
    }),
  ));

async function search() {
  const asked = field.value.trim();
  const index = await load();
  // Another key was pressed meanwhile.
  if (asked !== field.value.trim()) return;
  const found =
    asked === '' ? [] : index.search(asked, { prefix: true, fuzzy: 0.2, boost: { heading: 3 } }).slice(0, 8);
  list.replaceChildren(
    ...found.map(({ id, chapter, heading }) => {
      const link = document.createElement('a');
      link.href = `${field.dataset.base}/${id}`;
      link.textContent = chapter === heading ? heading : `${chapter}: ${heading}`;
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
  document.getElementById('docs-count').textContent =
    asked === '' ? '' : found.length === 0 ? 'Nothing found' : `${found.length} found`;
}

field.addEventListener('input', () => void search());
