/** XPN and FN as HumanName (v2-to-FHIR `XPN[HumanName]`, `FN[HumanName]`), with the display text. */
import { componentOf, locatePart, type Part } from '../../../../shared/hl7/value.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import { noteUnknownUse, type MapContext } from '../context.ts';
import { NAME_TYPE } from '../tables/concept-maps.ts';
import { members, plainTextOf, textOf } from './text.ts';
import { dateRange, dateTime, period } from './time.ts';

const EXTENSION = 'http://hl7.org/fhir/StructureDefinition/humanname-';

/** `FN[HumanName]` 4 to 11. */
const FAMILY_PARTS: readonly (readonly [subcomponent: number, url: string])[] = [
  [2, `${EXTENSION}own-prefix`],
  [3, `${EXTENSION}own-name`],
  [4, `${EXTENSION}partner-prefix`],
  [5, `${EXTENSION}partner-name`],
];

/** `XPN[HumanName]` 13 and 14; table 0444. */
const ASSEMBLY_ORDER: ReadonlySet<string> = new Set(['G', 'F']);

/** Table 0200, of all versions. Some types have no use in FHIR. */
const NAME_TYPES: ReadonlySet<string> = new Set(
  'A B BAD C CB D F I K L M MSK N NAV NB NOUSE P R REL S T TEMP U'.split(' '),
);

const present = (...texts: readonly (string | undefined)[]): string[] => texts.filter((text) => text !== undefined);

/** The numbers of a name's components: XPN and XCN have the same components at other numbers. */
interface NameLayout {
  readonly family: number;
  readonly given: number;
  readonly middle: number;
  readonly suffix: number;
  readonly prefix: number;
  readonly degree: number;
  readonly professionalSuffix: number;
}
const XPN: NameLayout = { family: 1, given: 2, middle: 3, suffix: 4, prefix: 5, degree: 6, professionalSuffix: 14 };
export const XCN: NameLayout = {
  family: 2,
  given: 3,
  middle: 4,
  suffix: 5,
  prefix: 6,
  degree: 7,
  professionalSuffix: 21,
};

/** FN.1. Some senders send only its parts: the person's own name in FN.2 and FN.3, else the partner's in FN.4 and FN.5. */
export function familyName(family: Part | undefined): string | undefined {
  const own = textOf(family, 1);
  if (own !== undefined) return own;
  const number = [3, 5].find((each) => textOf(family, each) !== undefined);
  return number === undefined ? undefined : present(textOf(family, number - 1), textOf(family, number)).join(' ');
}

/** Prefix, given names, family name, suffixes. */
export function displayName(part: Part, layout: NameLayout = XPN): string | undefined {
  const family = componentOf(part, layout.family);
  const parts = present(
    plainTextOf(part, layout.prefix),
    plainTextOf(part, layout.given),
    plainTextOf(part, layout.middle),
    familyName(family),
    plainTextOf(part, layout.suffix),
    plainTextOf(part, layout.degree),
  );
  return parts.length === 0 ? undefined : parts.join(' ');
}

/** One repetition: the name, and a second one for XPN.15, the name that the person uses (rows 18 and 19). */
export function humanNames(part: Part, context: MapContext): JsonObject[] {
  const calledBy = textOf(part, 15);
  const nickname = calledBy === undefined ? [] : [{ use: 'nickname', text: calledBy, given: [calledBy] }];
  const name = humanName(part, context);
  return name === undefined ? nickname : [name, ...nickname];
}

function humanName(part: Part, context: MapContext): JsonObject | undefined {
  const family = componentOf(part, XPN.family);
  const familyParts = FAMILY_PARTS.flatMap(([number, url]) => {
    const valueString = textOf(family, number);
    return valueString === undefined ? [] : [{ url, valueString }];
  });
  const order = textOf(part, 11);
  const start = dateTime(part, context, 12);
  const end = dateTime(part, context, 13);
  const name = members({
    extension:
      order !== undefined && ASSEMBLY_ORDER.has(order)
        ? [{ url: `${EXTENSION}assembly-order`, valueCode: order }]
        : undefined,
    text: displayName(part),
    family: familyName(family),
    _family: familyParts.length === 0 ? undefined : { extension: familyParts },
    given: present(plainTextOf(part, XPN.given), plainTextOf(part, XPN.middle)),
    prefix: present(plainTextOf(part, XPN.prefix)),
    suffix: present(
      plainTextOf(part, XPN.suffix),
      plainTextOf(part, XPN.degree),
      plainTextOf(part, XPN.professionalSuffix),
    ),
    period:
      start === undefined && end === undefined
        ? dateRange(part, context, 10)
        : period(start, end, context, locatePart(part, 13)),
  });
  if (name === undefined || (name.text === undefined && familyParts.length === 0)) return undefined;
  noteUnknownUse(part, 7, 'table 0200', NAME_TYPES, context);
  const use = NAME_TYPE.codes.get(textOf(part, 7)?.toUpperCase() ?? '')?.code;
  return use === undefined ? name : { use, ...name };
}
