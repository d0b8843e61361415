/** A chapter of the documentation: its text, the navigation over all chapters, and the search. */
import { raw } from 'hono/html';

import { type Chapter, CONTENTS, SEARCH_INDEX } from '../../docs/contents.ts';
import { Frame, referencePath, type Site } from './frame.tsx';

/** @param fragment the chapter's HTML, made from our own Markdown (edge/platform/node/build-docs.ts) */
export const ChapterPage = ({ site, chapter, fragment }: { site: Site; chapter: Chapter; fragment: string }) => {
  const base = referencePath(site);
  return (
    <Frame
      {...{ site }}
      page="docs"
      title={chapter.title}
      styles={['reference.css']}
      scripts={['minisearch.js', 'docs.js']}
    >
      <div class="docs">
        <nav class="docs-side" aria-label="Documentation">
          <search>
            <label for="docs-search">Search the documentation</label>
            <input id="docs-search" type="search" data-index={`${base}/assets/${SEARCH_INDEX}`} data-base={base} />
            <p id="docs-count" role="status"></p>
            <ul id="docs-found"></ul>
          </search>
          {CONTENTS.map(({ title, chapters }) => (
            <>
              <h2>{title}</h2>
              <ul>
                {chapters.map(({ page, title: name }) => (
                  <li>
                    <a href={`${base}/${page}`} aria-current={page === chapter.page ? 'page' : undefined}>
                      {name}
                    </a>
                  </li>
                ))}
              </ul>
            </>
          ))}
        </nav>
        <main id="main" class="docs-text">
          {raw(fragment)}
        </main>
      </div>
    </Frame>
  );
};
