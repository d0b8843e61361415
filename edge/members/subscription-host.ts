/** The rule of subscription hosts (edge/docs/behaviour.md, Administration). */

/** A host as `URL.host` writes it: lower case, with its port unless that is 443. */
const isHost = (text: string): boolean =>
  URL.canParse(`https://${text}/`) && new URL(`https://${text}/`).href === `https://${text}/`;

/** Checks a text. @returns the error, or undefined */
export function checkSubscriptionHost(text: string): string | undefined {
  if (isHost(text) && !/[/?#@*]/.test(text)) return undefined;
  return `${JSON.stringify(text)} is not a host name in lower case, such as hooks.example.org or hooks.example.org:8443`;
}
