/**
 * Renders the documentation (edge/docs) for the gateway: an HTML fragment for each chapter, and a search index over all
 * sections. It runs at build time, so that neither runtime needs a Markdown parser.
 */
import { readFile } from 'node:fs/promises';

import { Marked, type Tokens } from 'marked';
import MiniSearch from 'minisearch';

import { CHAPTERS, fragmentName, SEARCH_INDEX } from '../../docs/contents.ts';

const FOLDER = new URL('../../docs/', import.meta.url);

/** A heading and the text below it, up to the next heading. */
interface Section {
  /** The chapter and the heading's anchor: `senders#acknowledgements`. */
  readonly id: string;
  readonly chapter: string;
  readonly heading: string;
  readonly text: string;
}

/** The anchor of a heading in GitHub's format, so that a link works in the repository and in the gateway. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, '')
    .replaceAll(' ', '-');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const plain = (html: string): string =>
  html
    .replaceAll(/<[^<>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Links name files in the repository; in the gateway, chapters have no file extension. */
const addressOf = (href: string): string => (/^[a-z]+\.md(?:#|$)/.test(href) ? href.replace('.md', '') : href);

function renderChapter(markdown: string): { html: string; sections: Omit<Section, 'chapter'>[] } {
  const sections: Omit<Section, 'chapter'>[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const anchor = anchorOf(text.replaceAll('`', ''));
        return `<h${depth} id="${escaped(anchor)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escaped(addressOf(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      // Only wide content scrolls horizontally, never the page. A keyboard can reach it.
      code({ text }: Tokens.Code) {
        return `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;
      },
    },
  });
  const html = marked
    .parse(markdown, { async: false })
    // oxlint-disable-next-line gateway/linear-expression -- pages of the repository
    .replaceAll(/<table>[\s\S]*?<\/table>/g, (table) => `<div class="scroll" tabindex="0">${table}</div>`);
  for (const [, anchor = '', heading = '', text = ''] of html.matchAll(
    // oxlint-disable-next-line gateway/linear-expression -- pages of the repository
    /<h[1-4] id="([^"]*)">([\s\S]*?)<\/h[1-4]>([\s\S]*?)(?=<h[1-4] id=|$)/g,
  ))
    sections.push({ id: anchor, heading: plain(heading), text: plain(text) });
  return { html, sections };
}

/** The assets of the documentation by file name. @throws if a chapter's file is missing */
export async function renderDocs(): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const index = new MiniSearch<Section>({ fields: ['heading', 'text'], storeFields: ['chapter', 'heading'] });
  for (const { page, title } of CHAPTERS) {
    const { html, sections } = renderChapter(await readFile(new URL(`${page}.md`, FOLDER), 'utf8'));
    files[fragmentName(page)] = html;
    index.addAll(sections.map((section) => ({ ...section, id: `${page}#${section.id}`, chapter: title })));
  }
  files[SEARCH_INDEX] = JSON.stringify(index);
  return files;
}
