/** How people read a sender: MSH-3 and MSH-4, `LAB / EAST`; `''` without both. */
export const senderText = ({
  application,
  facility,
}: {
  readonly application: string;
  readonly facility: string;
}): string => [application, facility].filter(Boolean).join(' / ');
