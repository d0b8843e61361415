/** The lines that `patient_search` keeps of a Patient's names: each text, each family and each given name. */
import type { JsonObject } from '../../../../shared/json.ts';
import { affordable, namesByUse } from '../../human-names.ts';
import { text } from '../at-path.ts';
import { fold, fitsFold, spellNames } from '../fold.ts';
import { exactLine, type NameMarker } from './exact-name.ts';

/** Characters of all lines of a patient as the index spells them: about 30 names in Thai, or 100 in Latin letters. */
export const MAX_INDEXED_NAMES = 8192;

interface NameLine {
  /** Null for given and family names joined into one line. */
  readonly marker: NameMarker | null;
  /** Folded and spelt for the index. */
  readonly spelt: string;
  /** As sent. Null for joined names, and for names longer than a search value may be. */
  readonly exact: string | null;
}

type NamePiece = readonly [marker: NameMarker | null, piece: string];

const givenOf = ({ given }: JsonObject): string[] =>
  Array.isArray(given) ? given.map(text).filter((one) => one !== '') : [];

/** The text of a name, or its family and given names. */
export const shownName = (name: JsonObject): string =>
  text(name['text']) || [text(name['family']), ...givenOf(name)].join(' ');

function piecesOf(name: JsonObject): NamePiece[] {
  const [full, family, given] = [text(name['text']), text(name['family']), givenOf(name)];
  const pieces: NamePiece[] = [['T', full], ['F', family], ...given.map((one): NamePiece => ['G', one])];
  // A search for "Jim Müller" finds a name without a text, too.
  if (full === '') pieces.push([null, [...given, family].join(' ')]);
  return pieces.filter(([, piece]) => piece !== '');
}

function lineOf([marker, piece]: NamePiece): NameLine {
  const isExact = marker !== null && fitsFold(piece);
  return { marker, spelt: spellNames(fold(piece)), exact: isExact ? exactLine(piece) : null };
}

function* linesOf(names: readonly JsonObject[]): Generator<NameLine> {
  const pieces = names.flatMap(piecesOf);
  // The first of each kind always fits, so that `family:missing` and `given:missing` are right.
  const first = ['T', 'F', 'G']
    .map((one) => pieces.find(([marker]) => marker === one))
    .filter((one) => one !== undefined);
  for (const piece of new Set([...first, ...pieces])) yield lineOf(piece);
}

/** The lines to index: names by use, up to the limit. */
export const indexedNames = (patient: JsonObject): NameLine[] =>
  affordable(
    linesOf(namesByUse(patient)),
    ({ spelt, exact }) => spelt.length + (exact?.length ?? 0) + 1,
    MAX_INDEXED_NAMES,
  );
