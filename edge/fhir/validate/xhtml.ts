/**
 * Checks narrative XHTML (FHIR R4, Narrative §2.4.0; invariants txt-1 and txt-2) and changes nothing. It must be well-formed, in
 * the XHTML namespace, with allowed elements and attributes only, without active content, and must not be empty.
 */

const NAMESPACE = 'http://www.w3.org/1999/xhtml';

// HTML 4.01 chapters 7 to 11 (but 9.4) and 15 without what is deprecated there, links by `a` and images.
const ELEMENT_NAMES =
  // prose-allow: sentence
  'a abbr acronym address area b bdo big blockquote br caption cite code col colgroup dd dfn div dl dt em ' +
  'h1 h2 h3 h4 h5 h6 hr i img kbd li map ol p pre q samp small span strong sub sup table tbody td tfoot th thead ' +
  'tr tt ul var';
const ELEMENTS: ReadonlySet<string> = new Set(ELEMENT_NAMES.split(' '));
const EVERYWHERE: ReadonlySet<string> = new Set(
  (
    'abbr accesskey align axis char charoff class colspan dir headers id lang rowspan scope span style tabindex title ' +
    'valign width xml:id xml:lang xml:space xmlns'
  ).split(' '),
);
const ATTRIBUTES: Readonly<Record<string, string>> = {
  a: 'charset coords href hreflang name rel rev shape type',
  area: 'alt coords href nohref shape',
  blockquote: 'cite',
  img: 'alt border height ismap longdesc src usemap',
  map: 'name',
  ol: 'start type',
  li: 'type value',
  q: 'cite',
  table: 'border cellpadding cellspacing frame rules summary',
  td: 'height nowrap',
  th: 'height nowrap',
  ul: 'type',
};
const LINKS: ReadonlySet<string> = new Set(['cite', 'href', 'longdesc', 'src', 'usemap']);

const NAME = /[A-Za-z][\w:.-]*/y;
const ATTRIBUTE = /\s+([A-Za-z_:][\w:.-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const END = /\s*(\/?)>/y;
const REFERENCES = /&(?:amp|lt|gt|quot|apos|#[1-9][0-9]{0,6}|#x[0-9A-Fa-f]{1,6});/g;
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;
// Browsers skip white space and control characters inside a scheme; so does the check.
// oxlint-disable-next-line no-control-regex
const SKIPPED = /[\u0000-\u0020]/g;
const ACTIVE = /^(?:javascript:|vbscript:|data:(?!image\/))/i;

function decode(text: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(REFERENCES, (reference) => {
    const name = reference.slice(1, -1);
    const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return named[name] ?? (code <= 0x10ffff ? String.fromCodePoint(code) : '');
  });
}

/** A bare `&` or an HTML entity is not XML; R4 has no entities but XML's own. */
function hasBadReference(text: string): boolean {
  return text.includes('&') && text.replace(REFERENCES, '').includes('&');
}

function checkAttribute(element: string, name: string, value: string): string | undefined {
  if (!EVERYWHERE.has(name) && !` ${ATTRIBUTES[element] ?? ''} `.includes(` ${name} `)) {
    return 'has an attribute that is not allowed (txt-1)';
  }
  if (hasBadReference(value)) return 'is not well-formed: an unknown entity or a bare "&" in an attribute';
  if (name === 'xmlns' && value !== NAMESPACE) return `must be in the namespace ${NAMESPACE}`;
  return LINKS.has(name) && ACTIVE.test(decode(value).replace(SKIPPED, ''))
    ? 'has a link with active content (txt-1)'
    : undefined;
}

/** The first fault of the `div` of a narrative, or undefined. */
export function checkXhtml(source: string): string | undefined {
  const text = source.trim();
  const open: string[] = [];
  let at = 0;
  let hasContent = false;
  if (!text.startsWith('<div')) return 'must be one XHTML div';
  if (CONTROL.test(text) || !text.isWellFormed()) return 'holds a character that XML does not allow';

  const match = (format: RegExp): RegExpExecArray | null => {
    format.lastIndex = at;
    const found = format.exec(text);
    if (found !== null) at = format.lastIndex;
    return found;
  };

  const readStart = (): string | undefined => {
    const element = match(NAME)?.[0];
    if (element === undefined) return 'is not well-formed: an unexpected "<"';
    if (!ELEMENTS.has(element)) return 'has an element that is not allowed (txt-1)';
    const seen = new Set<string>();
    for (let found = match(ATTRIBUTE); found !== null; found = match(ATTRIBUTE)) {
      const [, name = '', double, single = ''] = found;
      if (seen.has(name)) return 'is not well-formed: an attribute given twice';
      seen.add(name);
      const fault = checkAttribute(element, name, double ?? single);
      if (fault !== undefined) return fault;
    }
    const end = match(END);
    if (end === null) return 'is not well-formed: a tag that does not end';
    if (open.length === 0 && !seen.has('xmlns')) return `must be in the namespace ${NAMESPACE}`;
    if (element === 'img') hasContent = true;
    if (end[1] === '') open.push(element);
    return undefined;
  };

  const readEnd = (): string | undefined => {
    at += 1;
    const element = match(NAME)?.[0];
    if (element !== open.pop() || match(END)?.[1] !== '') return 'is not well-formed: tags that do not pair';
    return undefined;
  };

  const readComment = (): string | undefined => {
    const end = text.indexOf('--', at + 3);
    if (!text.startsWith('!--', at) || !text.startsWith('-->', end)) {
      return 'may hold elements, text and comments only';
    }
    at = end + 3;
    return undefined;
  };

  const readText = (): string | undefined => {
    const end = text.indexOf('<', at);
    if (end === -1) return 'is not well-formed: it ends inside an element';
    const chunk = text.slice(at, end);
    at = end;
    if (hasBadReference(chunk)) return 'is not well-formed: an unknown entity or a bare "&"';
    if (chunk.includes(']]>')) return 'is not well-formed: "]]>" in text';
    if (!hasContent && /\S/.test(chunk)) hasContent = true;
    return undefined;
  };

  const readTag = (): string | undefined => {
    const next = text.charAt(at);
    if (next === '/') return readEnd();
    return next === '!' || next === '?' ? readComment() : readStart();
  };

  do {
    const fault = readText();
    if (fault !== undefined) return fault;
    at += 1;
    const wrong = readTag();
    if (wrong !== undefined) return wrong;
  } while (open.length > 0);
  if (at < text.length) return 'must be one XHTML div';
  return hasContent ? undefined : 'must have something to read: text or an image (txt-2)';
}
