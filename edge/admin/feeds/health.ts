/** One sentence about all feeds of a site: what is not as usual, the worst first. Pure. */
import { senderText } from '../../../shared/hl7/sender-text.ts';
import { counted } from '../web/counted.ts';
import type { Feeds } from './schema.ts';

/** The list below has the rest, key by key. */
const MAX_SENTENCES = 4;

/** `47 min`, `5 h`, `3 days`. */
function howLong(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2 * 24 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / (24 * 60))} days`;
}

const were = (number: number): string => (number === 1 ? 'was' : 'were');

export function sentenceOf(
  { feeds, isCut, sidecars }: Pick<Feeds, 'feeds' | 'isCut' | 'sidecars'>,
  nowMs: number,
): { readonly isUsual: boolean; readonly sentence: string } {
  const senders = feeds.flatMap(({ name, senders: ofKey }) => {
    const hasSeveral = ofKey.filter(({ surface }) => surface !== 'fhir').length > 1;
    return ofKey.map((sender) => {
      const own = hasSeveral ? senderText(sender) : '';
      return { sender, name: own === '' ? name : `${name} (${own})` };
    });
  });
  const late = sidecars.filter(({ isLate }) => isLate);
  const silent = senders.filter(({ sender }) => sender.verdict === 'silent');
  const refused = senders.filter(({ sender }) => sender.refusedLately > 0);
  const fewer = senders.filter(({ sender }) => sender.verdict === 'fewer');
  const more = senders.filter(({ sender }) => sender.verdict === 'more');
  const disabled = feeds.filter(({ status, refusals }) => status === 'disabled' && refusals > 0);
  const wrong = [
    ...late.map(
      ({ issuer, lastSeenAt }) =>
        `the sidecar ${issuer} has not called for ${howLong(nowMs - Date.parse(lastSeenAt))}, messages over MLLP wait at their senders`,
    ),
    ...silent.map(({ sender, name }) => `${name} has been silent for ${howLong(nowMs - Date.parse(sender.lastAt))}`),
    ...disabled.map(({ name }) => `${name} is disabled and still sends`),
    ...refused.map(({ sender: { surface, refusedLately }, name }) => {
      const what = surface === 'fhir' ? 'request' : 'message';
      return `${counted(refusedLately, what)} of ${name} ${were(refusedLately)} rejected in the last hour`;
    }),
    ...fewer.map(({ name }) => `${name} sends less than usual`),
    ...more.map(({ name }) => `${name} sends more than usual`),
  ];
  if (feeds.length === 0) return { isUsual: true, sentence: 'Nothing is connected yet' };
  if (wrong.length === 0) {
    const isKnown = senders.some(({ sender: { verdict } }) => verdict === 'usual');
    const sentence = isKnown ? 'All feeds are as usual' : 'No known problems';
    return {
      isUsual: true,
      sentence: isCut ? `${sentence}, among the first ${feeds.length} API keys by name` : sentence,
    };
  }
  const listed = wrong.slice(0, MAX_SENTENCES).join('; ');
  const rest = wrong.length > MAX_SENTENCES ? `; and ${wrong.length - MAX_SENTENCES} more` : '';
  const cut = isCut ? `; only the first ${feeds.length} API keys by name are checked` : '';
  return { isUsual: false, sentence: listed.charAt(0).toUpperCase() + listed.slice(1) + rest + cut };
}
