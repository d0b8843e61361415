/**
 * Checks comments, texts, names and test titles against test/prose/glossary.ts: `npm run prose`, or `npm run prose -- PATH …`.
 * A comment with `prose-allow: word` allows a word on its line and the next one, `prose-allow: sentence` a long sentence.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { ParseEnglish } from 'parse-english';

import { type Piece, piecesOf } from './pieces.ts';
import { FRAGMENT, NAMES, PHRASES } from './glossary.ts';

export interface Finding {
  readonly line: number;
  readonly found: string;
  readonly instead: string;
}

const MAX_SENTENCE = 25;
const MAX_ERROR = 20;

/** A finding at an offset of the file. */
type Found = readonly [offset: number, found: string, instead: string];

/** A source in parentheses does not make a sentence longer. */
const CITATION = /\([^()]*(?:§|\.md|RFC|FHIR R4|HL7 v2)[^()]*\)/g;

interface Parsed {
  readonly type: string;
  readonly children?: readonly Parsed[];
  readonly position?: { readonly start: { readonly offset?: number }; readonly end: { readonly offset?: number } };
}
const english = new ParseEnglish();

/** The sentences of a text with their offsets in it. */
export function sentencesOf(text: string): { start: number; text: string }[] {
  const walk = (node: Parsed): { start: number; text: string }[] => {
    if (node.type !== 'SentenceNode') return (node.children ?? []).flatMap(walk);
    const start = node.position?.start.offset ?? 0;
    return [{ start, text: text.slice(start, node.position?.end.offset) }];
  };
  return walk(english.parse(text) as Parsed);
}

function phrasesIn(file: string, { kind, start, text }: Piece): Found[] {
  const isName = kind === 'name';
  const spaced = isName ? text.replaceAll(/(?<=[a-z\d])(?=[A-Z])|[_-]/g, ' ') : text;
  return (isName ? NAMES : PHRASES)
    .filter(({ except }) => !except.some((folder) => file.startsWith(`${folder}/`)))
    .flatMap(({ regex, instead }) =>
      [...spaced.matchAll(regex)].map(({ 0: found, index }): Found => [
        start + (isName ? 0 : index),
        isName ? text : found.replaceAll(/\s+/g, ' '),
        instead,
      ]),
    );
}

function sentencesIn({ kind, start: at, text }: Piece): Found[] {
  if (kind === 'name' || kind === 'part') return [];
  const most = kind === 'error' ? MAX_ERROR : MAX_SENTENCE;
  return sentencesOf(text).flatMap(({ start, text: sentence }): Found[] => {
    const count = sentence
      .replaceAll(CITATION, ' ')
      .split(/\s+/)
      .filter((word) => /[\p{L}\d]/u.test(word)).length;
    // A text in small letters may be the rest of a sentence that the code builds.
    const isRest = kind === 'text' && /^[a-z]/.test(sentence);
    const fragment = isRest || sentence.endsWith('?') ? undefined : FRAGMENT.exec(sentence)?.[0];
    const begins = sentence.slice(0, 40).replaceAll(/\s+/g, ' ');
    return [
      ...(count > most ? [[at + start, `${count} words: ${begins}…`, `at most ${most}`] as const] : []),
      ...(fragment !== undefined
        ? [[at + start, `${begins}…`, `a full sentence that does not begin with ${fragment}`] as const]
        : []),
    ];
  });
}

/** The findings in a file, by line. */
export function check(file: string, source: string): Finding[] {
  const lines = source.split('\n');
  const allowed = (line: number, found: string): boolean =>
    [lines[line - 1], lines[line - 2]].some((text) => {
      const allowances = /prose-allow: ([\w ,]+)/.exec(text ?? '')?.[1]?.split(/, ?/) ?? [];
      return allowances.some((word) => word.trim() === (/^\d+ words: /.test(found) ? 'sentence' : found.toLowerCase()));
    });
  const name: Piece = { kind: 'name', start: 0, text: file.replace(/^.*\//, '').replace(/\..*$/, '') };
  return [name, ...piecesOf(file, source)]
    .flatMap((piece) => [...phrasesIn(file, piece), ...sentencesIn(piece)])
    .map(([offset, found, instead]) => ({ line: source.slice(0, offset).split('\n').length, found, instead }))
    .filter(({ line, found }) => !allowed(line, found))
    .sort((a, b) => a.line - b.line);
}

/** Checks the files below the paths, or all files. @returns the number of findings */
function run(paths: readonly string[]): number {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...paths], {
    encoding: 'utf8',
  });
  let count = 0;
  for (const file of listed.split('\0')) {
    if (file === '' || FOREIGN.test(file) || !existsSync(file)) continue;
    for (const { line, found, instead } of check(file, readFileSync(file, 'utf8'))) {
      console.log(`${file}:${line}: ${found} → ${instead}`);
      count++;
    }
  }
  return count;
}

/** Files that are generated, from elsewhere, or hold programs as text, and the table of phrases. */
const FOREIGN =
  /\.generated\.|^test\/(?:messages|v2-to-fhir)\/|^test\/prose\/glossary\.ts$|^edge\/docs\/configuration\.md$|^edge\/examples\/(?:mllp|program)\.ts$/;

if (import.meta.main) {
  const count = run(process.argv.slice(2));
  if (count > 0) {
    console.log(`${count} findings: see the table in test/prose/glossary.ts`);
    process.exitCode = 1;
  }
}
