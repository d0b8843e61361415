/** The phrases to replace. */

interface Row {
  /** A regular expression for complete words in any case; a space matches any white space. */
  readonly pattern: string;
  readonly instead: string;
  /** Folders in which the phrase is right. */
  readonly except?: readonly string[];
}

const row = (pattern: string, instead: string, except: readonly string[] = []): Row => ({ pattern, instead, except });

/** Terms with a better name in the field. */
const GLOSSARY: readonly Row[] = [
  row('charts?', 'patient record (a chart is a graph)', ['edge/admin/traffic', 'edge/admin/web']),
  row('who fits|who fit', 'matching patient'),
  row('(?:may|might) be the same', 'possible duplicate'),
  row('losers?', 'merged patient'),
  row('guess(?:es|ed)?|beliefs?|believe[sd]?', 'snapshot'),
  row('unnamed names?', 'unmapped name'),
  row('(?:un)?mute[sd]?|(?:un)?muting', 'silence, silenced'),
  // The console has a page of this name.
  row('needs? attention|attention', 'issue (to review)', ['edge/docs']),
  row('ticks?|whose turn|(?:a|its|no|their) turn', 'run, attempt'),
  row('unheeded|heed(?:s|ed)?', 'ignored, ignore'),
  row('doors?', 'surface, endpoint'),
];

/** Words that hide a name, and outdated verbs. */
const RIDDLES: readonly Row[] = [
  row('told|tells?|telling', 'report, return, show, log or distinguish'),
  row('somebody|someone|anybody|anyone|nobody|no one', 'the actor: gateway, sender, client, administrator'),
  row("whoever|whomever|whom|whosoever|who else's", 'the actor: gateway, sender, client, administrator'),
  row('whatever|whichever|wherever', 'any, every, each'),
  row('he|him|himself|his|she|her|hers|herself', 'the actor: sender, client, administrator'),
  row('ours|yours|theirs', 'of the gateway, of the client, …'),
  row('of (?:its|their|our|your|his) own', 'its, another, a separate'),
  row('thereof|therein|whereof|wherein|whereby|whence|thence|hence|hereby|thereby', 'name the thing'),
  row('(?:is|are|was|were|be) none', 'is not a …, does not exist'),
  row('(?<!there )(?:is|are|was|were) no (?!longer|more|less)[a-z]+', 'is not a …'),
  row('what is there', 'what is stored'),
  row('ones? that|ones? who|those who|that of which|as what|in what', 'repeat the noun'),
  row('as (?:it|they|he) likes?|(?:knows?|known|heard?|hears) of', 'a plain verb'),
  row('lets? in|letting in', 'accept, grant access'),
  row('(?:is|are|was|were|be|been|being) taken', 'accepted, used, read'),
  row('sought', 'searched, requested'),
  row('stands?(?! for)|standing|stood', 'is, applies, remains'),
  row('holds? (?:for|true|good|also)', 'applies to'),
  row('comes|came|goes|went', 'arrives, follows, is sent, is deleted'),
  row('has done|have done|had done', 'a plain verb'),
  row('owes?|owed', 'must, needs'),
  row('anew|afresh', 'again'),
  row('mend(?:s|ed|ing)?', 'fix'),
  row('save (?:for|that|where|what|those|the)', 'except'),
  row('meets?', 'matches, merges with'),
  row('for ever', 'permanently'),
  row('([a-z]+) \\1', 'the word once'),
];

/** A sentence must not begin so, unless it is a question. */
export const FRAGMENT = /^(?:of|what|whatever|whoever|whom|whether|where|wherever|as what|that of|who|whose|which)\b/i;

const compiled = (rows: readonly Row[]) =>
  rows.map(({ pattern, instead, except = [] }) => ({
    regex: new RegExp(`(?<![\\w-])(?:${pattern.replaceAll(' ', '\\s+')})(?![\\w-])`, 'gi'),
    instead,
    except,
  }));

export const PHRASES = compiled([...GLOSSARY, ...RIDDLES]);

/** Words to avoid in names; a name is split into its words. */
export const NAMES = compiled([
  row('whole(?! seconds| minutes| days| number)', 'complete, or what the value is'),
  row('look(?! up| ahead| behind)|looks|looked', 'find, search, lookup'),
  row('means|meant', 'what the value is'),
  row('words', 'texts, arguments, terms'),
  row('doors?', 'surface, endpoint'),
  row('sought', 'query, criteria'),
  row('taken|taking|passed|became', 'accepted, result'),
  row('told', 'reported'),
  row('(?:un)?mute[sd]?', 'silence'),
  row('learned|learnt|guess(?:es)?|belief', 'snapshot'),
  row('loser', 'merged'),
  row('nobody|somebody|whoever', 'the actor'),
  row('charts?', 'patient record', ['edge/admin/traffic', 'edge/admin/web']),
]);
