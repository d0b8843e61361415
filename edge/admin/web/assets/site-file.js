/*
 * Takes and shows the file of a site as YAML. The form sends JSON, which is all that the gateway reads, and which works without
 * this script too.
 */
import { LineCounter, parseDocument, stringify } from 'yaml';

const form = document.querySelector('[data-site-file]');
const text = form.elements.file;
const said = form.querySelector('[data-said]');
const chosen = document.getElementById('chosen');
const asYaml = (content) => stringify(content, { lineWidth: 0 });

if (text.value.trim().startsWith('{')) text.value = asYaml(JSON.parse(text.value));

/** Shows why the file is not sent. @param message null hides the last one */
function say(message) {
  said.hidden = message === null;
  said.textContent = message;
}

/** A larger file does not fit into the form, and would stop the page for a minute. */
const MAX_BYTES = 4 * 1024 * 1024;

form.querySelector('[data-choose]').hidden = false;
chosen.addEventListener('change', () => {
  const [file] = chosen.files;
  if (file === undefined) return;
  if (file.size > MAX_BYTES) say('The file is larger than 4 MiB. Use npm run admin -- plan.');
  else void file.arrayBuffer().then(read);
});

/** In any other encoding, names would be stored with other characters. */
function read(bytes) {
  try {
    text.value = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    say(null);
  } catch {
    say('The file is not UTF-8. Save it as UTF-8.');
  }
}

/** @throws an Error with the line, or for aliases that would fill the memory */
function toJson(yaml) {
  const lineCounter = new LineCounter();
  const document = parseDocument(yaml, { lineCounter, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) throw new Error(`Line ${lineCounter.linePos(error.pos[0]).line}: ${error.message}`);
  return JSON.stringify(document.toJS());
}

let content;
form.addEventListener('submit', (event) => {
  try {
    content = toJson(text.value);
    say(null);
  } catch (error) {
    event.preventDefault();
    say(error.message);
  }
});
form.addEventListener('formdata', ({ formData }) => formData.set('file', content));

async function download(href) {
  const answer = await fetch(href);
  if (!answer.ok) throw new Error(answer.statusText);
  const blob = new Blob([asYaml(await answer.json())], { type: 'application/yaml' });
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: 'site.yaml' });
  link.click();
  URL.revokeObjectURL(link.href);
}
document.querySelector('[data-export]').addEventListener('click', (event) => {
  event.preventDefault();
  const { href } = event.currentTarget;
  // The page of the error says more.
  download(href).catch(() => location.assign(href));
});
