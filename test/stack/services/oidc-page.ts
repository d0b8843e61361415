/** A page of the local OpenID provider: one card in the middle, light and dark as the console is. */
const STYLE = `
:root { color-scheme: light dark; --page: #f6f7f8; --card: #fff; --text: #16202a; --quiet: #55616d; --line: #7a8794;
  --edge: #d5dbe1; --accent: #0b6363; --accent-text: #fff; --bad: #a11b2b; }
@media (prefers-color-scheme: dark) {
  :root { --page: #10161b; --card: #182027; --text: #e6ebef; --quiet: #a3b0bb; --line: #7f8d99; --edge: #33404b;
    --accent: #4fc3bd; --accent-text: #06201f; --bad: #ff9aa5; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; background: var(--page); color: var(--text); }
main { max-width: 24rem; margin: 12vh auto 0; padding: 2rem; background: var(--card); border: 1px solid var(--edge); border-radius: 8px; }
@media (max-width: 26rem) { main { margin: 1rem; padding: 1.25rem; } }
h1 { margin: 0; font-size: 1.5rem; }
p { margin: 0.5rem 0 1.25rem; color: var(--quiet); }
p[role='alert'] { color: var(--bad); }
p[role='alert']:empty { display: none; }
label { display: block; font-weight: 600; }
input { display: block; width: 100%; margin: 0.25rem 0 1rem; padding: 0.5rem 0.75rem; font: inherit; color: inherit;
  background: var(--page); border: 1px solid var(--line); border-radius: 8px; }
button { min-height: 2.75rem; padding: 0.5rem 1.25rem; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--accent-text); background: var(--accent); border: 0; border-radius: 8px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;

/** @param body HTML below the heading */
export const oidcPage = (title: string, body: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1>${body}</main></body></html>`;
