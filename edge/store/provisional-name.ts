/**
 * Names that a hospital gives until it knows the person's real name: to newborns, and to patients without
 * identification. Twins get equal names. Such a name does not show that two records are of one person.
 */
import type { PersonName } from './patient-identity.ts';
import { fold } from './search/fold.ts';

const foldedTerms = (text: string): string[] => text.trim().split(/\s+/).map(fold);

/** Terms of which one is enough, even as the family name. */
const CLEAR_TERMS: readonly string[] = foldedTerms(`
  baby babys babies babe bb bg nb newborn neonate neonat infant girl female fetus foetus stillborn triplet
  unknown unnamed unk unbekannt inconnu
  neugeborenes neugeborener neugeborene säugling mädchen maedchen tochter zwilling drilling
  nouveaune nouveaunee nourrisson fille jumeau jumelle
  rn reciennacido reciennacida recemnascido recemnascida gemelo gemela gemea
  neonato neonata gemello gemella femmina
  pasgeborene boreling meisje tweeling
  nyfödd nyfødt flicka tvilling vauva tyttö noworodek novorozenec bebek bebeği bayi
  новорожденный новорожденная новорождённый новорождённая мальчик девочка ребенок ребёнок
  תינוק תינוקת
`);

/** Terms that are also family names: a family name needs two of them. */
const AMBIGUOUS_TERMS: readonly string[] = foldedTerms(`
  boy male twin bebe enfant garçon junge knabe bub bube kind sohn maschio jongen pojke gutt jente dreng pige poika ikiz
`);

const WEIGHTS: ReadonlyMap<string, number> = new Map([
  ...AMBIGUOUS_TERMS.map((word) => [word, 1] as const),
  ...CLEAR_TERMS.map((word) => [word, 2] as const),
]);

/** BABYGIRL, NEWBORNMALE. */
// oxlint-disable-next-line gateway/linear-expression -- the input is a folded name of at most 256 characters
const RUN_TOGETHER = new RegExp(`^(?:${[...WEIGHTS.keys()].join('|')}){2,}$`, 'u');

/** MARYGIRL, SMITHBABY. Some family names match `AS_GIVEN_NAME`: Lowboy, Babyak. */
const MOTHERS_NAME_AND_TERM = /\p{L}(?:girl|baby|newborn|female)$/u;
const AS_GIVEN_NAME = /\p{L}(?:boy|male|infant)$|^(?:baby|newborn)\p{L}/u;

const PHRASES = /\b(?:new born|recien nacid[oa]|recem nascid[oa]|nouveau nee?|by ny)\b/;
/** B/O MARY: baby of Mary. */
const BABY_OF = /(?:^|[^\p{L}])[bg] ?[/.] ?o(?![\p{L}])/u;
/** At the start only; after a name it names the parent of an adult (MUTHU S/O RAMAN). */
const CHILD_OF =
  /^(?:[sd] ?\/ ?o(?![\p{L}])|(?:son|daughter|child|baby|boy|girl|hij[oa]|filh[oa]|fils|fille|figli[oa]|zoon|dochter|sohn|tochter|kind) (?:of|de|do|da|del|du|di|von|van)\b)/u;

/** Terms of scripts without spaces between words. */
const UNSPACED: readonly string[] = [
  'ベビー',
  '新生児',
  '新生儿',
  '新生兒',
  '婴儿',
  '嬰兒',
  '之子',
  '之女',
  '아기',
  '신생아',
].map(fold);

/** The position among several: TWIN A, BOY 2, TRIPLET II. */
const ORDINAL = /^(?:\p{L}|\d{1,2}|ii|iii|iv)$/u;

const termsOf = (folded: string): string[] => folded.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');

/** The weight of a listed term, or of several that are written as one word, with or without a number: GIRL2. */
function weightOfListed(word: string): number {
  const letters = word.replaceAll(/^\d+|(?<!\d)\d+$/g, '');
  return WEIGHTS.get(letters) ?? (RUN_TOGETHER.test(letters) ? 2 : 0);
}

function weightOf(word: string): number {
  const letters = word.replace(/(?<!\d)\d+$/, '');
  const asGivenName = AS_GIVEN_NAME.test(letters) ? 1 : 0;
  return weightOfListed(word) || (MOTHERS_NAME_AND_TERM.test(letters) ? 2 : asGivenName);
}

/** The weight of a text as a provisional name: 1 is enough in a given name, 2 in a family name. */
function weigh(text: string | undefined): number {
  const folded = fold(text ?? '');
  if (folded === '') return 0;
  const terms = termsOf(folded);
  const isPhrase = BABY_OF.test(folded) || PHRASES.test(terms.join(' '));
  const isOfGiven = CHILD_OF.test(folded) || UNSPACED.some((part) => folded.includes(part));
  return terms.reduce((sum, word) => sum + weightOf(word), (isPhrase ? 2 : 0) + (isOfGiven ? 1 : 0));
}

/**
 * True if a name can be provisional. Some people have such names (Baby Jane, Boy). Use the result only as a reason to
 * doubt that two records are of one person, never as evidence for it.
 */
export function mayBeProvisional({ family, given, otherGiven, prefix, text }: PersonName): boolean {
  const shown = family === undefined && given === undefined ? text : undefined;
  return [prefix, given, otherGiven, shown].some((part) => weigh(part) > 0) || weigh(family) > 1;
}

/** True if a given name has only such terms: BABY GIRL 2, B/O MARY, but not MARY GIRL. */
export function isProvisionalGiven(given: string): boolean {
  const folded = fold(given);
  const terms = termsOf(folded);
  if (BABY_OF.test(folded) || CHILD_OF.test(folded) || PHRASES.test(terms.join(' '))) return true;
  const named = terms.filter((word) => !ORDINAL.test(word));
  return named.length > 0 && named.every((word) => weightOfListed(word) > 0);
}

/** True if a family name has only such terms, and can be no family name: BABY GIRL, but not BOY. */
export const isProvisionalFamily = (family: string): boolean => weigh(family) > 1 && isProvisionalGiven(family);
