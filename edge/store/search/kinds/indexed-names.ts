/** The names of a Patient as its row in `patient_search` has them: a line for each text, family and given name. */
import type { JsonObject } from '../../../../shared/json.ts';
import { affordable, namesByUse } from '../../human-names.ts';
import { text } from '../at-path.ts';
import { fold, isFoldedWhole, spellNames } from '../fold.ts';
import { exactLine, type NameMarker } from './exact-name.ts';

/** In characters, of all lines of a patient as they are indexed: the names of thirty Thai records, or a hundred Latin ones. */
export const MAX_INDEXED_NAMES = 8192;

interface NameLine {
  /** Null: the parts of a name in a row. */
  readonly marker: NameMarker | null;
  /** Folded and spelt for the index. */
  readonly spelt: string;
  /** As sent; null where `:exact` cannot find it, because it is no name or too long to be asked for. */
  readonly exact: string | null;
}

type NamePiece = readonly [marker: NameMarker | null, piece: string];

const givenOf = ({ given }: JsonObject): string[] =>
  Array.isArray(given) ? given.map(text).filter((one) => one !== '') : [];

/** A name as it is shown: its text, else what it consists of. */
export const shownName = (name: JsonObject): string =>
  text(name['text']) || [text(name['family']), ...givenOf(name)].join(' ');

function piecesOf(name: JsonObject): NamePiece[] {
  const [whole, family, given] = [text(name['text']), text(name['family']), givenOf(name)];
  const pieces: NamePiece[] = [['T', whole], ['F', family], ...given.map((one): NamePiece => ['G', one])];
  // A name without a text is found by its parts in a row too.
  if (whole === '') pieces.push([null, [...given, family].join(' ')]);
  return pieces.filter(([, piece]) => piece !== '');
}

function lineOf([marker, piece]: NamePiece): NameLine {
  const isExact = marker !== null && isFoldedWhole(piece);
  return { marker, spelt: spellNames(fold(piece)), exact: isExact ? exactLine(piece) : null };
}

function* linesOf(names: readonly JsonObject[]): Generator<NameLine> {
  const pieces = names.flatMap(piecesOf);
  // A patient who has a family or a given name is never one who has none.
  const first = ['T', 'F', 'G']
    .map((one) => pieces.find(([marker]) => marker === one))
    .filter((one) => one !== undefined);
  for (const piece of new Set([...first, ...pieces])) yield lineOf(piece);
}

/** Those lines of a Patient's names that are indexed. */
export const indexedNames = (patient: JsonObject): NameLine[] =>
  affordable(
    linesOf(namesByUse(patient)),
    ({ spelt, exact }) => spelt.length + (exact?.length ?? 0) + 1,
    MAX_INDEXED_NAMES,
  );
